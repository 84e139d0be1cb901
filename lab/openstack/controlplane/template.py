"""Builds databases with the full upstream schema, the cells, the identities
and the flavors, once. A lab copies them and `prepare` makes them its own.

usage: python -m controlplane.template <settings.json>
"""
import concurrent.futures
import os
import pathlib
import sqlite3
import subprocess
import sys

from controlplane import config
from controlplane import keys
from controlplane.settings import Settings


def main():
    os.umask(0o077)
    settings = Settings.read(sys.argv[1])
    for name in ("db", "state", "locks"):
        settings.path(name).mkdir()
    keys.write(settings)
    config.write(settings)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for chain in [pool.submit(build, settings, sys.argv[1])
                      for build in (_keystone, _placement, _nova)]:
            chain.result()
    for database in settings.path("db").glob("*.sqlite"):
        with sqlite3.connect(database) as connection:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma wal_checkpoint(truncate)")


def _keystone(settings, settings_path):
    _run(settings, "keystone", "keystone-manage", "db_sync")
    _seed("seed_identity", settings_path)


def _placement(settings, _settings_path):
    _run(settings, "placement", "placement-manage", "db", "sync")


def _nova(settings, settings_path):
    _run(settings, "nova", "nova-manage", "api_db", "sync")
    _run(settings, "nova", "nova-manage", "cell_v2", "map_cell0",
         "--database_connection", settings.database("nova_cell0"))
    _run(settings, "nova", "nova-manage", "db", "sync")
    _run(settings, "nova", "nova-manage", "cell_v2", "create_cell",
         "--name", "cell1", "--transport-url", "fake:///",
         "--database_connection", settings.database("nova_cell1"))
    _seed("seed_flavors", settings_path)


def _run(settings, service, program, *args):
    subprocess.run(
        [settings.venv / "bin" / program,
         "--config-file", settings.path("etc", f"{service}.conf"), *args],
        check=True)


def _seed(module, settings_path):
    subprocess.run(
        [sys.executable, "-m", f"controlplane.{module}", settings_path],
        check=True, cwd=pathlib.Path(__file__).parent.parent)


if __name__ == "__main__":
    main()
