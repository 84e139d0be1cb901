"""Guests on their way from one host to another: the part of a migration that
belongs to the hypervisor. A transfer ends as its guest's behaviour says, or
because a caller asked for it."""
import threading
import time

from controlplane import memory_copy

MIB = 1024 * 1024
NEVER_BY_ITSELF = ("hang", "slow")
# The longest until a transfer notices that a test changed its behaviour.
LOOK_AGAIN_SECONDS = 0.5


class HostCrashed(BaseException):
    """nova-compute is gone. Not an Exception, so that no handler of Nova
    tidies up what a crash would leave behind."""


class Transfer:
    """One guest leaving. `run` blocks; the other methods end it early."""

    def __init__(self, behaviour):
        self._behaviour = behaviour
        self._asked = None
        self._changed = threading.Event()

    def abort(self):
        self._ask("aborted")

    def force_complete(self):
        self._ask("forced")

    def crash(self):
        self._ask("crashed")

    def _ask(self, end):
        self._asked = self._asked or end
        self._changed.set()

    def run(self, on_progress=None, progress_seconds=1.0):
        """Returns `aborted`, `forced` or the mode that it ended by itself
        with. Calls on_progress(mode, spent_seconds, seconds) now and then."""
        began = time.monotonic()
        due = began
        while True:
            now = time.monotonic()
            spent = now - began
            behaviour = self._behaviour()
            if self._asked == "crashed":
                raise HostCrashed()
            if self._asked:
                return self._asked
            stays = behaviour.mode in NEVER_BY_ITSELF
            if not stays and spent >= behaviour.seconds:
                return behaviour.mode
            if on_progress and now >= due:
                on_progress(behaviour.mode, spent, behaviour.seconds)
                due = now + progress_seconds
            left = LOOK_AGAIN_SECONDS if stays else min(
                LOOK_AGAIN_SECONDS, behaviour.seconds - spent)
            self._changed.wait(left)


def save_progress(migration, memory_mib):
    """For Transfer.run: writes the counters that Nova's API shows."""
    total = memory_mib * MIB

    def save(mode, spent, seconds):
        migration.memory_total = total
        migration.memory_remaining = memory_copy.remaining_bytes(
            mode, spent, seconds, total)
        migration.memory_processed = memory_copy.processed_bytes(
            mode, spent, seconds, total)
        migration.disk_total = 0
        migration.disk_processed = 0
        migration.disk_remaining = 0
        migration.save()
    return save
