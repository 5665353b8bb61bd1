"""The queue of deliveries, in a file and in Redis: what is put is taken once."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from huey.storage import SqliteStorage

from app.adapters.queue.delivery_queue import connect_queue
from app.domain.deliveries.deliveries import Batch
from app.ports.queue import Queue, QueueUnavailable
from tests.reliability.redis import killed_redis
from tests.servers.sandbox import PATIENCE

Places = tuple[str, Path]


@pytest.fixture(params=["file", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    return url, tmp_path / "queue"


@pytest.fixture
def queue(place: Places) -> Iterator[Queue]:
    opened = connect_queue(*place)
    yield opened
    opened.close()


@pytest.fixture
def second_process(place: Places) -> Iterator[Queue]:
    """The same queue as another process has it."""
    opened = connect_queue(*place)
    yield opened
    opened.close()


def _batch(number: int) -> Batch:
    return Batch(f"lease{number}", number, (number, number + 1))


def test_queue_is_first_in_first_out(queue: Queue) -> None:
    queue.put(_batch(1))
    queue.put(_batch(2))

    assert queue.size() == 2
    assert [queue.take(0.01), queue.take(0.01)] == [_batch(1), _batch(2)]
    assert queue.take(0.01) is None


def test_queue_is_shared_between_processes(queue: Queue, second_process: Queue) -> None:
    queue.put(_batch(1))

    assert second_process.take(2.0) == _batch(1)
    assert queue.take(0.01) is None


def test_concurrent_readers_get_different_batches(queue: Queue, second_process: Queue) -> None:
    for number in range(60):
        queue.put(_batch(number))
    taken: list[Batch] = []

    def take(place: Queue) -> None:
        while (batch := place.take(0.05)) is not None:
            taken.append(batch)

    threads = [Thread(target=take, args=(place,)) for place in (queue, second_process) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert sorted(batch.webhook_id for batch in taken) == list(range(60))


def _open(folder: str) -> Path:
    """Let the account of a server that doesn't run as root pass through."""
    path = Path(folder)
    path.chmod(0o711)
    return path


def test_outage_of_redis_is_logged_once_and_its_end_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with TemporaryDirectory() as folder, killed_redis(_open(folder)) as redis:
        queue = connect_queue(redis.url, tmp_path / "queue")
        queue.put(_batch(1))
        redis.server.process.kill()
        redis.server.process.wait(180)
        for _ in range(3):
            with pytest.raises(QueueUnavailable, match="REDIS_URL"):
                queue.take(0.01)
            with pytest.raises(QueueUnavailable):
                queue.size()
        redis.kill()
        assert queue.size() == 0
        queue.put(_batch(2))
        assert queue.take(0.01) == _batch(2)
        queue.close()

    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["queue.unavailable", "queue.unavailable_is_over"]


@pytest.mark.first
def test_waiting_readers_look_into_the_file_every_two_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    look = SqliteStorage.dequeue

    def noted(storage: SqliteStorage) -> bytes | None:
        looks.append(time.monotonic())
        found: bytes | None = look(storage)
        return found

    monkeypatch.setattr(SqliteStorage, "dequeue", noted)
    queue = connect_queue("", tmp_path / "queue")
    began = time.monotonic()

    def wait() -> None:
        while len(looks) < 2 and time.monotonic() < began + PATIENCE:
            assert queue.take(0.5) is None

    threads = [Thread(target=wait) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    queue.close()
    # The later it is, the more looks there may have been.
    assert 2 <= len(looks) <= (time.monotonic() - began) / 2.0 + 1


def test_waiting_reader_gets_the_next_batch(queue: Queue, second_process: Queue) -> None:
    taken: list[Batch | None] = []
    waiting = Thread(target=lambda: taken.append(_wait_for(second_process)))
    waiting.start()
    queue.put(_batch(1))
    waiting.join(PATIENCE)

    assert taken == [_batch(1)]


def _wait_for(queue: Queue) -> Batch | None:
    for _ in range(int(2 * PATIENCE)):
        batch = queue.take(0.5)
        if batch is not None:
            return batch
    return None
