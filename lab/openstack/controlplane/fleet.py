"""The hosts of the lab and how they and their guests behave.

How a guest migrates is decided, first match wins, by
1. the list of attempts set for that guest through the control port,
2. its metadata `lab:migrate` and `lab:seconds` (a value or a list of values,
   separated by commas, one per attempt),
3. the profile of the host it runs on.
The last entry of a list also holds for all attempts after it. An attempt is
a migration record of Nova, live or cold.
"""
import copy
import dataclasses
import json
import threading

MODES = ("ok", "hang", "slow", "fail", "error", "prefail", "precheck-dest",
         "precheck-source")

# Field -> default. The type of the default is the type of the field.
DEFAULT_PROFILE = {
    "vcpus": 64,
    "memoryMiB": 262144,
    "diskGiB": 4000,
    # more inventory for Placement, for instance {"VGPU": 4}
    "inventory": {},
    "traits": [],
    "hypervisorVersion": 9002000,
    # how guests leave this host
    "migrate": "ok",
    "seconds": 1.0,
    # False: refuses every live migration towards it, in the pre-check
    "accept": True,
    # as Nova's option of that name; the rest of them stays `queued`
    "maxConcurrentLiveMigrations": 1,
    # between the scheduler's choice and the claim on this host
    "buildDelaySeconds": 0.0,
    # between the request to delete a guest here and its end
    "destroySeconds": 0.0,
}
NOVA_RESOURCES = ("vcpus", "memoryMiB", "diskGiB", "inventory", "traits",
                  "hypervisorVersion")


class BadRequest(ValueError):
    """A profile or a behaviour that makes no sense; says why."""


@dataclasses.dataclass(frozen=True)
class Behaviour:
    mode: str
    seconds: float


class Fleet:
    """Thread-safe, and kept in a file so that a restart finds it again."""

    def __init__(self, path, hosts):
        self._path = path
        self._lock = threading.RLock()
        self._initial = {
            name: checked_profile(profile) for name, profile in hosts.items()}
        kept = json.loads(path.read_text()) if path.exists() else {}
        self._hosts = kept.get("hosts") or copy.deepcopy(self._initial)
        self._guests = kept.get("guests", {})
        self._save()

    def names(self):
        with self._lock:
            return list(self._hosts)

    def profile(self, host):
        with self._lock:
            return {**DEFAULT_PROFILE, **self._hosts.get(host, {})}

    def change_host(self, host, patch):
        patch = checked_profile(patch)
        with self._lock:
            self._hosts.setdefault(host, {}).update(patch)
            self._save()

    def reset(self):
        """Every host as in a new lab, hosts added later with the default."""
        with self._lock:
            self._hosts = {name: dict(self._initial.get(name, {}))
                           for name in self._hosts}
            self._guests = {}
            self._save()

    def guest(self, uuid):
        with self._lock:
            kept = self._guests.get(uuid, {})
            return {"attempts": kept.get("attempts", []),
                    "started": kept.get("started", 0)}

    def script_guest(self, uuid, attempts):
        """Sets what the guest's next attempts are like; [] for nothing
        special. Attempts are counted from here on."""
        attempts = [checked_attempt(attempt) for attempt in attempts]
        with self._lock:
            self._guests[uuid] = {"attempts": attempts, "started": 0}
            self._save()

    def attempt_started(self, uuid):
        with self._lock:
            guest = self._guests.setdefault(
                uuid, {"attempts": [], "started": 0})
            guest["started"] += 1
            self._save()

    def behaviour(self, uuid, host, metadata):
        """How the attempt that is under way at this moment goes."""
        with self._lock:
            profile, guest = self.profile(host), self.guest(uuid)
        number = max(guest["started"], 1)
        attempt = _entry(guest["attempts"], number) or {}
        mode = attempt.get("migrate") or _entry(
            _list(metadata.get("lab:migrate")), number) or profile["migrate"]
        seconds = attempt.get("seconds", _entry(
            _list(metadata.get("lab:seconds")), number))
        try:
            return Behaviour(
                mode if mode in MODES else "ok",
                profile["seconds"] if seconds is None else float(seconds))
        except ValueError:
            return Behaviour(mode, profile["seconds"])

    def _save(self):
        unfinished = self._path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(
            {"hosts": self._hosts, "guests": self._guests}))
        unfinished.rename(self._path)


def checked_profile(profile):
    if not isinstance(profile, dict):
        raise BadRequest("a host profile is a JSON object")
    checked = {}
    for field, value in profile.items():
        if field not in DEFAULT_PROFILE:
            raise BadRequest(
                f"unknown field {field!r}: a host has "
                + ", ".join(DEFAULT_PROFILE))
        kind = type(DEFAULT_PROFILE[field])
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise BadRequest(f"{field} must be a {kind.__name__}")
        if kind in (int, float) and value < 0:
            raise BadRequest(f"{field} must not be negative")
        checked[field] = value
    _check_mode(checked.get("migrate", "ok"))
    return checked


def checked_attempt(attempt):
    """`"hang"` or `{"migrate": "ok", "seconds": 2}`."""
    if isinstance(attempt, str):
        attempt = {"migrate": attempt}
    if not isinstance(attempt, dict) or set(attempt) - {"migrate", "seconds"}:
        raise BadRequest(
            "an attempt is a mode or an object with migrate and seconds")
    _check_mode(attempt.get("migrate", "ok"))
    seconds = attempt.get("seconds", 0)
    if type(seconds) not in (int, float) or seconds < 0:
        raise BadRequest("seconds must be a number and not negative")
    return attempt


def _check_mode(mode):
    if mode not in MODES:
        raise BadRequest(
            f"unknown mode {mode!r}: there are " + ", ".join(MODES))


def _list(text):
    return [part.strip() for part in text.split(",")] if text else []


def _entry(entries, number):
    return entries[min(number, len(entries)) - 1] if entries else None
