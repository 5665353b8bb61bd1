"""Which adapter stands behind each port."""

from pathlib import Path

import pytest

from app.adapters.mailer import FileMailer, SmtpMailer
from app.adapters.queue import connect_queue
from app.adapters.throttle_redis import RedisThrottle
from app.adapters.throttle_sql import SqlThrottle
from app.domain.deliveries.deliveries import Batch
from app.ports import Ports
from app.settings import Settings, SettingsError
from app.wiring import connect


def connected(**settings: str) -> Ports:
    return connect(Settings(database_url="sqlite://", **settings))  # type: ignore[arg-type]


def test_login_attempts_are_counted_in_redis_or_else_the_database() -> None:
    assert isinstance(connected().throttle, SqlThrottle)
    assert isinstance(connected(redis_url="redis://127.0.0.1:1/0").throttle, RedisThrottle)


def test_deliveries_queue_in_redis_or_else_a_file(redis_url: str, tmp_path: Path) -> None:
    batch = Batch("lease", 1, (2, 3))
    connected(redis_url=redis_url).queue.put(batch)
    assert connect_queue(redis_url, tmp_path / "unused").take(1.0) == batch
    url = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
    connect(Settings(database_url=url)).queue.put(batch)
    assert connect_queue("", tmp_path / "shop.sqlite3-queue").take(1.0) == batch


def test_mails_go_to_the_server_or_else_a_file() -> None:
    assert isinstance(connected().mailer, FileMailer)
    assert isinstance(connected(mail_url="smtp://127.0.0.1:25").mailer, SmtpMailer)


def test_unusable_key_is_an_invalid_setting() -> None:
    with pytest.raises(SettingsError, match="RSA_PRIVATE_KEY"):
        connected(rsa_private_key="-----BEGIN nothing")


def test_adapters_are_opened_on_first_use() -> None:
    connect(
        Settings(
            database_url="postgresql://nobody@127.0.0.1:1/nowhere",
            redis_url="redis://127.0.0.1:1/0",
            mail_url="smtp://127.0.0.1:1",
        )
    )
