"""A fake DNS resolver for names below ``.example``."""

import socket
from collections.abc import Callable

import pytest


def resolve(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], str]) -> None:
    """Resolve names to the result of ``answer``; IP addresses resolve to themselves."""
    real = socket.getaddrinfo

    def resolver(host: str, port: int, *args: int, **options: int) -> object:
        return real(answer() if host.endswith(".example") else host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
