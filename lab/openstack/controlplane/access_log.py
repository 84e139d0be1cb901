"""WSGI middleware: a journal line for every request a service was sent."""
import io
import json
import time

from controlplane import journal

REQUEST_ID_HEADERS = ("x-openstack-request-id", "x-compute-request-id")
LARGEST_ACTION_BYTES = 1_000_000


class AccessLog:
    """Logs time, method, path, status, duration, request id, user agent,
    for POST …/action which action it was, and for PUT …/os-services/… the
    status that was asked for. Never headers or whole bodies."""

    def __init__(self, app, entries):
        self._app = app
        self._entries = entries

    def __call__(self, environ, start_response):
        answer = {}

        def start(status, headers, exc_info=None):
            answer["status"] = int(status.split(" ", 1)[0])
            for name, value in headers:
                if name.lower() in REQUEST_ID_HEADERS:
                    answer["requestId"] = value
            return start_response(status, headers, exc_info)

        # before the call: routers move parts of the path
        asked = {
            "method": environ["REQUEST_METHOD"],
            "path": environ.get("PATH_INFO", "") or "/",
            "query": environ.get("QUERY_STRING", ""),
        }
        action = _action(environ)
        if action:
            asked["action"] = action
        began_ms, began = journal.now_ms(), time.monotonic()
        try:
            return self._app(environ, start)
        finally:
            self._entries.write(
                timeMs=began_ms,
                durationMs=round((time.monotonic() - began) * 1000, 1),
                **asked,
                status=answer.get("status", 500),
                requestId=answer.get("requestId", ""),
                userAgent=environ.get("HTTP_USER_AGENT", ""))


def _action(environ):
    method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
    if method == "POST" and path.endswith("/action"):
        return _asked(environ, lambda body: next(iter(body), None))
    if method == "PUT" and "/os-services/" in path:
        return _asked(environ, lambda body: body.get("status"))
    return None


def _asked(environ, of):
    size = int(environ.get("CONTENT_LENGTH") or 0)
    if not 0 < size <= LARGEST_ACTION_BYTES:
        return None
    body = environ["wsgi.input"].read(size)
    environ["wsgi.input"] = io.BytesIO(body)
    try:
        return of(json.loads(body))
    except (ValueError, TypeError, AttributeError):
        return None
