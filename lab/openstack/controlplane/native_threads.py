"""Import this first: it makes Nova use threads, where eventlet would patch
the standard library under everything that is imported before it."""
from nova import monkey_patch

monkey_patch.patch(backend="threading")
