"""What signing in with a password gives: contract, "Access and refresh tokens", "Sessions"."""

from dataclasses import replace

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from tests.builders.people import ADDRESS, NOBODY, PASSWORD, make_group, make_user, visit
from tests.builders.shop import set_mode
from tests.builders.tokens import claims_in
from tests.fakes.clock import START, FakeClock
from tests.fakes.passwords import FakeHasher
from tests.fixtures.cases import cases
from tests.services.logins import EMAIL, log_in, refusal_of, stored_sessions


@pytest.mark.parametrize(
    ("is_staff", "is_superuser", "permissions"),
    [(False, False, frozenset()), (True, False, frozenset()), (True, True, ALL_PERMISSIONS)],
    ids=["customer", "staff", "superuser"],
)
def test_customers_and_staff_sign_in_the_same_way(
    ports: Ports, is_staff: bool, is_superuser: bool, permissions: frozenset[Permission]
) -> None:
    user_id = make_user(ports, is_staff=is_staff, is_superuser=is_superuser)

    pair = log_in(ports)

    identity = identify(ports, visit(pair.access))
    assert identity.actor.user_id == pair.user.id == user_id
    assert identity.actor.origin is SessionOrigin.PASSWORD
    assert (pair.user.email, pair.user.is_staff) == (EMAIL, is_staff)
    assert pair.user.permissions == identity.actor.permissions == permissions


def test_email_is_found_in_every_spelling(ports: Ports) -> None:
    user_id = make_user(ports)

    @cases("email", ["customer@example.com", "Customer@EXAMPLE.com", "  customer@example.com\n"])
    def check(email: str) -> None:
        assert log_in(ports, email).user.id == user_id

    check()


def test_any_stored_password_signs_in(ports: Ports) -> None:
    strange = "  päß \0 \ud83d wörd  "
    make_user(ports, password=strange)

    assert log_in(ports, password=strange).user.email == EMAIL


def test_customers_have_full_sessions_in_customers_only(ports: Ports) -> None:
    make_user(ports)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)

    assert identify(ports, visit(log_in(ports).access)).actor.is_user


@pytest.mark.parametrize("is_superuser", [False, True])
def test_staff_password_sessions_have_no_rights_in_customers_only(
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


def test_every_login_creates_its_own_session(ports: Ports) -> None:
    make_user(ports)

    first, second = log_in(ports), log_in(ports)

    assert claims_in(ports, first.access)["token"] != claims_in(ports, second.access)["token"]
    assert len(stored_sessions(ports)) == 2
    assert all(identify(ports, visit(pair.access)).actor.is_user for pair in (first, second))


def test_session_stores_device_ip_address_and_origin(ports: Ports) -> None:
    user_id = make_user(ports)

    log_in(ports, actor=replace(NOBODY, user_agent="Browser/1.0 " * 100))

    [session] = stored_sessions(ports)
    assert (session.user_id, session.origin, session.address) == (user_id, "password", ADDRESS)
    assert session.user_agent == ("Browser/1.0 " * 100)[:256]
    assert session.created_at == session.last_used_at == START
    assert (session.expires_at - START).days == 30


def test_sessions_table_contains_no_token_secrets(ports: Ports) -> None:
    make_user(ports)

    refresh = claims_in(ports, log_in(ports).refresh)

    [session] = stored_sessions(ports)
    assert len(session.refresh_digest) == 64
    assert session.refresh_digest != refresh["csrf_token"]


def test_login_updates_last_login(ports: Ports, clock: FakeClock) -> None:
    make_user(ports)
    clock.pass_(hours=5)

    assert log_in(ports).user.last_login == clock.now()


def test_audience_is_in_both_tokens(ports: Ports) -> None:
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
        return session.scalar(select(models.User.password_hash))


def test_password_is_rehashed_when_the_cost_changes(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports)
    before = _stored_hash(ports)
    hasher.cost = 2

    log_in(ports)

    after = _stored_hash(ports)
    assert before != after == hasher.hash(PASSWORD)
    assert log_in(ports).user.email == EMAIL


def test_hash_with_the_current_cost_is_kept(ports: Ports) -> None:
    make_user(ports)
    before = _stored_hash(ports)

    log_in(ports)

    assert _stored_hash(ports) == before


def test_wrong_password_is_never_stored(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports)
    before = _stored_hash(ports)
    hasher.cost = 2

    refusal_of(ports, password="wrong")

    assert _stored_hash(ports) == before


def test_sso_account_accepts_a_password_once_set(ports: Ports) -> None:
    make_user(ports, password=None)
    assert refusal_of(ports) == ("email", "INVALID_CREDENTIALS")
    hashed = ports.passwords.hash(PASSWORD)
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(password_hash=hashed))

    other_address = replace(NOBODY, address="198.51.100.1")
    assert log_in(ports, actor=other_address).user.email == EMAIL
