"""Keeps a Python process on this machine: Python imports this from ``PYTHONPATH`` at its start."""

import socket
import sys
from ipaddress import ip_address

_CONNECTING = ("socket.connect", "socket.sendto", "socket.sendmsg")
_RESOLVING = ("socket.getaddrinfo", "socket.gethostbyname")


def stay_on_this_machine() -> None:
    """Refuse every connection to, and every question about, another host from now on."""
    sys.addaudithook(_stay)


def _stay(event: str, arguments: tuple[object, ...]) -> None:
    if event in _CONNECTING and isinstance(arguments[1], tuple):
        if not _is_loopback(str(arguments[1][0])):
            raise ConnectionRefusedError(f"{event} outside this machine")
    elif event in _RESOLVING and arguments[0] not in (None, "", "localhost", b"localhost"):
        name = arguments[0]
        text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
        if not _is_loopback(text):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


if __name__ == "sitecustomize":
    stay_on_this_machine()
