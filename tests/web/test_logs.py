"""What is written to the log, and what never is."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from app.domain.apps.apps import TOKEN_RANDOM_LENGTH, make_app_token
from app.web.logs import set_up_logs
from tests.fixtures.cases import cases

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
APP_TOKEN = make_app_token("a" * TOKEN_RANDOM_LENGTH)
SECRETS = (JWT, APP_TOKEN, "geheim", "whsec_bm90IGEgc2VjcmV0")


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    """Logging belongs to the process; others find it as it was."""
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    yield
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    structlog.reset_defaults()


def written(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_production_logs_a_json_object_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="INFO", development=False)
    structlog.get_logger("app.web").info("door.opened", count=2, who="ann")
    logging.getLogger("a.library").warning("%s is slow", "it")
    ours, theirs = map(json.loads, written(capsys).splitlines())
    assert (ours["event"], ours["level"], ours["logger"]) == ("door.opened", "info", "app.web")
    assert (ours["count"], ours["who"]) == (2, "ann")
    assert ours["timestamp"].endswith("Z")
    assert (theirs["event"], theirs["level"]) == ("it is slow", "warning")


def test_fault_is_one_line_with_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="INFO", development=False)
    structlog.get_logger("app").error("web.fault", request_id="r1", exc_info=ValueError("broken"))
    line = json.loads(written(capsys))
    assert (line["request_id"], line["exception"][0]["exc_type"]) == ("r1", "ValueError")


def test_development_logs_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="INFO", development=True)
    structlog.get_logger("app").info("door.opened", who="ann")
    line = written(capsys)
    assert "door.opened" in line
    assert "who=ann" in line
    assert "\x1b" not in line, "a file gets no colours"


def test_lines_below_the_level_are_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="WARNING", development=False)
    structlog.get_logger("app").info("quiet")
    logging.getLogger("a.library").info("quiet")
    assert written(capsys) == ""


def test_repeated_setup_logs_once(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="INFO", development=True)
    set_up_logs(level="INFO", development=False)
    structlog.get_logger("app").info("once")
    assert len(written(capsys).splitlines()) == 1


@cases("development", [True, False])
@cases(
    "facts",
    [
        {"authorization": "geheim"},
        {"Authorization-Bearer": "geheim"},
        {"password": "geheim"},
        {"refreshToken": "geheim"},
        {"headers": {"Cookie": "geheim", "Accept": "x"}},
        {"attempts": [{"client_secret": "geheim"}]},
        {"csrf_token": "geheim"},
        {"private_key": "geheim"},
        {"body": f'{{"token": "{JWT}"}}'},
        {"said": f"Bearer {APP_TOKEN}"},
        {"url": "postgresql://shop:geheim@db/shop"},
        {"signing": "whsec_bm90IGEgc2VjcmV0"},
        {"exc_info": ValueError(f"{JWT} at redis://:geheim@cache")},
    ],
)
def test_secrets_are_never_logged(
    capsys: pytest.CaptureFixture[str], development: bool, facts: dict[str, object]
) -> None:
    set_up_logs(level="INFO", development=development)
    structlog.get_logger("app").error("fault", **facts)
    logging.getLogger("a.library").error("%s", facts.get("said", "nothing"))
    line = written(capsys)
    assert "fault" in line
    assert not any(secret in line for secret in SECRETS)
    assert "[not shown]" in line


def test_counts_and_urls_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(level="INFO", development=False)
    structlog.get_logger("app").info("tidied", sessions=3, url="https://shop.example.com/a@b")
    line = json.loads(written(capsys))
    assert (line["sessions"], line["url"]) == (3, "https://shop.example.com/a@b")
