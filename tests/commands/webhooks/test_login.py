"""``flask login``: coming in at another instance, and staying signed in."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.oauth import COMMAND_LINE
from app.domain.sign_in.sign_in_log import SignInPlace
from app.ports import Ports
from app.ports.instance import DeviceLogin, Profile
from app.remote.api import LoginEnded, SavedLogin, renew_grant
from app.remote.device_login import finish_device_login
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.devices import deny_device
from tests.builders.apps import make_app
from tests.builders.oauth import let_in
from tests.builders.people import actor_of
from tests.builders.remote_instances import make_remote_access
from tests.builders.second_factors import make_authenticator_app, one_time_code
from tests.builders.shop import close_storefront, configure_shop
from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import PASSWORD, Shops
from tests.fakes.no_database import NoDatabase
from tests.fixtures.cases import cases

PERSON = ("--email", "boss@example.com", "--password-stdin")


@pytest.fixture
def signed_out(shops: Shops, tmp_path: Path) -> Shops:
    """Nobody has signed in yet, and no token is in the environment."""
    return replace(shops, remote_access=make_remote_access(tmp_path / "config"))


def login(shops: Shops, *arguments: str, stdin: str | None = None) -> Result:
    nothing = replace(shops.local, database=NoDatabase())
    return run(nothing, "login", *arguments, stdin=stdin, remote_access=shops.remote_access)


def sessions(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Session)) or 0


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_person_signs_in_and_works_there(signed_out: Shops, end: str) -> None:
    assert signed_out.remote_only("webhook", "list").exit_code == 4
    done = login(signed_out, signed_out.url, *PERSON, stdin=PASSWORD + end)
    assert done.exit_code == 0
    assert done.stdout == f"Instance\t{signed_out.url}\nSigned in as\tboss@example.com\n"
    assert len(signed_out.remote_only("webhook", "list").stdout.splitlines()) == 3
    # The host alone is the same instance.
    base = signed_out.url.removesuffix("graphql/")
    listed = run(
        signed_out.local, "webhook", "list", "-u", base, remote_access=signed_out.remote_access
    )
    assert listed.exit_code == 0


def protect(shops: Shops) -> str:
    """Give the person an authenticator app; return a code."""
    with shops.remote.database.reading() as session:
        boss = session.scalar(select(models.User.id).where(models.User.email == PERSON[1]))
    return one_time_code(shops.remote, make_authenticator_app(shops.remote, boss or 0))


def test_person_with_a_second_factor_signs_in_with_a_code(
    signed_out: Shops, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = protect(signed_out)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _stdin: True)
    stdin = f"{PASSWORD}\n{code}\n"
    done = login(signed_out, signed_out.url, *PERSON[:2], stdin=stdin)
    assert done.exit_code == 0, done.output
    assert signed_out.remote_only("webhook", "list").exit_code == 0


def test_code_is_not_asked_for_in_a_pipe(signed_out: Shops) -> None:
    protect(signed_out)
    failed = login(signed_out, signed_out.url, *PERSON, stdin=PASSWORD)
    assert failed.exit_code == 2
    assert "This account has a second factor." in failed.stderr
    assert login(signed_out, "--list", "--json").stdout == "[]\n"


def test_app_signs_in_by_its_token(signed_out: Shops) -> None:
    _, token = make_app(signed_out.remote, "Newcomer")
    done = login(signed_out, signed_out.url, "--token-stdin", "--json", stdin=f"{token}\n")
    assert json.loads(done.stdout) == {"url": signed_out.url, "email": "an app"}
    assert token not in done.output
    assert signed_out.remote_only("webhook", "list").exit_code == 0


@cases(
    ("words", "stdin"),
    [
        (PERSON, "wrong"),
        (("--email", "nobody@example.com", "--password-stdin"), PASSWORD),
        (("--token-stdin",), "nonsense"),
    ],
)
def test_refused_login_is_not_saved(signed_out: Shops, words: tuple[str, ...], stdin: str) -> None:
    failed = login(signed_out, signed_out.url, *words, stdin=stdin)
    assert (failed.exit_code, failed.stdout) == (4, "")
    assert login(signed_out, "--list", "--json").stdout == "[]\n"


def test_login_that_could_not_be_kept_is_not_begun(signed_out: Shops, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file where the folder would be")
    before = sessions(signed_out.remote)
    failed = login(signed_out, signed_out.url, *PERSON, stdin=PASSWORD)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert str(tmp_path / "config") in failed.stderr
    assert sessions(signed_out.remote) == before


def test_logins_are_listed_and_forgotten(signed_out: Shops) -> None:
    login(signed_out, signed_out.url, *PERSON, stdin=PASSWORD)
    [kept] = json.loads(login(signed_out, "--list", "--json").stdout)
    assert kept == {"url": signed_out.url, "email": "boss@example.com"}
    forgotten = login(signed_out, signed_out.url, "--forget")
    assert forgotten.exit_code == 0
    assert forgotten.stderr == f"Forgot the login for {signed_out.url}.\n"
    again = login(signed_out, signed_out.url, "--forget", "--json")
    assert json.loads(again.stdout) == {"url": signed_out.url, "forgotten": False}
    assert login(signed_out, "--list").stderr == "No stored logins.\n"
    assert "No login is stored" in login(signed_out, signed_out.url, "--forget").stderr
    assert signed_out.remote_only("webhook", "list").exit_code == 4


@cases(
    ("arguments", "stdin"),
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
    ports: Ports, tmp_path: Path, arguments: tuple[str, ...], stdin: str | None
) -> None:
    remote_access = make_remote_access(tmp_path)
    failed = run(ports, "login", *arguments, "--json", stdin=stdin, remote_access=remote_access)
    assert failed.exit_code == 2
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "USAGE"


def test_unreachable_instance_is_reported(ports: Ports, tmp_path: Path) -> None:
    words = ("login", "http://127.0.0.1:1", *PERSON)
    failed = run(ports, *words, stdin=PASSWORD, remote_access=make_remote_access(tmp_path))
    assert failed.exit_code == 5
    assert PASSWORD not in failed.output


def by_code(shops: Shops, decide: Callable[[Ports, Actor, str], object]) -> Shops:
    """Let the boss decide in the console while the command waits."""
    with shops.remote.database.reading() as session:
        boss = session.scalars(select(models.User.id).where(models.User.email == PERSON[1])).one()
    access = shops.remote_access

    def finish(begun: DeviceLogin) -> Profile:
        def pause(_seconds: float) -> None:
            there = actor_of(shops.remote, boss, place=SignInPlace.CONSOLE)
            decide(shops.remote, there, begun.user_code)

        return finish_device_login(access.http, begun, pause)

    return replace(shops, remote_access=replace(access, finish_device_login=finish))


def test_code_in_a_browser_stands_in_for_a_password(signed_out: Shops) -> None:
    """Also while the storefront is closed, with the rights of the person who let it in."""
    configure_shop(signed_out.remote, hosted_pages=True)
    close_storefront(signed_out.remote)
    shops = by_code(signed_out, let_in)
    done = login(shops, shops.url, "--device")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Instance\t{shops.url}\nSigned in as\tboss@example.com\n"
    assert f"Open {shops.url.removesuffix('graphql/')}console/device and enter" in done.stderr
    assert len(shops.remote_only("webhook", "list").stdout.splitlines()) == 3
    # An expired token is renewed at the provider, for several commands that notice it at once.
    profiles = shops.remote_access.profiles
    [saved] = profiles.list_profiles()
    with shops.remote.database.reading() as session:
        granted = session.scalars(select(models.Session.oauth_client_id)).all()
    assert any(granted)
    http = shops.remote_access.http
    first, second = (SavedLogin(profiles, saved) for _ in range(2))
    for one in (first, second):
        with one.renewal() as is_due:
            if is_due:
                one.renewed(*renew_grant(http, shops.url, one.refresh_token))
    assert first.refresh_token == second.refresh_token != saved.refresh_token
    assert shops.remote_only("webhook", "list").exit_code == 0
    # Control: what was used up ends the login.
    with pytest.raises(LoginEnded):
        renew_grant(http, shops.url, saved.refresh_token)
    with pytest.raises(LoginEnded):
        renew_grant(http, shops.url, second.refresh_token)


def test_refused_code_signs_no_one_in(signed_out: Shops) -> None:
    configure_shop(signed_out.remote, hosted_pages=True)
    shops = by_code(signed_out, deny_device)
    failed = login(shops, shops.url, "--device")
    assert failed.exit_code == 4
    assert "refused" in failed.stderr
    assert shops.remote_access.profiles.list_profiles() == ()


def test_password_is_asked_for_where_no_code_is_offered(signed_out: Shops) -> None:
    begin = signed_out.remote_access.begin_device_login
    assert begin(signed_out.url) is None
    failed = login(signed_out, signed_out.url, "--device")
    assert failed.exit_code == 2
    assert "offers no sign-in by a code" in failed.stderr
    configure_shop(signed_out.remote, hosted_pages=True)
    assert begin(signed_out.url) is not None
    stop = ClientChange(is_active=False)
    update_client(signed_out.remote, OPERATOR, COMMAND_LINE, stop)
    assert begin(signed_out.url) is None
