"""Lets many threads of one process share SQLite files.

Two changes to oslo.db: writer transactions queue on a lock per database
instead of meeting SQLITE_BUSY, and connections are pooled instead of opened
anew for every transaction.
"""
import contextlib
import threading

from oslo_db.sqlalchemy import enginefacade
from oslo_db.sqlalchemy import engines
from sqlalchemy import pool


def share():
    """Call once, before the first database is configured."""
    _one_writer_per_database()
    _keep_connections()


def _one_writer_per_database():
    manager_class = enginefacade._TransactionContextManager
    plain = manager_class._transaction_scope
    locks = {}
    guard = threading.Lock()

    @contextlib.contextmanager
    def scope(manager, context):
        if manager._mode is not enginefacade._WRITER:
            with plain(manager, context) as resource:
                yield resource
            return
        database = str(manager.writer.get_engine().url)
        with guard:
            # re-entrant: nova nests transactions
            lock = locks.setdefault(database, threading.RLock())
        with lock, plain(manager, context) as resource:
            yield resource

    manager_class._transaction_scope = scope


def _keep_connections():
    plain = engines._init_connection_args

    def init_connection_args(url, engine_args, kw):
        plain(url, engine_args, kw)
        if engine_args.get("poolclass") is pool.NullPool:
            engine_args.update(
                poolclass=pool.QueuePool, pool_size=32, max_overflow=256,
                pool_pre_ping=False)
            engine_args["connect_args"]["check_same_thread"] = False

    engines._init_connection_args = init_connection_args
