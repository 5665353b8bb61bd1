"""The limits of pages count in Redis, and what tells about them tells no password."""

from flask import Flask
from flask_limiter.commands import cli

from app.composition.settings import Settings
from app.composition.wiring import connect, page_counts
from app.web.installation import CountStore
from app.web.limits import set_up_limits
from tests.fixtures.cases import cases


def counts(settings: Settings) -> CountStore:
    return page_counts(connect(settings), settings)


def configured_limits(redis_url: str) -> str:
    """What ``flask limiter config`` prints, on a page wide enough for all of it."""
    app = Flask("limited")
    set_up_limits(app, counts(Settings(database_url="sqlite://", redis_url=redis_url)))
    shown = app.test_cli_runner().invoke(cli, ["config"], env={"COLUMNS": "2000"})
    assert shown.exit_code == 0, shown.output
    return shown.output


@cases(
    "url",
    [
        "redis://:not-to-be-told@127.0.0.1:1/0",
        "rediss://shop:not-to-be-told@127.0.0.1:1/0",
        "unix://shop:not-to-be-told@/nowhere/redis.sock?db=1",
        "redis://127.0.0.1:1/0?password=not-to-be-told",
    ],
)
def test_limiter_command_hides_the_redis_password(url: str) -> None:
    limits = configured_limits(url)
    assert "Counts" in limits
    assert "not-to-be-told" not in limits


def test_counts_are_stored_in_redis(redis_url: str) -> None:
    settings = Settings(database_url="sqlite://", redis_url=redis_url)
    limiter = set_up_limits(Flask("limited"), counts(settings))
    assert limiter.storage is not None
    limiter.storage.incr("one", 60)
    second = set_up_limits(Flask("another process"), counts(settings))
    assert second.storage is not None
    assert second.storage.get("one") == 1
