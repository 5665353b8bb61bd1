"""The watch on this process's connections, with real sockets."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from threading import enumerate as enumerate_threads

import pytest

from app.web.connections import ConnectionWatch
from app.web.installation import ConnectionLimits

LIMITS = ConnectionLimits(per_client=3, read_seconds=30)
ATTACKER, OTHER = "127.0.0.2", "127.0.0.3"
PATIENCE = 30.0
PIECE = b"x" * 65536


@dataclass
class Door:
    """A listening socket, and what was accepted there: pairs of a client's end and ours."""

    listener: socket.socket
    stack: ExitStack
    accepted: list[tuple[socket.socket, socket.socket]] = field(default_factory=list)

    def come(self, address: str, *, receives: int = 0) -> tuple[socket.socket, socket.socket]:
        client = self.stack.enter_context(socket.socket(self.listener.family))
        if receives:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        client.settimeout(PATIENCE)
        client.bind((address, 0))
        client.connect(self.listener.getsockname())
        ours, _ = self.listener.accept()
        self.stack.enter_context(ours)
        return client, ours


@pytest.fixture
def door() -> Iterator[Door]:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        yield Door(listener, stack)


def is_open(client: socket.socket) -> bool:
    client.settimeout(0)
    try:
        return bool(client.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


def fill(ours: socket.socket) -> None:
    """Send until nothing more fits."""
    ours.settimeout(0)
    try:
        while True:
            ours.send(PIECE)
    except BlockingIOError:
        pass


def test_newest_connections_beyond_a_clients_number_are_closed(door: Door) -> None:
    watch = ConnectionWatch(LIMITS)
    attacker = [door.come(ATTACKER)[0] for _ in range(3)]
    watch.look(0)
    other, _ = door.come(OTHER)
    attacker += [door.come(ATTACKER)[0] for _ in range(4)]
    watch.look(1)
    assert [is_open(one) for one in attacker] == [True] * 3 + [False] * 4
    assert is_open(other)


def test_exempt_networks_have_any_number(door: Door) -> None:
    limits = ConnectionLimits(3, 30, exempt=(ip_network(f"{ATTACKER}/32"),))
    clients = [door.come(ATTACKER)[0] for _ in range(9)]
    ConnectionWatch(limits).look(0)
    assert all(map(is_open, clients))


def test_no_limit_is_no_limit(door: Door) -> None:
    clients = [door.come(ATTACKER)[0] for _ in range(9)]
    ConnectionWatch(ConnectionLimits(0, 30)).look(0)
    assert all(map(is_open, clients))


def test_closed_connections_leave_their_places(door: Door) -> None:
    watch = ConnectionWatch(LIMITS)
    for _ in range(3):
        for end in door.come(ATTACKER):
            end.close()
        watch.look(0)
    again = [door.come(ATTACKER)[0] for _ in range(3)]
    watch.look(1)
    assert all(map(is_open, again))


def test_client_that_reads_nothing_is_dropped_after_the_deadline(door: Door) -> None:
    watch = ConnectionWatch(LIMITS)
    reader, ours = door.come(OTHER, receives=4096)
    _silent, theirs = door.come(ATTACKER, receives=4096)
    for end in (ours, theirs):
        fill(end)
    for now in range(0, 60, 10):
        watch.look(now)
        reader.recv(16 * 1024, socket.MSG_WAITALL)
        fill(ours)
    assert ours.send(b"", socket.MSG_DONTWAIT) == 0
    with pytest.raises(OSError, match="Broken pipe"):
        theirs.send(b"x")
    assert is_open(reader)


def test_idle_client_that_has_read_everything_stays(door: Door) -> None:
    watch = ConnectionWatch(LIMITS)
    client, ours = door.come(OTHER)
    ours.sendall(b"all")
    assert client.recv(3) == b"all"
    for now in range(0, 600, 100):
        watch.look(now)
    assert is_open(client)


def test_without_proc_the_server_works_unwatched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ConnectionWatch(LIMITS, fds=tmp_path / "missing").start()
    assert "connections" not in {thread.name for thread in enumerate_threads()}
    logged = capsys.readouterr()
    assert "server.connections_unwatched" in logged.out + logged.err


def test_own_calls_of_other_servers_are_left_alone(door: Door) -> None:
    watch = ConnectionWatch(ConnectionLimits(1, 1))
    calls = [door.come(OTHER)[0] for _ in range(1)]
    fill(calls[0])
    for now in range(5):
        watch.look(now)
    assert is_open(calls[0])
