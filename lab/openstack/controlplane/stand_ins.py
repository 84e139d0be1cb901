"""Stand-ins for the two services that Nova cannot do without: an image
catalogue with two images (Glance v2, read only) and a network service without
networks (Neutron v2). Everything else is upstream's own code."""
import json
import logging
import uuid

LOG = logging.getLogger(__name__)

IMAGE_ID = str(uuid.uuid5(uuid.NAMESPACE_DNS, "image.lab.drover.dev"))
IMAGE = {
    "id": IMAGE_ID,
    "name": "lab-image",
    "status": "active",
    "visibility": "public",
    "protected": False,
    "container_format": "bare",
    "disk_format": "raw",
    "min_ram": 0,
    "min_disk": 0,
    "size": 1048576,
    "virtual_size": None,
    "tags": [],
    "checksum": "0" * 32,
    "os_hash_algo": "sha512",
    "os_hash_value": "0" * 128,
    "os_hidden": False,
    "owner": "0" * 32,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "file": f"/v2/images/{IMAGE_ID}/file",
    "schema": "/v2/schemas/image",
}
AMPHORA_ID = str(uuid.uuid5(uuid.NAMESPACE_DNS, "amphora.lab.drover.dev"))
# As Octavia's are tagged.
AMPHORA = {**IMAGE, "id": AMPHORA_ID, "name": "lab-amphora",
           "tags": ["amphora"], "file": f"/v2/images/{AMPHORA_ID}/file"}
GLANCE_VERSIONS = {"versions": [{
    "id": "v2.9", "status": "CURRENT",
    "links": [{"rel": "self", "href": "/v2/"}]}]}
IMAGE_SCHEMA = {
    "name": "image",
    "additionalProperties": {"type": "string"},
    "properties": {name: {} for name in IMAGE},
}


def glance(environ, start_response):
    """Nova reads versions, the schema and an image; drover lists them, and has
    to choose by itself."""
    answers = {
        "": (300, GLANCE_VERSIONS),
        "/versions": (300, GLANCE_VERSIONS),
        "/v2/schemas/image": (200, IMAGE_SCHEMA),
        "/v2/images": (200, {"images": [IMAGE, AMPHORA],
                             "schema": "/v2/schemas/images"}),
        f"/v2/images/{IMAGE_ID}": (200, IMAGE),
        f"/v2/images/{AMPHORA_ID}": (200, AMPHORA),
    }
    path = environ["PATH_INFO"].rstrip("/")
    status, body = answers.get(path, (404, {"message": "not found"}))
    return _answer(start_response, status, body)


def neutron(environ, start_response):
    """Every list is empty: the guests of this lab have no networks."""
    parts = [part for part in environ["PATH_INFO"].split("/") if part]
    if environ["REQUEST_METHOD"] == "GET":
        if len(parts) == 2:
            collection = parts[1].split(".")[0].replace("-", "_")
            return _answer(start_response, 200, {collection: []})
        if parts[1:2] == ["quotas"]:
            return _answer(start_response, 200,
                           {"quota": {"port": -1, "network": -1}})
    LOG.warning("neutron stand-in: no answer for %s %s",
                environ["REQUEST_METHOD"], environ["PATH_INFO"])
    return _answer(start_response, 404, {"NeutronError": {
        "type": "NotFound", "message": "not in this lab", "detail": ""}})


def _answer(start_response, status, body):
    raw = json.dumps(body).encode()
    start_response(f"{status} {'OK' if status < 400 else 'Not Found'}", [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(raw)))])
    return [raw]
