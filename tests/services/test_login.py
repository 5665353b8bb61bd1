"""Signing in with a password: contract, "`tokenCreate` and friends: codes"."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select, update

from app.domain.actor import Actor, SessionOrigin, anonymous
from app.domain.errors import Problem, Refused
from app.domain.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop import PasswordLoginMode
from app.models import SessionRecord, UserRecord
from app.ports import Ports
from app.services.identity import identify
from app.services.login import create_token
from app.services.sessions import TokenPair
from tests.builders.people import (
    ADDRESS,
    ISSUER,
    NOBODY,
    PASSWORD,
    make_group,
    make_staff,
    make_user,
    visit,
)
from tests.builders.shop import configure_shop, set_mode
from tests.builders.tokens import claims_in
from tests.fakes.clock import START, FakeClock
from tests.fakes.passwords import FakeHasher

EMAIL = "customer@example.com"
WRONG = ("email", "INVALID_CREDENTIALS")


def log_in(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> TokenPair:
    return create_token(ports, actor, email=email, password=password)


def problems_of(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> tuple[Problem, ...]:
    with pytest.raises(Refused) as refused:
        log_in(ports, email, password, actor)
    return refused.value.problems


def refusal_of(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> tuple[str | None, str]:
    [problem] = problems_of(ports, email, password, actor)
    return problem.field, problem.code


def sessions(ports: Ports) -> list[SessionRecord]:
    with ports.database.reading() as session:
        return list(session.scalars(select(SessionRecord).order_by(SessionRecord.id)))


@pytest.mark.parametrize(
    ("is_staff", "is_superuser", "permissions"),
    [(False, False, frozenset()), (True, False, frozenset()), (True, True, ALL_PERMISSIONS)],
    ids=["customer", "staff", "superuser"],
)
def test_customers_and_staff_sign_in_alike(
    ports: Ports, is_staff: bool, is_superuser: bool, permissions: frozenset[Permission]
) -> None:
    user_id = make_user(ports, is_staff=is_staff, is_superuser=is_superuser)

    pair = log_in(ports)

    identity = identify(ports, visit(pair.access))
    assert identity.actor.user_id == pair.user.id == user_id
    assert identity.actor.origin is SessionOrigin.PASSWORD
    assert (pair.user.email, pair.user.is_staff) == (EMAIL, is_staff)
    assert pair.user.permissions == identity.actor.permissions == permissions


@pytest.mark.parametrize(
    "email", ["customer@example.com", "Customer@EXAMPLE.com", "  customer@example.com\n"]
)
def test_an_email_is_known_in_every_spelling(ports: Ports, email: str) -> None:
    user_id = make_user(ports)

    assert log_in(ports, email).user.id == user_id


@pytest.mark.parametrize(
    "password",
    [
        "",
        PASSWORD + " ",
        " " + PASSWORD,
        PASSWORD.upper(),
        PASSWORD[:-1],
        PASSWORD + "\0",
        "\ud800",
        "x" * 100_000,
    ],
    ids=range(8),
)
def test_a_password_is_exact(ports: Ports, password: str) -> None:
    make_user(ports)

    assert refusal_of(ports, password=password) == WRONG


def test_a_password_may_be_anything_that_was_set(ports: Ports) -> None:
    strange = "  päß \0 \ud83d wörd  "
    make_user(ports, password=strange)

    assert log_in(ports, password=strange).user.email == EMAIL


def test_wrong_unknown_and_without_a_password_are_one_answer_after_one_comparison(
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


@pytest.mark.parametrize(
    "email",
    ["not-an-email", "", "@", "\0", "customer@example.com\0", "\ud800@example.com", "x" * 100_000],
    ids=range(7),
)
def test_what_can_be_nobody_s_address_is_an_unknown_one(
    ports: Ports, hasher: FakeHasher, email: str
) -> None:
    make_user(ports)

    assert refusal_of(ports, email) == WRONG
    assert hasher.verifications == 1


@pytest.mark.parametrize(
    ("email", "password", "missing"),
    [
        (None, PASSWORD, ["email"]),
        (EMAIL, None, ["password"]),
        (None, None, ["email", "password"]),
    ],
)
def test_a_missing_argument_is_required_and_no_attempt(
    ports: Ports,
    hasher: FakeHasher,
    clock: FakeClock,
    email: str | None,
    password: str | None,
    missing: list[str],
) -> None:
    make_user(ports)

    problems = problems_of(ports, email, password)

    assert [(problem.field, problem.code) for problem in problems] == [
        (name, "REQUIRED") for name in missing
    ]
    assert hasher.verifications == 0
    assert ports.throttle.find(ADDRESS, clock.timestamp()) is None


def test_a_caller_whose_address_cannot_be_told_is_refused_without_a_comparison(
    ports: Ports, hasher: FakeHasher
) -> None:
    make_user(ports)

    assert refusal_of(ports, actor=anonymous(issuer=ISSUER)) == (None, "UNKNOWN_IP_ADDRESS")
    assert hasher.verifications == 0


def test_an_inactive_account_is_told_so_with_the_right_password_alone(
    ports: Ports, clock: FakeClock
) -> None:
    make_user(ports, is_active=False, is_confirmed=False)

    assert refusal_of(ports) == ("email", "INACTIVE")
    assert refusal_of(ports, password="wrong") == WRONG
    assert sessions(ports) == []


@pytest.mark.parametrize(
    ("is_confirmed", "confirm_by_email", "login_without", "comes_in"),
    [
        (False, True, False, False),
        (False, True, True, True),
        (False, False, False, True),
        (False, False, True, True),
        (True, True, False, True),
        (True, True, True, True),
        (True, False, False, True),
        (True, False, True, True),
    ],
)
def test_an_account_must_be_confirmed_where_the_shop_asks_for_it_before_login(
    ports: Ports,
    is_confirmed: bool,
    confirm_by_email: bool,
    login_without: bool,
    comes_in: bool,
) -> None:
    make_user(ports, is_confirmed=is_confirmed)
    configure_shop(
        ports,
        enable_account_confirmation_by_email=confirm_by_email,
        allow_login_without_confirmation=login_without,
    )

    if comes_in:
        assert log_in(ports).user.email == EMAIL
    else:
        assert refusal_of(ports) == ("email", "ACCOUNT_NOT_CONFIRMED")
        assert sessions(ports) == []


def test_an_unconfirmed_account_is_told_so_with_the_right_password_alone(ports: Ports) -> None:
    make_user(ports, is_confirmed=False)

    assert refusal_of(ports, password="wrong") == WRONG


def test_refusals_come_in_the_order_of_the_contract(
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


@pytest.mark.parametrize("email", [EMAIL, "staff@example.com", "nobody@example.com"])
def test_nobody_signs_in_by_password_while_that_is_disabled(
    ports: Ports, hasher: FakeHasher, email: str
) -> None:
    make_user(ports)
    make_staff(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)

    assert refusal_of(ports, email) == (None, "DISABLED_AUTHENTICATION_METHOD")
    assert hasher.verifications == 0
    assert sessions(ports) == []


def test_customers_sign_in_as_usual_while_password_login_is_for_customers(ports: Ports) -> None:
    make_user(ports)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)

    assert identify(ports, visit(log_in(ports).access)).actor.is_user


@pytest.mark.parametrize("is_superuser", [False, True])
def test_staff_sign_in_by_password_as_customers_while_password_login_is_for_customers(
    ports: Ports, is_superuser: bool
) -> None:
    group = make_group(ports, "Managers", Permission.MANAGE_APPS)
    make_user(
        ports,
        is_staff=True,
        is_superuser=is_superuser,
        groups=[group],
        permissions=[Permission.MANAGE_USERS],
    )
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)

    pair = log_in(ports)

    assert (pair.user.is_staff, pair.user.permissions) == (False, frozenset())
    assert [group.name for group in pair.user.groups] == ["Managers"]
    assert claims_in(ports, pair.access)["is_staff"] is True


def test_every_login_is_a_session_of_its_own(ports: Ports) -> None:
    make_user(ports)

    first, second = log_in(ports), log_in(ports)

    assert claims_in(ports, first.access)["token"] != claims_in(ports, second.access)["token"]
    assert len(sessions(ports)) == 2
    assert all(identify(ports, visit(pair.access)).actor.is_user for pair in (first, second))


def test_a_session_remembers_where_and_how_it_began(ports: Ports) -> None:
    user_id = make_user(ports)

    log_in(ports, actor=replace(NOBODY, user_agent="Browser/1.0 " * 100))

    [session] = sessions(ports)
    assert (session.user_id, session.origin, session.address) == (user_id, "password", ADDRESS)
    assert session.user_agent == ("Browser/1.0 " * 100)[:256]
    assert session.created_at == session.last_used_at == START
    assert (session.expires_at - START).days == 30


def test_nothing_in_the_sessions_table_is_a_secret_of_the_tokens(ports: Ports) -> None:
    make_user(ports)

    refresh = claims_in(ports, log_in(ports).refresh)

    [session] = sessions(ports)
    assert len(session.refresh_digest) == 64
    assert session.refresh_digest != refresh["csrf_token"]


def test_a_login_is_noted_on_the_account(ports: Ports, clock: FakeClock) -> None:
    make_user(ports)
    clock.pass_(hours=5)

    assert log_in(ports).user.last_login == clock.now()


def test_a_refused_login_is_not_noted(ports: Ports) -> None:
    make_user(ports)
    refusal_of(ports, password="wrong")

    with ports.database.reading() as session:
        assert session.scalar(select(UserRecord.last_login)) is None


def test_an_audience_stands_in_both_tokens(ports: Ports) -> None:
    make_user(ports)

    pair = create_token(
        ports, NOBODY, email=EMAIL, password=PASSWORD, audience="custom:storefront"
    )

    audiences = {claims_in(ports, token)["aud"] for token in (pair.access, pair.refresh)}
    assert audiences == {"custom:storefront"}


def test_without_an_audience_there_is_no_such_claim(ports: Ports) -> None:
    make_user(ports)

    assert "aud" not in claims_in(ports, log_in(ports).access)


def _stored_hash(ports: Ports) -> str | None:
    with ports.database.reading() as session:
        return session.scalar(select(UserRecord.password_hash))


def test_a_password_is_hashed_anew_when_the_cost_has_changed(
    ports: Ports, hasher: FakeHasher
) -> None:
    make_user(ports)
    before = _stored_hash(ports)
    hasher.cost = 2

    log_in(ports)

    after = _stored_hash(ports)
    assert before != after == hasher.hash(PASSWORD)
    assert log_in(ports).user.email == EMAIL


def test_a_hash_of_today_s_cost_stays(ports: Ports) -> None:
    make_user(ports)
    before = _stored_hash(ports)

    log_in(ports)

    assert _stored_hash(ports) == before


def test_a_wrong_password_is_never_hashed_into_the_account(
    ports: Ports, hasher: FakeHasher
) -> None:
    make_user(ports)
    before = _stored_hash(ports)
    hasher.cost = 2

    refusal_of(ports, password="wrong")

    assert _stored_hash(ports) == before


def test_an_account_made_by_single_sign_on_opens_by_password_once_one_is_set(ports: Ports) -> None:
    make_user(ports, password=None)
    assert refusal_of(ports) == WRONG
    hashed = ports.passwords.hash(PASSWORD)
    with ports.database.transaction() as session:
        session.execute(update(UserRecord).values(password_hash=hashed))

    other_address = replace(NOBODY, address="198.51.100.1")
    assert log_in(ports, actor=other_address).user.email == EMAIL


def test_failures_store_no_session(ports: Ports) -> None:
    make_user(ports)
    refusal_of(ports, password="wrong")
    refusal_of(ports)

    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(SessionRecord)) == 0
