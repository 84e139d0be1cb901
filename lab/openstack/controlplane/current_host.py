"""One process is many compute hosts here, while Nova asks CONF.host who it
is (in action events, in faults, in messages). This makes CONF.host the host
for which the current thread works."""
import contextlib
import contextvars
import functools

from oslo_config import cfg

_current = contextvars.ContextVar("compute_host", default=None)


class _HostAwareConf(cfg.ConfigOpts):

    @property
    def host(self):
        return _current.get() or self.__getattr__("host")


def install(conf):
    """Call once; `conf` is the process's oslo.config object."""
    conf.__class__ = _HostAwareConf


def get():
    """The compute host of this thread, or None."""
    return _current.get()


@contextlib.contextmanager
def acting_as(host):
    token = _current.set(host)
    try:
        yield
    finally:
        _current.reset(token)


def bound_to(host, function):
    """The function, acting as that host whenever it is called."""
    @functools.wraps(function)
    def bound(*args, **kwargs):
        with acting_as(host):
            return function(*args, **kwargs)
    return bound
