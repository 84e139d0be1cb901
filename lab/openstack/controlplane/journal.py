"""Append-only JSON lines for tests and benchmarks: what the services were
asked, and what became of every migration. Times are unix milliseconds."""
import json
import threading
import time

FULL_BYTES = 64 * 1024 * 1024


def now_ms():
    return time.time_ns() // 1_000_000


class Journal:
    """One file, one JSON object per line, written as things happen. A full
    one is set aside as <name>.1, where no program reads it."""

    def __init__(self, path):
        path.parent.mkdir(exist_ok=True)
        self._path = path
        self._open()
        self._lock = threading.Lock()

    def write(self, **entry):
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        with self._lock:
            if self._file.tell() > FULL_BYTES:
                self._file.close()
                self._path.rename(self._path.with_name(
                    self._path.name + ".1"))
                self._open()
            self._file.write(line)

    def _open(self):
        self._file = self._path.open("a", buffering=1, encoding="utf-8")
