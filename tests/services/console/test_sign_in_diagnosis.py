"""What decides whether a customer can sign in."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pytest
from typing_extensions import override

from app.adapters.queue.throttle_sql import SqlThrottle
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.sign_in.sign_in_log import SignInReason
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.ports.throttle import AccountBlocks, ThrottleUnavailable
from app.services.console import sign_in_methods
from app.services.console.sign_in_methods import SignInDiagnosis, SignInState, diagnose_sign_in
from app.services.people.user_status import show_person
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff, make_user, sign_in
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.shop import close_storefront, configure_shop, set_mode
from tests.builders.sign_in_events import make_sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects
from tests.services.logins import code_of

SUPPORT = Permission.MANAGE_USERS


def diagnose(ports: Ports, user_id: int) -> SignInDiagnosis:
    support = actor_of(ports, make_staff(ports, "support@example.com", SUPPORT))
    return diagnose_sign_in(ports, support, user_id)


def test_account_without_trouble(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    found = diagnose(ports, user_id)
    assert found.state == SignInState(
        has_password=True,
        providers=(),
        mode=PasswordLoginMode.ENABLED,
        is_storefront_open=True,
        needs_confirmation=True,
    )
    support = actor_of(ports, make_staff(ports, "other@example.com", SUPPORT))
    assert found.person == show_person(ports, support, user_id)
    assert found.attempts == ()
    assert found.blocks is not None
    assert (found.blocks.addresses, found.blocks.account_until) == ((), None)


def test_state_follows_account_and_shop(ports: Ports) -> None:
    user_id = make_user(ports, password=None)
    support = actor_of(ports, make_staff(ports, "support@example.com", SUPPORT))
    make_provider(ports, name="North ID")
    link_identity(ports, user_id, subject="customer")
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    close_storefront(ports)
    configure_shop(ports, allow_login_without_confirmation=True)
    assert diagnose_sign_in(ports, support, user_id).state == SignInState(
        has_password=False,
        providers=("North ID",),
        mode=PasswordLoginMode.CUSTOMERS_ONLY,
        is_storefront_open=False,
        needs_confirmation=False,
    )


def test_last_attempts_are_told_newest_first(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in_methods, "ATTEMPTS", 2)
    user_id = make_user(ports, first_name="Hanna", last_name="Berg")
    other = make_user(ports, "other@example.com")
    for number in range(3):
        clock.pass_(minutes=1)
        make_sign_in(ports, user_id=user_id, attempts=number + 1, reason="INCORRECT_PASSWORD")
        make_sign_in(ports, user_id=other)
    last, before = diagnose(ports, user_id).attempts
    assert (last.attempts, before.attempts) == (3, 2)
    assert (last.reason, last.at) == (SignInReason.INCORRECT_PASSWORD, clock.now())
    assert (last.first_name, last.last_name) == ("Hanna", "Berg")


def test_blocks_of_recent_addresses_and_of_the_account(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    assert code_of(ports, password="wrong") == "INVALID_CREDENTIALS"
    make_sign_in(ports, user_id=user_id, reason="INCORRECT_PASSWORD")
    for _ in range(MAX_GUESSES):
        ports.throttle.guess(user_id, clock.timestamp())
    blocks = diagnose(ports, user_id).blocks
    assert blocks is not None
    [address] = blocks.addresses
    assert (address.address, address.failures) == (ADDRESS, 1)
    assert blocks.account_until == clock.now() + timedelta(hours=1)


def test_unavailable_throttle_is_told(ports: Ports) -> None:
    user_id = make_user(ports)
    support = actor_of(ports, make_staff(ports, "support@example.com", SUPPORT))
    away = replace(ports, throttle=_Away(ports.database))
    assert diagnose_sign_in(away, support, user_id).blocks is None


@pytest.mark.both_databases
def test_diagnosis_costs_three_statements(ports: Ports) -> None:
    user_id = make_user(ports)
    make_sign_in(ports, user_id=user_id)
    support = actor_of(ports, make_staff(ports, "support@example.com", SUPPORT))
    with recorded_statements() as statements:
        diagnose_sign_in(ports, support, user_id)
    assert len(selects(statements)) == 3


def test_diagnosis_is_for_who_manages_the_account(ports: Ports) -> None:
    customer = make_user(ports)
    support = actor_of(ports, make_staff(ports, "support@example.com", SUPPORT))
    orders = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS))
    for caller, user_id in ((NOBODY, customer), (orders, customer), (support, support.user_id)):
        with pytest.raises(PermissionDenied):
            diagnose_sign_in(ports, caller, user_id or 0)
    with pytest.raises(Refused):
        diagnose_sign_in(ports, support, 999)


class _Away(SqlThrottle):
    """A throttle whose store doesn't respond to what the page asks."""

    @override
    def blocks_of(self, user_id: int, addresses: Collection[str], now: float) -> AccountBlocks:
        raise ThrottleUnavailable("Redis", "it is down")
