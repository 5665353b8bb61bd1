"""``flask login``: coming in at another instance, and staying signed in."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy import func, select

from app.models import SessionRecord
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.remote_instances import make_elsewhere
from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import PASSWORD, Shops
from tests.fakes.no_database import NoDatabase

PERSON = ("--email", "boss@example.com", "--password-stdin")


@pytest.fixture
def stranger(shops: Shops, tmp_path: Path) -> Shops:
    """Nobody has signed in yet, and no token is in the environment."""
    return replace(shops, remote_access=make_elsewhere(tmp_path / "config"))


def login(shops: Shops, *arguments: str, typed: str | None = None) -> Result:
    nothing = replace(shops.here, database=NoDatabase())
    return run(nothing, "login", *arguments, typed=typed, remote_access=shops.remote_access)


def sessions(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(SessionRecord)) or 0


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_person_signs_in_and_works_there(stranger: Shops, end: str) -> None:
    assert stranger.there_alone("webhook", "list").exit_code == 4
    done = login(stranger, stranger.url, *PERSON, typed=PASSWORD + end)
    assert done.exit_code == 0
    assert done.stdout == f"Instance\t{stranger.url}\nSigned in as\tboss@example.com\n"
    assert len(stranger.there_alone("webhook", "list").stdout.splitlines()) == 3
    # The host alone is the same instance.
    base = stranger.url.removesuffix("graphql/")
    listed = run(
        stranger.here, "webhook", "list", "-u", base, remote_access=stranger.remote_access
    )
    assert listed.exit_code == 0


def test_an_app_signs_in_by_its_token(stranger: Shops) -> None:
    _, token = make_app(stranger.there, "Newcomer")
    done = login(stranger, stranger.url, "--token-stdin", "--json", typed=f"{token}\n")
    assert json.loads(done.stdout) == {"url": stranger.url, "email": "an app"}
    assert token not in done.output
    assert stranger.there_alone("webhook", "list").exit_code == 0


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (PERSON, "wrong"),
        (("--email", "nobody@example.com", "--password-stdin"), PASSWORD),
        (("--token-stdin",), "nonsense"),
    ],
)
def test_refused_login_is_not_saved(stranger: Shops, words: tuple[str, ...], typed: str) -> None:
    failed = login(stranger, stranger.url, *words, typed=typed)
    assert (failed.exit_code, failed.stdout) == (4, "")
    assert login(stranger, "--list", "--json").stdout == "[]\n"


def test_a_login_that_could_not_be_kept_is_not_begun(stranger: Shops, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file where the folder would be")
    before = sessions(stranger.there)
    failed = login(stranger, stranger.url, *PERSON, typed=PASSWORD)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert str(tmp_path / "config") in failed.stderr
    assert sessions(stranger.there) == before


def test_logins_are_listed_and_forgotten(stranger: Shops) -> None:
    login(stranger, stranger.url, *PERSON, typed=PASSWORD)
    [kept] = json.loads(login(stranger, "--list", "--json").stdout)
    assert kept == {"url": stranger.url, "email": "boss@example.com"}
    forgotten = login(stranger, stranger.url, "--forget")
    assert (forgotten.exit_code, forgotten.stderr) == (0, f"{stranger.url} is forgotten.\n")
    again = login(stranger, stranger.url, "--forget", "--json")
    assert json.loads(again.stdout) == {"url": stranger.url, "forgotten": False}
    assert login(stranger, "--list").stderr == "You are signed in nowhere.\n"
    assert "No login is kept" in login(stranger, stranger.url, "--forget").stderr
    assert stranger.there_alone("webhook", "list").exit_code == 4


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        ((), None),
        (("shop.example.com",), None),
        (("https://shop.example.com",), None),
        (("https://shop.example.com", "--email", "ann@example.com"), None),
        (("https://shop.example.com", "--email", "ann@example.com", "--password-stdin"), ""),
        (("https://shop.example.com", "--app-token"), None),
        (("https://shop.example.com", "--token-stdin"), " \n"),
    ],
)
def test_no_login_prompt_in_a_pipe(
    ports: Ports, tmp_path: Path, arguments: tuple[str, ...], typed: str | None
) -> None:
    remote_access = make_elsewhere(tmp_path)
    failed = run(ports, "login", *arguments, "--json", typed=typed, remote_access=remote_access)
    assert failed.exit_code == 2
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "USAGE"


def test_unreachable_instance_is_reported(ports: Ports, tmp_path: Path) -> None:
    words = ("login", "http://127.0.0.1:1", *PERSON)
    failed = run(ports, *words, typed=PASSWORD, remote_access=make_elsewhere(tmp_path))
    assert failed.exit_code == 5
    assert PASSWORD not in failed.output
