"""What a login is refused for: contract, "`tokenCreate` and friends: codes"."""

import hashlib
from itertools import product

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import anonymous
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.builders.people import ADDRESS, ISSUER, PASSWORD, change_user, make_staff, make_user
from tests.builders.shop import configure_shop, set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.services.logins import EMAIL, OTHER, log_in, problems_of, refusal_of, stored_sessions

WRONG = ("email", "INVALID_CREDENTIALS")


def test_login_refusals_are_equal_after_one_comparison(
    ports: Ports, clock: FakeClock, hasher: FakeHasher
) -> None:
    make_user(ports)
    make_user(ports, "sso@example.com", password=None)
    answers, comparisons = set(), []

    for email in (EMAIL, "nobody@example.com", "sso@example.com"):
        before = hasher.verifications
        answers.add(problems_of(ports, email, "wrong"))
        comparisons.append(hasher.verifications - before)
        clock.pass_(hours=1)

    [(problem,)] = answers
    assert (problem.field, problem.code) == WRONG
    assert comparisons == [1, 1, 1]


@pytest.mark.parametrize("typed", ["Pässwörter im Wald", "Pa\u0308sswo\u0308rter im Wald"])
def test_password_typed_in_another_normal_form_signs_in(
    ports: Ports, hasher: FakeHasher, typed: str
) -> None:
    make_user(ports, password="Pässwörter im Wald")
    log_in(ports, password=typed)
    assert hasher.hashes == 1  # that of the account
    assert refusal_of(ports, password=typed.replace("Wald", "wald")) == WRONG


def test_stored_hash_of_another_form_is_replaced(ports: Ports, hasher: FakeHasher) -> None:
    user = make_user(ports)
    digest = hashlib.sha256("Pa\u0308sswo\u0308rter".encode()).hexdigest()
    change_user(ports, user, password_hash=f"fake$1${digest}")
    assert refusal_of(ports, password="Pässwörter") == WRONG
    ports.throttle.unblock(ADDRESS)
    log_in(ports, password="Pa\u0308sswo\u0308rter")
    log_in(ports, password="Pässwörter")


@pytest.mark.parametrize("password", ["wrong", "Pa\u0308sswo\u0308rter"])
def test_wrong_password_that_is_compared_twice_is_one_attempt(ports: Ports, password: str) -> None:
    make_user(ports)
    assert refusal_of(ports, password=password) == WRONG
    (problem,) = problems_of(ports, EMAIL, password)
    assert problem.message.endswith("(in 1 s).")


def test_password_is_compared_exactly(ports: Ports) -> None:
    make_user(ports)
    for password in (
        "",
        PASSWORD + " ",
        " " + PASSWORD,
        PASSWORD.upper(),
        PASSWORD[:-1],
        PASSWORD + "\0",
        "\ud800",
        "x" * 100_000,
    ):
        assert refusal_of(ports, password=password) == WRONG, password[:100]
        ports.throttle.unblock(ADDRESS)


@pytest.mark.both_databases
def test_impossible_email_is_treated_as_unknown(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports)
    emails = ("not-an-email", "", "@", "\0", f"{EMAIL}\0", "\ud800@example.com", "x" * 100_000)
    for count, email in enumerate(emails, start=1):
        assert refusal_of(ports, email) == WRONG, email[:100]
        assert hasher.verifications == count, email[:100]
        ports.throttle.unblock(ADDRESS)


def test_missing_argument_is_required_and_not_counted(
    ports: Ports, hasher: FakeHasher, clock: FakeClock
) -> None:
    make_user(ports)
    for email, password, missing in (
        (None, PASSWORD, ["email"]),
        (EMAIL, None, ["password"]),
        (None, None, ["email", "password"]),
    ):
        problems = problems_of(ports, email, password)

        assert [(problem.field, problem.code) for problem in problems] == [
            (name, "REQUIRED") for name in missing
        ]
        assert hasher.verifications == 0
        assert ports.throttle.find(ADDRESS, clock.timestamp()) is None


def test_unknown_ip_address_is_refused_before_comparing(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports)

    assert refusal_of(ports, actor=anonymous(issuer=ISSUER)) == (None, "UNKNOWN_IP_ADDRESS")
    assert hasher.verifications == 0


def test_inactive_account_is_reported_only_with_the_correct_password(
    ports: Ports, clock: FakeClock
) -> None:
    make_user(ports, is_active=False, is_confirmed=False)

    assert refusal_of(ports) == ("email", "INACTIVE")
    assert refusal_of(ports, password="wrong") == WRONG
    assert stored_sessions(ports) == []


def test_account_must_be_confirmed_where_the_shop_asks_for_it_before_login(ports: Ports) -> None:
    make_user(ports)
    make_user(ports, OTHER, is_confirmed=False)
    for confirm_by_email, login_without in product((True, False), repeat=2):
        configure_shop(
            ports,
            enable_account_confirmation_by_email=confirm_by_email,
            allow_login_without_confirmation=login_without,
        )
        assert log_in(ports).user.email == EMAIL
        before = stored_sessions(ports)
        if confirm_by_email and not login_without:
            assert refusal_of(ports, OTHER) == ("email", "ACCOUNT_NOT_CONFIRMED")
            assert len(stored_sessions(ports)) == len(before)
        else:
            assert log_in(ports, OTHER).user.email == OTHER, (confirm_by_email, login_without)


def test_unconfirmed_account_is_reported_only_with_the_correct_password(ports: Ports) -> None:
    make_user(ports, is_confirmed=False)

    assert refusal_of(ports, password="wrong") == WRONG


def test_refusals_follow_the_contracts_order(
    ports: Ports, clock: FakeClock, hasher: FakeHasher
) -> None:
    make_user(ports, is_active=False)
    somewhere = anonymous(issuer=ISSUER)
    set_mode(ports, PasswordLoginMode.DISABLED)
    disabled = refusal_of(ports, None, None, somewhere)
    set_mode(ports, PasswordLoginMode.ENABLED)
    missing = refusal_of(ports, EMAIL, None, somewhere)
    no_address = refusal_of(ports, EMAIL, PASSWORD, somewhere)
    wrong = refusal_of(ports, EMAIL, "wrong")
    comparisons = hasher.verifications
    blocked = refusal_of(ports)
    compared_while_blocked = hasher.verifications - comparisons
    clock.pass_(seconds=1)
    standing = refusal_of(ports)

    assert disabled == (None, "DISABLED_AUTHENTICATION_METHOD")
    assert missing == ("password", "REQUIRED")
    assert no_address == (None, "UNKNOWN_IP_ADDRESS")
    assert wrong == WRONG
    assert blocked == (None, "LOGIN_ATTEMPT_DELAYED")
    assert compared_while_blocked == 0
    assert standing == ("email", "INACTIVE")


def test_disabled_password_login_is_refused(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports)
    make_staff(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)
    for email in (EMAIL, "staff@example.com", "nobody@example.com"):
        assert refusal_of(ports, email) == (None, "DISABLED_AUTHENTICATION_METHOD"), email
        assert hasher.verifications == 0, email
    assert stored_sessions(ports) == []


def test_refused_login_does_not_update_last_login(ports: Ports) -> None:
    make_user(ports)
    refusal_of(ports, password="wrong")

    with ports.database.reading() as session:
        assert session.scalar(select(models.User.last_login)) is None
