"""The process with Nova: API, conductor, scheduler and a nova-compute service
for each host, joined by oslo.messaging's in-memory bus.

usage: python -m controlplane.run_nova <settings.json>
"""
import os
import sys
import threading
import time
import urllib.request

import controlplane.native_threads  # noqa: F401, before anything of nova
from nova import config
from nova import objects
from nova import service
from nova.api.openstack import wsgi_app
from oslo_log import log as logging
from paste import deploy
import nova.conf

from controlplane import api_costs
from controlplane import current_host
from controlplane import databases
from controlplane import garbage
from controlplane import message_bus
from controlplane import migrations
from controlplane import web
from controlplane.access_log import AccessLog
from controlplane.compute_hosts import ComputeHosts
from controlplane.compute_hosts import report_now
from controlplane.control import Control
from controlplane.fleet import Fleet
from controlplane.host_pools import HostPools
from controlplane.journal import Journal
from controlplane.settings import Settings

CONF = nova.conf.CONF
EDGE_DEADLINE_SECONDS = 60
CONTROLLER_SERVICES = (("nova-conductor", "conductor"),
                       ("nova-scheduler", "scheduler"))


def main():
    os.umask(0o077)
    settings = Settings.read(sys.argv[1])
    _configure(settings)
    _wait_for_edge(settings)
    fleet = Fleet(settings.path("fleet.json"), settings.hosts)
    pools = HostPools(fleet)
    migrations.follow(
        fleet, Journal(settings.path("journal", "migrations.jsonl")))
    for binary, topic in CONTROLLER_SERVICES:
        running = service.Service.create(
            host=CONF.host, binary=binary, topic=topic)
        running.start()
        report_now(running)
    hosts = ComputeHosts(fleet)
    hosts.start_all()
    web.serve(Control(settings.secrets.control_token, fleet, hosts, pools),
              settings.ports["control"], threads=2)
    _serve_api(settings)
    garbage.keep_what_is_loaded()
    threading.Event().wait()


def _configure(settings):
    databases.share()
    message_bus.wake_on_message()
    config.parse_args(
        ["nova", "--config-file", str(settings.path("etc", "nova.conf"))])
    logging.setup(CONF, "nova")
    current_host.install(CONF)
    objects.register_all()


def _wait_for_edge(settings):
    """Both processes start at once; this one is the slower to import."""
    deadline = time.monotonic() + EDGE_DEADLINE_SECONDS
    for url in (settings.auth_url, settings.url("placement")):
        while True:
            try:
                with urllib.request.urlopen(url, timeout=5):
                    break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def _serve_api(settings):
    wsgi_app._setup_service(CONF.host, "osapi_compute")
    app = deploy.loadapp(
        "config:" + CONF.wsgi.api_paste_config, name="osapi_compute")
    api_costs.lower()
    entries = Journal(settings.path("journal", "nova.jsonl"))
    web.serve(AccessLog(app, entries), settings.ports["nova"], threads=16)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        logging.getLogger("controlplane").exception("Nova did not start")
        # threads of services that did start would keep the process
        os._exit(1)
