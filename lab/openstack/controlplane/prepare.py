"""Makes a lab directory ready to start: copies the template the first time,
then puts the lab's own ports, paths and secrets into the databases and the
configuration. A template alone belongs to the directory and the ports it was
made with: Keystone's endpoints and Nova's cell mappings carry them.

usage: python -m controlplane.prepare <settings.json> <template>
"""
import os
import pathlib
import shutil
import sqlite3
import sys

import bcrypt

from controlplane import config
from controlplane import keys
from controlplane.settings import Settings


def main():
    os.umask(0o077)
    settings = Settings.read(sys.argv[1])
    _copy_databases(pathlib.Path(sys.argv[2]), settings)
    for name in ("state", "locks"):
        settings.path(name).mkdir(exist_ok=True)
    keys.write(settings)
    _own_identities(settings)
    _own_cells(settings)
    config.write(settings)


def _copy_databases(template, settings):
    """All or nothing: an interrupted copy is begun again."""
    if settings.path("db").exists():
        return
    unfinished = settings.path("db.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(template / "db", unfinished)
    unfinished.rename(settings.path("db"))


def _own_identities(settings):
    secrets = settings.secrets
    passwords = {
        "admin": secrets.admin_password,
        "drover": secrets.drover_password,
        "member": secrets.member_password,
        "nova": secrets.service_password,
        "placement": secrets.service_password,
    }
    with _open(settings, "keystone") as database:
        for kind, url in settings.catalog.items():
            database.execute(
                "UPDATE endpoint SET url = ? WHERE service_id ="
                " (SELECT id FROM service WHERE type = ?)", (url, kind))
        for user, password in passwords.items():
            database.execute(
                "UPDATE password SET password_hash = ? WHERE local_user_id ="
                " (SELECT id FROM local_user WHERE name = ?)",
                (_hash(password), user))
        database.execute(
            "UPDATE application_credential SET id = ?, secret_hash = ?"
            " WHERE name = 'drover'",
            (secrets.application_credential_id,
             _hash(secrets.application_credential_secret)))


def _own_cells(settings):
    with _open(settings, "nova_api") as database:
        for cell in ("cell0", "cell1"):
            database.execute(
                "UPDATE cell_mappings SET database_connection = ?"
                " WHERE name = ?", (settings.database(f"nova_{cell}"), cell))


def _open(settings, name):
    return sqlite3.connect(settings.path("db", f"{name}.sqlite"), timeout=60)


def _hash(secret):
    return bcrypt.hashpw(secret.encode(), bcrypt.gensalt(4)).decode()


if __name__ == "__main__":
    main()
