"""python -m bmc.run <settings file>: serves until it is stopped.

Settings: directory, port, control_port, username, password, control_token,
certificate, key, machines ({name: uuid}).
"""
import json
import os
import signal
import ssl
import sys
import threading

import bcrypt
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems import fakedriver
from werkzeug import serving

from bmc import control
from bmc import driver

HOST = "127.0.0.1"


def configure(settings):
    """The emulator's application, with Basic authentication."""
    passwords = os.path.join(settings["directory"], "passwords")
    # Few rounds: it is checked with each request, and the password is random.
    digest = bcrypt.hashpw(settings["password"].encode(), bcrypt.gensalt(4))
    with open(os.open(passwords, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600),
              "w", encoding="utf-8") as file:
        file.write(f"{settings['username']}:{digest.decode()}\n")
    fakedriver.FakeDriver = driver.LabDriver
    machines = [driver.new_machine(name, uuid)
                for name, uuid in settings["machines"].items()]
    emulator.app.configure(extra_config={
        "SUSHY_EMULATOR_FAKE_DRIVER": True,
        "SUSHY_EMULATOR_FAKE_SYSTEMS": machines,
        "SUSHY_EMULATOR_STATE_DIR": os.path.join(
            settings["directory"], "state"),
        "SUSHY_EMULATOR_AUTH_FILE": passwords})
    return emulator.app


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    app = configure(settings)
    # The first use makes it; two requests at once would make two.
    machines = app.systems
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(settings["certificate"], settings["key"])
    servers = [
        serving.make_server(HOST, settings["control_port"], control.Control(
            settings["control_token"], machines), threaded=True),
        serving.make_server(HOST, settings["port"], app, threaded=True,
                            ssl_context=context),
    ]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()


if __name__ == "__main__":
    main()
