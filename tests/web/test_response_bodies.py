"""Bodies on their way out: in memory and on disk, each within a bound."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.web.bodies import AT_ONCE, Held, NoRoom, Outgoing, SentFile
from tests.fixtures.cases import cases

LARGE = b"x" * (AT_ONCE + 1)
LONG = [b"y" * AT_ONCE] * 20
"""More than is kept in memory of a body whose length isn't known."""


def held(outgoing: Outgoing, result: Iterable[bytes]) -> Held:
    body = outgoing.hold(result)
    assert isinstance(body, Held)
    return body


def test_short_bodies_take_no_room() -> None:
    outgoing = Outgoing(memory=0, disk=0)
    assert outgoing.hold([b"a", b"b"]) == b"ab"
    assert outgoing.hold(iter([b"a", b"b"])) == b"ab"


@cases("result", [[LARGE], (LARGE,)])
def test_large_body_takes_memory_until_it_is_sent(result: Iterable[bytes]) -> None:
    outgoing = Outgoing(memory=len(LARGE), disk=0)
    body = held(outgoing, result)
    with pytest.raises(NoRoom):
        outgoing.hold([LARGE])
    assert b"".join(body) == LARGE
    body.close()
    body.close()
    assert outgoing.memory.free == len(LARGE)
    held(outgoing, [LARGE]).close()


def test_large_bodies_go_to_the_disk_when_the_memory_is_taken() -> None:
    outgoing = Outgoing(memory=0, disk=2 * len(LARGE))
    first, second = held(outgoing, [LARGE]), held(outgoing, [LARGE])
    with pytest.raises(NoRoom):
        outgoing.hold([LARGE])
    assert b"".join(first) == b"".join(second) == LARGE
    first.close()
    assert outgoing.disk.free == len(LARGE)
    second.close()


def test_long_body_takes_the_disk_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outgoing = Outgoing()
    before = outgoing.disk.free
    body = held(outgoing, iter(LONG))
    assert before - outgoing.disk.free == 20 * AT_ONCE
    assert list(tmp_path.iterdir()) == []
    assert b"".join(body) == b"".join(LONG)
    body.close()
    assert outgoing.disk.free == before


def test_body_beyond_the_quota_gives_back_what_it_took() -> None:
    outgoing = Outgoing(memory=0, disk=18 * AT_ONCE)
    with pytest.raises(NoRoom):
        outgoing.hold(iter(LONG))
    assert outgoing.disk.free == 18 * AT_ONCE


def test_one_clients_unread_bodies_leave_room_for_others() -> None:
    outgoing = Outgoing(memory=4 * len(LARGE), disk=4 * len(LARGE))
    unread = [outgoing.hold([LARGE], "192.0.2.1") for _ in range(2)]
    with pytest.raises(NoRoom):
        outgoing.hold([LARGE], "192.0.2.1")
    others = [outgoing.hold([LARGE], f"198.51.100.{n}") for n in range(3)]
    for body in (*unread, *others):
        assert isinstance(body, Held)
        body.close()
    held_again = outgoing.hold([LARGE], "192.0.2.1")
    assert isinstance(held_again, Held)


def test_clients_behind_a_proxy_share_the_whole_room() -> None:
    outgoing = Outgoing(memory=4 * len(LARGE), disk=0)
    for _ in range(4):
        held(outgoing, [LARGE])


def test_file_is_sent_from_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(LARGE)
    with path.open("rb") as file:
        assert SentFile(file).path == str(path)
        file.read(1)
        assert SentFile(file).path is None
    with tempfile.TemporaryFile() as nameless:
        assert SentFile(nameless).path is None
