"""Serves WSGI applications on loopback ports of this process."""
import threading

import waitress


def serve(app, port, threads):
    """Listens on 127.0.0.1 and answers from threads in the background."""
    server = waitress.create_server(
        app, host="127.0.0.1", port=port, threads=threads, ident=None,
        channel_timeout=600)
    threading.Thread(target=server.run, name=f"port-{port}",
                     daemon=True).start()
