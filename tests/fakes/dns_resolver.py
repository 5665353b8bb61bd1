"""A resolver that answers as a test says: names below ``.example`` lead where it wants."""

import socket
from collections.abc import Callable

import pytest


def resolve(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], str]) -> None:
    """Let names of the test resolve to what ``answer`` says; addresses stay what they are."""
    real = socket.getaddrinfo

    def resolver(host: str, port: int, *args: int, **options: int) -> object:
        return real(answer() if host.endswith(".example") else host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
