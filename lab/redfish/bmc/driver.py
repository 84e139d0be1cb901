"""Machines that are on or off and nothing else, and that a test can make
misbehave."""
import time

from sushy_tools.emulator.resources.systems import fakedriver
from sushy_tools import error

DEFAULTS = {"behaviour": "obeys", "delay": 0.2, "returns_after": 0.5}
BEHAVIOURS = (
    "obeys",
    # Takes every request and does nothing.
    "deaf",
    # Answers every request with 409.
    "refuses",
    # Goes off, and on again by itself.
    "returns",
)


class LabDriver(fakedriver.FakeDriver):
    """The emulator's own driver for machines that do not exist, with a delay
    that tests choose instead of a random one of seconds."""

    def set_power_state(self, identity, state):
        machine = self._get(identity)
        lab = dict(machine["lab"])
        lab["resets"] = [*lab["resets"], state]
        self._update(machine, lab=lab)
        if lab["behaviour"] == "refuses":
            raise error.Conflict(f"{state} is not possible now")
        if lab["behaviour"] == "deaf":
            return
        super().set_power_state(identity, state)
        self._reschedule(identity, lab["delay"])

    def _reschedule(self, identity, seconds):
        machine = self._systems[self.uuid(identity)]
        pending = machine.get("pending_power")
        if pending:
            later = {**pending, "apply_time": time.time() + seconds}
            self._update(machine, pending_power=later)

    def _update_if_needed(self, system):
        waited = bool(system.get("pending_power"))
        system = super()._update_if_needed(system)
        is_idle = waited and not system.get("pending_power")
        lab = system["lab"]
        if (is_idle and system["power_state"] == "Off"
                and lab["behaviour"] == "returns"):
            self._update(system, pending_power={
                "power_state": "On",
                "apply_time": time.time() + lab["returns_after"]})
        return system

    def _update(self, system, **changes):
        # Since when it is on or off, for who checks afterwards.
        if isinstance(system, str):
            system = self._get(system)
        power = changes.get("power_state", system["power_state"])
        if power != system["power_state"]:
            changes["powered"] = [*system["powered"], [power, time.time()]]
        super()._update(system, **changes)

    # What the control port does.

    def describe(self):
        return {machine["name"]: self._describe(machine["uuid"])
                for machine in list(self._systems.values())}

    def change(self, name, patch):
        uuid = self._by_name[name]
        machine = self._get(uuid)
        power = patch.pop("power", None)
        lab = {**machine["lab"], **patch}
        if lab["behaviour"] not in BEHAVIOURS or set(lab) != {
                *DEFAULTS, "resets"}:
            raise ValueError(f"unknown behaviour or field in {patch}")
        self._update(machine, lab=lab)
        if power is not None:
            self._update(machine, power_state=power, pending_power=None)
        return self._describe(uuid)

    def _describe(self, uuid):
        machine = self._get(uuid)
        return {"uuid": uuid, "power": machine["power_state"],
                "powered": machine["powered"], **machine["lab"]}


def new_machine(name, uuid):
    return {"uuid": uuid, "name": name, "power_state": "On", "nics": [],
            "external_notifier": False, "powered": [],
            "lab": {**DEFAULTS, "resets": []}}
