"""Fills the template's Keystone: roles, projects, users, the catalogue and
an application credential. Passwords and URLs are placeholders of the
template; `prepare` gives every lab its own.

usage: python -m controlplane.seed_identity <settings.json>
"""
import sys
import uuid

from keystone.cmd import bootstrap
from keystone.common import provider_api
from keystone.common import sql
import keystone.conf

from controlplane.settings import REGION
from controlplane.settings import Settings

SERVICE_NAMES = {
    "compute": "nova",
    "placement": "placement",
    "image": "glance",
    "network": "neutron",
}
providers = provider_api.ProviderAPIs


def main():
    settings = Settings.read(sys.argv[1])
    keystone.conf.configure()
    sql.initialize()
    keystone.conf.set_default_for_default_log_levels()
    keystone.conf.CONF(
        args=["--config-file", str(settings.path("etc", "keystone.conf"))],
        project="keystone")
    keystone.conf.setup_logging()

    base = _bootstrap(settings)
    service_project = _project("service")
    for name in ("nova", "placement"):
        _user(name, settings.secrets.service_password, service_project,
              (base.admin_role_id, base.service_role_id))
    drover = _user("drover", settings.secrets.drover_password,
                   base.project_id, (base.admin_role_id,))
    _user("member", settings.secrets.member_password,
          base.project_id, (base.member_role_id,))
    _catalogue(settings)
    providers.application_credential_api.create_application_credential({
        "id": settings.secrets.application_credential_id,
        "name": "drover",
        "user_id": drover,
        "project_id": base.project_id,
        "secret": settings.secrets.application_credential_secret,
        "unrestricted": False,
        "roles": [{"id": base.admin_role_id}],
    })


def _bootstrap(settings):
    base = bootstrap.Bootstrapper()
    base.admin_username = "admin"
    base.admin_password = settings.secrets.admin_password
    base.project_name = "admin"
    base.admin_role_name = "admin"
    base.region_id = REGION
    base.service_name = "keystone"
    base.public_url = base.internal_url = settings.auth_url
    base.bootstrap()
    return base


def _project(name):
    project = uuid.uuid4().hex
    providers.resource_api.create_project(project, {
        "id": project, "name": name, "domain_id": "default",
        "enabled": True, "description": ""})
    return project


def _user(name, password, project, roles):
    user = providers.identity_api.create_user({
        "name": name, "password": password, "domain_id": "default",
        "enabled": True})["id"]
    for role in roles:
        providers.assignment_api.create_grant(
            role, user_id=user, project_id=project)
    return user


def _catalogue(settings):
    for kind, name in SERVICE_NAMES.items():
        service = uuid.uuid4().hex
        providers.catalog_api.create_service(service, {
            "id": service, "type": kind, "name": name, "enabled": True})
        for interface in ("public", "internal"):
            endpoint = uuid.uuid4().hex
            providers.catalog_api.create_endpoint(endpoint, {
                "id": endpoint, "service_id": service, "enabled": True,
                "interface": interface, "region_id": REGION,
                "url": settings.catalog[kind]})


if __name__ == "__main__":
    main()
