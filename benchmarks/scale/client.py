"""A client of the API over TLS, cheap enough to share the machine with what it measures."""

import asyncio
import json
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks import paths

_HOST = "127.0.0.1"
_IDLE_SECONDS = 60.0
"""nginx closes a connection after 75 s: this one isn't used after so long."""


class Refused(Exception):
    """An answer that isn't the one asked for."""


@dataclass(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float = 0.0

    @property
    def is_usable(self) -> bool:
        return time.monotonic() - self.used < _IDLE_SECONDS and not self.reader.at_eof()


class Client:
    """Sends requests to nginx at ``port``; each connection has an IP address of its own."""

    def __init__(self, port: int, authority: Path) -> None:
        self._port = port
        self._tls = ssl.create_default_context(cafile=authority)
        self._free: deque[_Connection] = deque()
        self._addresses = count(2)

    async def ask(
        self,
        query: str,
        variables: Mapping[str, object] | None = None,
        *,
        token: str = "",
        is_new: bool = False,
    ) -> Any:
        """Return the data of an answer without errors; ``is_new`` asks from a new connection."""
        return await self.send(paths.graphql(self._port, query, token, variables), is_new=is_new)

    async def send(self, request: bytes, *, is_new: bool = False) -> Any:
        """Send the bytes of a whole request to the API; return the data of its answer."""
        connection = await self._open() if is_new else await self._reuse()
        is_kept = False
        try:
            connection.writer.write(request)
            body, is_kept = await self._receive(connection)
        finally:
            if is_kept and not is_new:
                self._free.append(connection)
            else:
                connection.writer.close()
        return data_of(json.loads(body))

    def close(self) -> None:
        for connection in self._free:
            connection.writer.close()

    async def _reuse(self) -> _Connection:
        """Return the connection that was used last; the others are closed when idle for long."""
        while self._free and not self._free[0].is_usable:
            self._free.popleft().writer.close()
        while self._free:
            connection = self._free.pop()
            if connection.is_usable:
                return connection
            connection.writer.close()
        return await self._open()

    async def _open(self) -> _Connection:
        number = next(self._addresses)
        address = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        reader, writer = await asyncio.open_connection(
            _HOST, self._port, ssl=self._tls, server_hostname="localhost", local_addr=(address, 0)
        )
        return _Connection(reader, writer)

    async def _receive(self, connection: _Connection) -> tuple[bytes, bool]:
        """Return the body of an answer, and whether the connection can be used again."""
        head = (await connection.reader.readuntil(b"\r\n\r\n")).decode().lower()
        status, *lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        body = await connection.reader.readexactly(int(headers["content-length"]))
        connection.used = time.monotonic()
        if status.split()[1] != "200":
            raise Refused(f"{status}: {body[:200]!r}")
        return body, headers.get("connection") != "close"


def data_of(answer: Mapping[str, Any]) -> Any:
    """Return the data of ``answer``; raise ``Refused`` if it or a payload in it has errors."""
    if answer.get("errors"):
        raise Refused(str(answer["errors"]))
    for name, payload in answer["data"].items():
        if isinstance(payload, dict) and payload.get("errors"):
            raise Refused(f"{name}: {payload['errors']}")
    return answer["data"]
