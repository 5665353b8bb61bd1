"""Nothing that was committed is lost, whenever server and worker are killed."""

import random
import socket
from pathlib import Path

import pytest

from tests.reliability.shop import killed_shop
from tests.servers.http import Reply, http_server

CHANGES, KILLS = 500, 3


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_every_change_is_delivered_although_all_processes_are_killed_again_and_again(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """On SQLite alone with one worker; on PostgreSQL and Redis with two worker processes."""
    database: str = request.getfixturevalue(f"{store}_url")
    redis: str = request.getfixturevalue("redis_url") if store == "postgresql" else ""
    workers = 2 if redis else 1
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    moments = set(random.sample(range(20, CHANGES - 20), KILLS))
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(200))
        with killed_shop(
            tmp_path, database, target, port, redis_url=redis, workers=workers
        ) as shop:
            for number in range(CHANGES):
                if number in moments:
                    shop.kill()
                    shop.start()
                shop.change()
            shop.wait_until_all_is_delivered()
            delivered, noted = shop.delivered(), shop.noted()
        received = [call.headers["webhook-id"] for call in receiver.calls("/hook")]
    assert shop.changes == CHANGES <= noted <= CHANGES + KILLS
    assert len(delivered) == noted
    assert set(received) == delivered
