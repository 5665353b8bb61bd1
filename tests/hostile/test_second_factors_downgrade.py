"""Someone with a stolen console session and the password tries to remove the second factor."""

from dataclasses import dataclass

import pytest

from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.console.console_sessions import confirm_password_again
from app.services.second_factors.stored_factors import read_factors
from tests.builders.people import PASSWORD, actor_of, make_staff, sessions_of
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports

PAGE = "/console/account/security/"
EMAIL = "staff@example.com"
KEY = 1
DOWNGRADES = ("app/turn-off", "app", "codes")


@dataclass(frozen=True, slots=True)
class Stolen:
    """A session at the console whose proof is old, and the secret of its owner's app."""

    console: ConsoleClient
    secret: str

    def send(self, path: str, **values: str) -> int:
        """Send a form of the page; return the status of the answer."""
        return self.console.send(f"{PAGE}{path}", dict(values), seen_at=PAGE).status


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def console(shop: Ports, app_on: AppOn) -> ConsoleClient:
    make_staff(shop, EMAIL)
    client = ConsoleClient(app_on(shop).test_client(), shop)
    assert client.sign_in(EMAIL).status == 303
    return client


@pytest.fixture
def copied(console: ConsoleClient, shop: Ports) -> ConsoleClient:
    """A browser with a copy of the cookie."""
    client = console.client.application.test_client()
    cookie = console.client.get_cookie("latchkey")
    assert cookie is not None
    client.set_cookie("latchkey", cookie.value)
    return ConsoleClient(client, shop)


@pytest.fixture
def stolen(console: ConsoleClient, shop: Ports, clock: FakeClock) -> Stolen:
    secret = make_authenticator_app(shop, KEY)
    make_recovery_codes(shop, KEY)
    clock.pass_(minutes=6)
    return Stolen(console, secret)


def factors(shop: Ports) -> tuple[bool, int]:
    with shop.database.reading() as session:
        found = read_factors(session, KEY)
    return found.has_authenticator_app, found.recovery_codes


def test_password_proves_nothing_where_there_is_a_factor(stolen: Stolen, shop: Ports) -> None:
    for path in DOWNGRADES:
        assert stolen.send(path) == 403, path
        assert stolen.send(path, proof_password=PASSWORD) == 422, path
        assert stolen.send(path) == 403, path
    assert factors(shop) == (True, 10)
    assert "lk-qr" not in stolen.console.open(PAGE).html


def test_password_from_before_the_factor_proves_nothing(
    console: ConsoleClient, shop: Ports, clock: FakeClock
) -> None:
    """Someone who has the password confirms it again and again, until its owner adds a factor."""
    clock.pass_(minutes=6)
    assert Stolen(console, "").send("app") == 403
    assert Stolen(console, "").send("app/cancel", proof_password=PASSWORD) == 303
    stolen = Stolen(console, make_authenticator_app(shop, KEY))
    make_recovery_codes(shop, KEY)
    for path in DOWNGRADES:
        assert stolen.send(path) == 403, path
    assert factors(shop) == (True, 10)
    for path in reversed(DOWNGRADES):
        assert stolen.send(path, proof_code=one_time_code(shop, stolen.secret)) == 303, path
        clock.pass_(minutes=6)


def test_copied_cookie_proves_nothing_by_what_the_session_does_later(
    console: ConsoleClient, copied: ConsoleClient, shop: Ports
) -> None:
    """The owner adds a factor in the session of the copied cookie, which its password proved."""
    secret = make_authenticator_app(shop, KEY)
    make_recovery_codes(shop, KEY)
    own, stolen = Stolen(console, secret), Stolen(copied, secret)
    assert own.send("app/cancel", proof_code=one_time_code(shop, secret)) == 303
    assert sessions_of(shop, KEY)[0].amr == "pwd otp mfa"
    for path in DOWNGRADES:
        assert stolen.send(path) == 403, path
    assert factors(shop) == (True, 10)
    for path in reversed(DOWNGRADES):
        assert own.send(path) == 303, path


def test_fresh_password_is_a_proof_without_a_factor(console: ConsoleClient) -> None:
    assert Stolen(console, "").send("app") == 303


def test_password_is_not_compared_where_there_is_a_factor(shop: Ports) -> None:
    actor = actor_of(shop, make_staff(shop, EMAIL))
    confirm_password_again(shop, actor, password=PASSWORD)
    make_authenticator_app(shop, KEY)
    with pytest.raises(Refused) as refused:
        confirm_password_again(shop, actor, password=PASSWORD)
    assert [problem.code for problem in refused.value.problems] == ["SECOND_FACTOR_REQUIRED"]


def test_guessed_codes_end_the_stolen_session(stolen: Stolen, shop: Ports) -> None:
    assert len(sessions_of(shop, KEY)) == 1
    for _number in range(5):
        stolen.send("app/turn-off", proof_code="000000")
    assert sessions_of(shop, KEY) == []
    assert factors(shop) == (True, 10)
