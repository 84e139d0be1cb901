"""Gives every host its own limit of concurrent live migrations.

Nova 34 keeps one pool of threads per process for them; with many hosts in a
process they would share it. What exceeds a host's limit waits here, so that
Nova shows it as `queued` and can abort it there.
"""
import collections
import contextvars
import functools
import threading
import time
from concurrent import futures

from nova import thread_pool_factory
from oslo_context import context as request_context

from controlplane import current_host

_types = thread_pool_factory.ExecutorType


class MigrationPool:
    """An executor whose size is asked for whenever it may start something."""

    def __init__(self, limit):
        self._limit = limit
        self._waiting = collections.deque()
        self._running = 0
        self._lock = threading.Lock()

    def submit(self, function):
        future = futures.Future()
        with self._lock:
            self._waiting.append((future, function))
        self.start_waiting()
        return future

    def start_waiting(self):
        """Starts what the limit now allows; call when it was raised."""
        with self._lock:
            while self._waiting and self._running < self._limit():
                self._running += 1
                threading.Thread(
                    target=self._run, args=self._waiting.popleft(),
                    daemon=True).start()

    def _run(self, future, function):
        try:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)
        finally:
            with self._lock:
                self._running -= 1
            self.start_waiting()


class HostPools:
    """Replaces nova.thread_pool_factory.spawn_on for the whole process."""

    def __init__(self, fleet):
        self._fleet = fleet
        self._pools = {}
        self._lock = threading.Lock()
        self._plain = thread_pool_factory.spawn_on
        thread_pool_factory.spawn_on = self._spawn_on

    def limit_changed(self, host):
        self._pool(host).start_waiting()

    def _pool(self, host):
        def limit():
            return self._fleet.profile(host)["maxConcurrentLiveMigrations"]
        with self._lock:
            return self._pools.setdefault(host, MigrationPool(limit))

    def _spawn_on(self, executor_type, function, *args, **kwargs):
        host = current_host.get()
        work = functools.partial(
            contextvars.copy_context().run, function, *args, **kwargs)
        if host and executor_type is _types.LIVE_MIGRATION:
            return self._pool(host).submit(_with_request_context(work))
        if host and executor_type is _types.LONG_TASK:
            delay = self._fleet.profile(host)["buildDelaySeconds"]
            return self._plain(executor_type, _delayed(delay, work))
        return self._plain(executor_type, work)


def _with_request_context(work):
    request = request_context.get_current()

    def run():
        if request is not None:
            request.update_store()
        return work()
    return run


def _delayed(seconds, work):
    def run():
        if seconds:
            time.sleep(seconds)
        return work()
    return run
