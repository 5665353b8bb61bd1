"""Ports for servers that another process opens: nothing else takes them before it does."""

import secrets
import socket

_PORTS = range(12_000, 30_000)
"""Ports that systems don't give to those who ask for any port, as most servers of tests do."""


def free_port() -> int:
    """Return a port that is free on this machine."""
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
