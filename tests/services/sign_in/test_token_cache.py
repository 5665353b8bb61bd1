"""What a process remembers of tokens saves work and changes no answer."""

from dataclasses import replace

import pytest
from sqlalchemy import delete, update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.keys import CACHE_TIME
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports, ProcessCache
from app.services.identity.identify import identify
from app.services.keys import rotate_keys
from app.services.sign_in.tokens import refresh_token, verify_token
from tests.builders.apps import make_app
from tests.builders.people import ISSUER, NOBODY, make_user, sign_in, visit
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements
from tests.services.invalid_tokens import break_token, broken_tokens

PUBLIC = "https://shop.example.com"


def actor(ports: Ports, credential: str | None, issuer: str = ISSUER) -> Actor:
    return identify(ports, replace(visit(credential), issuer=issuer)).actor


def refreshes(ports: Ports, token: str) -> bool:
    try:
        return bool(refresh_token(ports, NOBODY, token=token).access)
    except Refused:
        return False


def verifies(ports: Ports, token: str) -> bool:
    try:
        return verify_token(ports, NOBODY, token=token).user.is_active
    except Refused:
        return False


@pytest.mark.both_databases
def test_cached_token_costs_one_statement_and_no_write(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    actor(ports, token)

    with recorded_statements() as statements:
        assert actor(ports, token).is_user

    [statement] = statements
    assert statement.startswith("SELECT")


@pytest.mark.both_databases
def test_refresh_costs_one_statement_and_no_write(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).refresh
    refresh_token(ports, NOBODY, token=token)

    with recorded_statements() as statements:
        assert refresh_token(ports, NOBODY, token=token).access

    [statement] = statements
    assert statement.startswith("SELECT")


@pytest.mark.both_databases
def test_refresh_with_a_single_use_token_writes_its_successor(ports: Ports) -> None:
    configuration = replace(ports.configuration, single_use_refresh_tokens=True)
    token = sign_in(ports, make_user(ports)).refresh

    with recorded_statements() as statements:
        refresh_token(replace(ports, configuration=configuration), NOBODY, token=token)

    assert [one.split()[1] for one in statements if one.startswith("UPDATE")] == ["sessions"]


@pytest.mark.both_databases
def test_app_token_costs_one_statement_and_no_write(ports: Ports) -> None:
    _, token = make_app(ports)
    actor(ports, token)

    with recorded_statements() as statements:
        assert actor(ports, token).is_app

    [statement] = statements
    assert statement.startswith("SELECT")


@pytest.mark.both_databases
def test_anonymous_caller_costs_one_statement_and_no_write(ports: Ports) -> None:
    actor(ports, None)

    with recorded_statements() as statements:
        actor(ports, None)

    [statement] = statements
    assert statement.startswith("SELECT")


def test_invalid_token_costs_one_statement(ports: Ports) -> None:
    good = sign_in(ports, make_user(ports)).access
    for name in ("expired", "from the future", "foreign issuer", "unknown session"):
        token, fault = break_token(ports, good, name)
        actor(ports, token)

        with recorded_statements() as statements:
            assert actor(ports, token).fault is fault, name

        assert len(statements) == 1, name


def test_token_is_cached_by_its_digest(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    actor(ports, token)

    assert len(ports.cache.verified) == 1
    assert token not in repr(ports.cache)


def test_token_that_is_not_ours_is_never_cached(ports: Ports) -> None:
    foreign = (TokenFault.UNDECODABLE, TokenFault.SIGNATURE, TokenFault.ALGORITHM)
    broken = broken_tokens(ports, sign_in(ports, make_user(ports)).access)

    cached = []
    for name, (token, fault) in broken.items():
        actor(ports, token)
        if fault in foreign and len(ports.cache.verified):
            cached.append(name)
        ports.cache.verified.clear()

    assert cached == []


def test_cached_token_ends_with_its_session(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    assert actor(ports, pair.access).is_user
    assert refreshes(ports, pair.refresh)

    with ports.database.transaction() as session:
        session.execute(delete(models.Session))

    assert actor(ports, pair.access).fault is TokenFault.INVALID
    assert not refreshes(ports, pair.refresh)
    assert not verifies(ports, pair.access)


def test_cached_token_expires_at_its_time(ports: Ports, clock: FakeClock) -> None:
    token = sign_in(ports, make_user(ports)).access
    clock.pass_(seconds=299.999)
    assert actor(ports, token).is_user
    clock.pass_(seconds=0.001)

    assert actor(ports, token).fault is TokenFault.EXPIRED
    assert not verifies(ports, token)


def test_cached_token_follows_the_login_mode(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports, is_superuser=True)).access
    assert actor(ports, token).is_staff

    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert not actor(ports, token).is_staff
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert actor(ports, token).fault is TokenFault.INVALID


def test_cached_token_loses_a_deactivated_user(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    assert actor(ports, token).is_user
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(is_active=False))

    assert actor(ports, token).fault is TokenFault.INVALID


def test_cached_token_is_valid_for_its_issuer_only(ports: Ports) -> None:
    configured = replace(ports, configuration=replace(ports.configuration, public_url=PUBLIC))
    token = sign_in(configured, make_user(ports)).access
    assert actor(ports, token).is_user

    assert actor(configured, token, f"{PUBLIC}/graphql/").fault is TokenFault.INVALID


def withdraw_keys(ports: Ports) -> None:
    """Take every signing key out of the ring, as after a theft; the next use makes new ones."""
    with ports.database.transaction() as session:
        session.execute(delete(models.SigningKey))
        session.execute(update(models.Shop).values(keys_version=models.Shop.keys_version + 1))


@pytest.mark.both_databases
def test_cached_tokens_end_with_their_signing_key_in_every_process(
    ports: Ports, second_process: Ports
) -> None:
    pair = sign_in(ports, make_user(ports))
    for process in (ports, second_process):
        assert actor(process, pair.access).is_user
        assert refreshes(process, pair.refresh)
        assert verifies(process, pair.refresh)

    withdraw_keys(ports)

    for process in (second_process, ports):
        assert actor(process, pair.access).fault is TokenFault.SIGNATURE
        assert not refreshes(process, pair.refresh)
        assert not verifies(process, pair.refresh)


@pytest.mark.parametrize("seen", ["access", "refresh", "verify"])
def test_removed_key_is_noticed_on_access_and_refresh(
    ports: Ports, second_process: Ports, seen: str
) -> None:
    pair = sign_in(ports, make_user(ports))
    assert actor(second_process, pair.access).is_user
    assert refreshes(second_process, pair.refresh)
    withdraw_keys(ports)

    answers = {
        "access": lambda: actor(second_process, pair.access).is_user,
        "refresh": lambda: refreshes(second_process, pair.refresh),
        "verify": lambda: verifies(second_process, pair.access),
    }
    assert answers[seen]() is False


@pytest.mark.both_databases
def test_token_stays_valid_after_rotation_in_every_process(
    ports: Ports, second_process: Ports, clock: FakeClock
) -> None:
    pair = sign_in(ports, make_user(ports), SessionOrigin.OIDC)
    assert refreshes(second_process, pair.refresh)
    clock.pass_(seconds=CACHE_TIME.total_seconds())

    rotate_keys(ports, OPERATOR)

    for process in (ports, second_process):
        renewed = refresh_token(process, NOBODY, token=pair.refresh).access
        assert actor(ports, renewed).is_user
        assert actor(second_process, renewed).is_user


@pytest.mark.both_databases
def test_new_process_accepts_another_processs_tokens(ports: Ports, second_process: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access

    assert second_process.cache.ring is None
    assert actor(second_process, token).is_user


def test_clearing_the_cache_changes_no_result(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    assert actor(ports, token) == actor(replace(ports, cache=ProcessCache()), token)


def test_cached_token_issuer_is_the_public_url_or_else_the_requests_or_loopback(
    ports: Ports,
) -> None:
    user_id = make_user(ports)
    for public_url, made_for, asked_at, accepted in (
        ("", "http://localhost:8000/graphql/", "http://localhost:8000/graphql/", True),
        ("", "http://127.0.0.1:5000/graphql/", "http://localhost:8000/graphql/", True),
        ("", "http://dev.lan/graphql/", "http://dev.lan/graphql/", True),
        ("", "http://dev.lan/graphql/", "http://localhost:8000/graphql/", False),
        ("", "http://localhost:8000/graphql/", "http://dev.lan/graphql/", True),
        (PUBLIC, f"{PUBLIC}/graphql/", f"{PUBLIC}/graphql/", True),
        (PUBLIC, "http://localhost:8000/graphql/", f"{PUBLIC}/graphql/", False),
        (PUBLIC, "https://other.example.com/graphql/", f"{PUBLIC}/graphql/", False),
    ):
        there = replace(ports, configuration=replace(ports.configuration, public_url=public_url))
        token = sign_in(there, user_id, caller=replace(NOBODY, issuer=made_for)).access
        case = (public_url, made_for, asked_at)
        assert actor(there, token, asked_at).is_user is accepted, case
        if not accepted:
            assert actor(there, token, asked_at).fault is TokenFault.INVALID, case
