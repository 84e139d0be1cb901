"""The control port: levers for tests that have no place in Nova's API.

Every request carries the lab's token in X-Lab-Token. Bodies are JSON.
  GET    /fleet                             all hosts, by name
  PUT    /fleet/<host>    {field: value}    change a host, or add one
  POST   /fleet/<host>/crash                nova-compute dies; guests run on
  POST   /fleet/<host>/start                nova-compute comes back
  POST   /fleet/<host>/reinstall            comes back, and its guests do not
  POST   /reset                             the fleet as in a new lab
  POST   /archive                           deleted servers leave the tables
  GET    /guests/<uuid>                     what is set, attempts since then
  PUT    /guests/<uuid>   {"attempts": []}  how its next attempts go
"""
import hmac
import json
import logging

from controlplane import archive
from controlplane import driver
from controlplane import fleet as lab_fleet

LOG = logging.getLogger(__name__)
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized",
           404: "Not Found", 500: "Internal Server Error"}


class Control:
    """The WSGI application."""

    def __init__(self, token, fleet, hosts, pools):
        self._token = token.encode()
        self._fleet = fleet
        self._hosts = hosts
        self._pools = pools

    def __call__(self, environ, start_response):
        status, body = self._answer(environ)
        raw = json.dumps(body).encode()
        start_response(f"{status} {REASONS[status]}", [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(raw)))])
        return [raw]

    def _answer(self, environ):
        given = environ.get("HTTP_X_LAB_TOKEN", "").encode()
        if not hmac.compare_digest(given, self._token):
            return 401, {"error": "X-Lab-Token is missing or wrong"}
        parts = [part for part in environ["PATH_INFO"].split("/") if part]
        try:
            return self._route(environ["REQUEST_METHOD"], parts, environ)
        except (lab_fleet.BadRequest, ValueError) as error:
            return 400, {"error": str(error)}
        except Exception as error:
            LOG.exception("control port: %s", environ["PATH_INFO"])
            return 500, {"error": repr(error)}

    def _route(self, method, parts, environ):
        match [method, *parts]:
            case ["GET", "fleet"]:
                return 200, {name: self._host(name)
                             for name in self._fleet.names()}
            case ["PUT", "fleet", host]:
                self._change_host(host, _body(environ))
                return 200, self._host(host)
            case ["POST", "fleet", host, lever]:
                self._check_known(host)
                return self._pull(host, lever)
            case ["POST", "reset"]:
                self._reset()
                return 200, {}
            case ["POST", "archive"]:
                return 200, {"rows": archive.deleted_rows()}
            case ["GET", "guests", uuid]:
                return 200, self._fleet.guest(uuid)
            case ["PUT", "guests", uuid]:
                self._fleet.script_guest(
                    uuid, _body(environ).get("attempts", []))
                return 200, self._fleet.guest(uuid)
        return 404, {"error": "no such lever"}

    def _host(self, name):
        return {**self._fleet.profile(name),
                "hypervisorHostname": driver.node_name(name),
                "running": self._hosts.is_running(name),
                "guests": self._hosts.guest_count(name)}

    def _change_host(self, host, patch):
        is_new = host not in self._fleet.names()
        self._fleet.change_host(host, patch)
        if is_new:
            self._hosts.start(host)
        elif set(patch) & set(lab_fleet.NOVA_RESOURCES):
            self._hosts.profile_changed(host)
        self._pools.limit_changed(host)

    def _reset(self):
        self._fleet.reset()
        self._hosts.reset()
        for host in self._fleet.names():
            self._pools.limit_changed(host)

    def _check_known(self, host):
        if host not in self._fleet.names():
            raise lab_fleet.BadRequest(f"there is no host {host}")

    def _pull(self, host, lever):
        match lever:
            case "crash":
                self._hosts.crash(host)
            case "start":
                self._hosts.start(host)
            case "reinstall":
                self._hosts.start(host, with_guests=False)
            case _:
                return 404, {"error": "no such lever"}
        return 200, self._host(host)


def _body(environ):
    size = int(environ.get("CONTENT_LENGTH") or 0)
    body = json.loads(environ["wsgi.input"].read(size) or b"{}")
    if not isinstance(body, dict):
        raise lab_fleet.BadRequest("the body must be a JSON object")
    return body
