"""The control port: what a test does to the machines behind the BMC's back.

Every request carries the lab's token in X-Lab-Token. Bodies are JSON.
  GET    /machines                          all machines, by name
  PUT    /machines/<name>  {field: value}   power, behaviour, delay,
                                            returns_after, resets
"""
import hmac
import json

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized",
           404: "Not Found"}


class Control:
    """The WSGI application."""

    def __init__(self, token, driver):
        self._token = token.encode()
        self._driver = driver

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
            match [environ["REQUEST_METHOD"], *parts]:
                case ["GET", "machines"]:
                    return 200, self._driver.describe()
                case ["PUT", "machines", name]:
                    length = int(environ.get("CONTENT_LENGTH") or 0)
                    patch = json.loads(environ["wsgi.input"].read(length))
                    return 200, self._driver.change(name, patch)
        except KeyError as error:
            return 404, {"error": f"no machine {error}"}
        except ValueError as error:
            return 400, {"error": str(error)}
        return 404, {"error": "no such route"}
