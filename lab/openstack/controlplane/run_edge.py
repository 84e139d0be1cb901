"""The process with Keystone, Placement and the two stand-ins, each on its own
loopback port.

usage: python -m controlplane.run_edge <settings.json>
"""
import os
import sys
import threading

from keystone.server import wsgi as keystone_wsgi
from placement import wsgi as placement_wsgi

from controlplane import databases
from controlplane import garbage
from controlplane import stand_ins
from controlplane import web
from controlplane.access_log import AccessLog
from controlplane.journal import Journal
from controlplane.settings import Settings


def main():
    os.umask(0o077)
    settings = Settings.read(sys.argv[1])
    sys.argv = ["edge"]     # both applications parse it
    databases.share()
    _keystone(settings)
    _placement(settings)
    web.serve(stand_ins.glance, settings.ports["glance"], threads=2)
    web.serve(stand_ins.neutron, settings.ports["neutron"], threads=4)
    garbage.keep_what_is_loaded()
    threading.Event().wait()


def _keystone(settings):
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = str(settings.path("etc"))
    app = keystone_wsgi.initialize_public_application()
    entries = Journal(settings.path("journal", "keystone.jsonl"))
    web.serve(AccessLog(app, entries), settings.ports["keystone"], threads=8)


def _placement(settings):
    os.environ["OS_PLACEMENT_CONFIG_DIR"] = str(settings.path("etc"))
    app = placement_wsgi.init_application()
    entries = Journal(settings.path("journal", "placement.jsonl"))
    web.serve(AccessLog(app, entries), settings.ports["placement"], threads=8)


if __name__ == "__main__":
    main()
