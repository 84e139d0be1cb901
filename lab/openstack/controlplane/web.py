"""Serves WSGI applications on loopback ports of this process."""
import threading

import waitress


def serve(app, port, threads):
    """Listens on 127.0.0.1 and answers from threads in the background.

    Every nova-compute keeps a connection to Placement open, and a client that comes
    when the limit is reached waits without an answer; by default it is 100.
    """
    server = waitress.create_server(
        app, host="127.0.0.1", port=port, threads=threads, ident=None,
        channel_timeout=600, connection_limit=2000, asyncore_use_poll=True)
    threading.Thread(target=server.run, name=f"port-{port}",
                     daemon=True).start()
