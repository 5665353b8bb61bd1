"""What ``flask serve`` and ``flask worker`` tell systemd, and do when it asks them to reload."""

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import pytest

from app.commands.serve import accept_the_last
from tests.commands.real_installation import (
    TIMEOUT_SECONDS,
    Installation,
    answers,
    at_a_terminal,
    end,
    wait_until,
)
from tests.servers.forked_commands import ForkedCommand
from tests.servers.free_ports import free_port


@contextmanager
def manager(folder: Path) -> Iterator[socket.socket]:
    """A service manager's socket, as NOTIFY_SOCKET names it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(folder / "notify"))
        listening.settimeout(TIMEOUT_SECONDS)
        yield listening


def told(listening: socket.socket, wanted: str) -> str:
    """Wait for a message that begins so, and for nothing but signs of life before it."""
    until = monotonic() + TIMEOUT_SECONDS
    while monotonic() < until:
        message = listening.recv(4096).decode()
        if message.startswith(wanted):
            return message
        assert message == "WATCHDOG=1", f"{message} instead of {wanted}"
    raise TimeoutError(f"nothing but signs of life instead of {wanted}")


def under_manager(sqlite_url: str, folder: Path) -> Installation:
    return at_a_terminal(
        sqlite_url,
        folder,
        NOTIFY_SOCKET=str(folder / "notify"),
        WATCHDOG_USEC="1000000",
        FLASK_SKIP_DOTENV="",
    )


def playground(port: int) -> int:
    """The status of the page that PLAYGROUND_ENABLED switches on."""
    return status(port, "/graphql/", {"Accept": "text/html"})


def status(port: int, path: str, headers: dict[str, str] | None = None) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path, headers=headers or {})
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@contextmanager
def served(shop: Installation, port: int, *more: str) -> Iterator[ForkedCommand]:
    process = shop.start("serve", "--port", str(port), "--workers", "1", "--no-worker", *more)
    try:
        yield process
    finally:
        end(process)


@pytest.mark.first
def test_server_tells_that_it_is_ready_alive_reloading_and_stopping(
    sqlite_url: str, tmp_path: Path
) -> None:
    shop, port = under_manager(sqlite_url, tmp_path), free_port()
    (tmp_path / ".env").write_text("PLAYGROUND_ENABLED=true\n")
    with manager(tmp_path) as listening, served(shop, port) as process:
        assert told(listening, "READY=1") == "READY=1"
        assert answers(port)
        told(listening, "WATCHDOG=1")
        assert playground(port) == 200
        (tmp_path / ".env").write_text("PLAYGROUND_ENABLED=false\n")
        process.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in told(listening, "RELOADING=1")
        told(listening, "READY=1")
        wait_until(lambda: playground(port) == 405, "the new setting applies")
        (tmp_path / ".env").write_text("PLAYGROUND_ENABLED=perhaps\n")
        process.send_signal(signal.SIGHUP)
        told(listening, "RELOADING=1")
        told(listening, "READY=1")
        assert "Not reloaded" in shop.output
        assert "PLAYGROUND_ENABLED" in shop.output
        assert answers(port)
        process.send_signal(signal.SIGTERM)
        told(listening, "STOPPING=1")
        assert process.wait(TIMEOUT_SECONDS) == 0


@pytest.mark.first
def test_worker_tells_that_it_is_ready_alive_reloading_and_stopping(
    sqlite_url: str, tmp_path: Path
) -> None:
    shop = under_manager(sqlite_url, tmp_path)
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "worker"]
    with manager(tmp_path) as listening, (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=shop.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            told(listening, "READY=1")
            told(listening, "WATCHDOG=1")
            process.send_signal(signal.SIGHUP)
            told(listening, "RELOADING=1")
            told(listening, "READY=1")  # of the program that took its place
            told(listening, "WATCHDOG=1")
            assert shop.output.count("worker.started") == 2
            (tmp_path / ".env").write_text("LOG_LEVEL=loud\n")
            process.send_signal(signal.SIGHUP)
            told(listening, "RELOADING=1")
            told(listening, "READY=1")
            assert "LOG_LEVEL" in shop.output
            process.send_signal(signal.SIGTERM)
            told(listening, "STOPPING=1")
            assert process.wait(TIMEOUT_SECONDS) == 0
        finally:
            process.kill()
            process.wait(TIMEOUT_SECONDS)


@pytest.mark.first
def test_server_drains_with_readiness_first(sqlite_url: str, tmp_path: Path) -> None:
    shop, port = at_a_terminal(sqlite_url, tmp_path), free_port()
    with served(shop, port, "--drain", "300") as process:
        wait_until(lambda: answers(port), "it answers")
        assert status(port, "/readyz") == 200
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: status(port, "/readyz") == 503, "no more requests are to be sent")
        assert answers(port)
        connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        assert (response.status, response.getheader("Connection")) == (200, "close")
        connection.close()
        assert process.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such filter")
def test_connections_that_wait_are_accepted_before_a_socket_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        waiting = [socket.create_connection(listener.getsockname()) for _ in range(3)]
        done = threading.Event()

        def drain() -> None:
            accept_the_last([listener])
            done.set()

        draining = threading.Thread(target=drain)
        draining.start()
        accepted = [listener.accept()[0] for _ in waiting[:2]]
        assert not done.is_set()
        accepted.append(listener.accept()[0])
        assert done.wait(TIMEOUT_SECONDS)
        draining.join(TIMEOUT_SECONDS)
        with pytest.raises(TimeoutError):  # neither accepted nor refused
            socket.create_connection(listener.getsockname(), timeout=0.1)
        listener.shutdown(socket.SHUT_RDWR)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(listener.getsockname(), timeout=TIMEOUT_SECONDS)
        for connection in (*waiting, *accepted):
            connection.close()
