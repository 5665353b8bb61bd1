"""The slow network of ``make cluster``."""

import socket
import time
from threading import Thread

from benchmarks.cluster.slow_link import slow_link

_DELAY = 0.05


def _echo(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        while piece := connection.recv(65536):
            connection.sendall(piece)


def test_bytes_arrive_whole_and_late_in_both_directions() -> None:
    sent = bytes(range(256)) * 1000
    with socket.create_server(("127.0.0.1", 0)) as listener:
        echo = Thread(target=_echo, args=[listener])
        echo.start()
        with slow_link("127.0.0.1", listener.getsockname()[1], _DELAY) as port:
            began = time.monotonic()
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                received = b"".join(iter(lambda: client.recv(65536), b""))
            assert time.monotonic() - began >= 2 * _DELAY
        echo.join(180)
    assert received == sent


def test_connection_to_a_stopped_server_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        unused = listener.getsockname()[1]
    with (
        slow_link("127.0.0.1", unused, _DELAY) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        assert client.recv(1) == b""
