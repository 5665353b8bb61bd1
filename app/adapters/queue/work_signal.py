"""Signals for workers: a socket on one host, PostgreSQL's NOTIFY, or Redis' publish."""

import glob
import os
import select
import socket
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import psycopg
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.adapters.system import make_private_folder
from app.ports.queue import NO_SIGNAL, WorkSignal

_CHANNEL = "latchkey_work"
_CONNECT_SECONDS = 5
_REDIS_SECONDS = 2.0
"""A change waits no longer for a Redis that doesn't answer."""


class SocketSignal:
    """A socket of this host for each worker that waits; their paths begin with ``prefix``."""

    def __init__(self, prefix: Path) -> None:
        self._folder = prefix.parent
        self._prefix = f"{prefix.name}-"
        self._receiver: socket.socket | None = None
        self._file = self._folder / f"{self._prefix}{os.getpid()}-{token_hex(4)}"

    def send(self) -> None:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(0)
            for file in self._folder.glob(f"{glob.escape(self._prefix)}*"):
                self._send_to(sender, file)

    def wait(self, seconds: float) -> bool:
        if self._receiver is None:
            try:
                self._receiver = self._open()
            except OSError:  # a file system without sockets, or a path that is too long
                return NO_SIGNAL.wait(seconds)
            return True
        if not _is_readable(self._receiver, seconds):
            return False
        with suppress(BlockingIOError):
            while self._receiver.recv(1):
                pass
        return True

    def close(self) -> None:
        if self._receiver is not None:
            self._file.unlink(missing_ok=True)
            self._receiver.close()
            self._receiver = None

    def _open(self) -> socket.socket:
        make_private_folder(self._folder)
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.settimeout(0)
        try:
            receiver.bind(_address(self._file))
        except OSError:
            receiver.close()
            raise
        return receiver

    def _send_to(self, sender: socket.socket, file: Path) -> None:
        try:
            sender.sendto(b"!", _address(file))
        except ConnectionRefusedError:
            file.unlink(missing_ok=True)  # a worker that was killed has left it
        except OSError:
            return  # one that is full has signals enough


def _address(file: Path) -> str:
    """Return the path, relative where that is shorter: the kernel takes 107 bytes."""
    return min(str(file), os.path.relpath(file), key=len)


def _is_readable(source: socket.socket | psycopg.Connection[Any], seconds: float) -> bool:
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class NotifySignal:
    """PostgreSQL's NOTIFY, by ``engine``, whose statements commit by themselves."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._listening: psycopg.Connection[Any] | None = None

    def send(self) -> None:
        # The next statement to the database reports what is wrong with it.
        with suppress(SQLAlchemyError), self._engine.connect() as connection:
            connection.exec_driver_sql(f"NOTIFY {_CHANNEL}")

    def wait(self, seconds: float) -> bool:
        try:
            if self._listening is None:
                # A signal that comes with the answer to LISTEN is taken in there, unnoticed.
                self._listening = self._listen()
                return True
            # psycopg's own wait wakes up ten times a second.
            if not _is_readable(self._listening, seconds):
                return False
            return bool(list(self._listening.notifies(timeout=0)))
        except psycopg.Error:
            self.close()
            return NO_SIGNAL.wait(seconds)

    def close(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def _listen(self) -> psycopg.Connection[Any]:
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        deadline = {"connect_timeout": _CONNECT_SECONDS}
        connection = psycopg.connect(*arguments, **{**deadline, **options}, autocommit=True)
        connection.execute(f"LISTEN {_CHANNEL}")
        return connection


class RedisSignal:
    """Redis' publish and subscribe, for every host of the installation."""

    def __init__(self, url: str) -> None:
        self._client: Any = Redis.from_url(
            url, socket_connect_timeout=_REDIS_SECONDS, socket_timeout=_REDIS_SECONDS
        )
        self._listening: Any = None

    def send(self) -> None:
        with suppress(RedisError):
            self._client.publish(_CHANNEL, b"!")

    def wait(self, seconds: float) -> bool:
        try:
            if self._listening is None:
                self._listening = self._client.pubsub(ignore_subscribe_messages=True)
                self._listening.subscribe(_CHANNEL)
                # The answer to it is the first message, which is none.
                self._listening.get_message(timeout=seconds)
                return True
            return self._listening.get_message(timeout=seconds) is not None
        except RedisError:
            self.close()
            return NO_SIGNAL.wait(seconds)

    def close(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None


def connect_work_signal(redis_url: str, engine: Engine | None, prefix: Path) -> WorkSignal:
    """Return Redis' signals if there is one, else PostgreSQL's on ``engine``, else this host's."""
    if redis_url:
        return RedisSignal(redis_url)
    return SocketSignal(prefix) if engine is None else NotifySignal(engine)
