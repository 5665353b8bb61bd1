"""What webhooks are sent to: a process that answers every request with 200."""

import multiprocessing
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from threading import Thread

from benchmarks import servers

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_LISTENERS = 128


@contextmanager
def receiver(seconds: float = 0.0, answered: "Synchronized[int] | None" = None) -> Iterator[int]:
    """Start a receiver on the load's core that answers after ``seconds``; yields its port.

    It counts its answers in ``answered``.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=_LISTENERS)
    port: int = listener.getsockname()[1]
    process = multiprocessing.get_context("fork").Process(
        target=_receive, args=(listener, seconds, answered)
    )
    process.start()
    listener.close()
    try:
        yield port
    finally:
        process.terminate()
        process.join()


def _receive(
    listener: socket.socket, seconds: float, answered: "Synchronized[int] | None"
) -> None:
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    while True:
        connection, _ = listener.accept()
        Thread(target=_answer, args=(connection, seconds, answered), daemon=True).start()


def _answer(
    connection: socket.socket, seconds: float, answered: "Synchronized[int] | None"
) -> None:
    """Answer requests until the other side has had enough."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    waiting = b""
    with connection:
        while True:
            head, separator, rest = waiting.partition(b"\r\n\r\n")
            if separator:
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                if len(rest) >= length:
                    time.sleep(seconds)
                    connection.sendall(_ANSWER)
                    if answered is not None:
                        with answered:
                            answered.value += 1
                    waiting = rest[length:]
                    continue
            piece = connection.recv(65536)
            if not piece:
                return
            waiting += piece
