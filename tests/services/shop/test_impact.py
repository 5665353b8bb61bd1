"""What a change of the doors would do, in numbers that follow the records."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.adapters.activity import SqlActivity
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import LockoutReason
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate, Switches, TrafficKind
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.shop import impact
from app.services.shop.impact import BoundedCount, show_impact
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import make_app
from tests.builders.people import NOBODY, actor_of, change_user, make_staff, make_user, sign_in
from tests.builders.provider_records import link_identity, make_provider, open_sso_session
from tests.builders.shop import close_storefront, set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

MODES = ENABLED, CUSTOMERS_ONLY, DISABLED = tuple(PasswordLoginMode)
OIDC = SessionOrigin.OIDC


@pytest.fixture
def busy(ports: Ports, clock: FakeClock) -> Iterator[Ports]:
    """Ports that write down what they see."""
    activity = SqlActivity(ports.database, clock, 3600.0)
    yield replace(ports, activity=activity)
    activity.close()


def see(ports: Ports, **requests: int) -> None:
    for kind, count in requests.items():
        for _ in range(count):
            ports.activity.count_request(TrafficKind(kind))
    ports.activity.flush()


def test_staff_without_sso_are_counted_as_losing_rights(ports: Ports) -> None:
    make_provider(ports)
    by_password = make_staff(ports, "tom@example.com")
    with_both = make_staff(ports, "ines@example.com")
    link_identity(ports, with_both)
    gone = make_staff(ports, "gone@example.com")
    for user_id in (by_password, by_password, with_both, gone):
        sign_in(ports, user_id)
    sign_in(ports, with_both, OIDC)
    change_user(ports, gone, is_active=False)
    impact = show_impact(ports, OPERATOR)
    assert (impact.numbers.staff, impact.numbers.staff_active) == (3, 2)
    assert (impact.numbers.staff_without_sign_on, impact.numbers.staff_with_sign_on) == (1, 1)
    for mode in (CUSTOMERS_ONLY, DISABLED):
        restricted = impact.login_mode(mode)
        assert (restricted.staff_losing_rights, restricted.staff_sessions) == (1, 3)
    assert [(member.email, member.sessions) for member in impact.staff_by_password] == [
        ("tom@example.com", 2)
    ]
    link_identity(ports, by_password)
    second = show_impact(ports, OPERATOR)
    assert second.login_mode(CUSTOMERS_ONLY).staff_losing_rights == 0
    assert second.staff_by_password == ()


def test_customers_with_only_a_password_are_counted_as_losing_access(
    ports: Ports, clock: FakeClock
) -> None:
    make_provider(ports)
    only = make_user(ports, "a@example.com")
    both = make_user(ports, "b@example.com")
    link_identity(ports, both)
    linked = make_user(ports, "c@example.com", password=None)
    link_identity(ports, linked)
    make_user(ports, "d@example.com", is_active=False)
    sign_in(ports, only)
    sign_in(ports, both)
    sign_in(ports, linked, OIDC)
    impact = show_impact(ports, OPERATOR)
    assert impact.counted_at == clock.now()
    assert impact.numbers.customers == BoundedCount(4)
    assert impact.login_mode(DISABLED).customers_losing_access == BoundedCount(1)
    assert impact.login_mode(DISABLED).sessions_rejected == BoundedCount(2)
    assert impact.login_mode(CUSTOMERS_ONLY).customers_losing_access == BoundedCount(0)
    assert impact.login_mode(CUSTOMERS_ONLY).sessions_rejected == BoundedCount(0)
    clock.pass_(hours=31 * 24)
    assert show_impact(ports, OPERATOR).login_mode(DISABLED).sessions_rejected == BoundedCount(0)


def test_sso_sessions_that_no_provider_refreshes_are_counted(
    ports: Ports, clock: FakeClock
) -> None:
    make_provider(ports, oauth_token_url="https://login.invalid/token")
    person = make_user(ports)
    link_identity(ports, person)
    for refresh_token in ("", "", "theirs"):
        open_sso_session(ports, person, refresh_token=refresh_token)
    sign_in(ports, person)

    def counted() -> list[int]:
        impact = show_impact(ports, OPERATOR)
        return [impact.login_mode(mode).sessions_without_refresh.number for mode in MODES]

    assert counted() == [0, 0, 2]
    open_sso_session(ports, person, in_console=True)
    assert counted() == [0, 0, 2]
    for change in ({"enable_refresh_token": "false"}, {"enable_refresh_token": "true"}):
        save_provider(ports, OPERATOR, "default", ProviderUpdate(change))
        assert counted()[2] == (3 if change["enable_refresh_token"] == "false" else 2)
    save_provider(ports, OPERATOR, "default", ProviderUpdate({}, active=False))
    assert counted()[2] == 3
    clock.pass_(hours=31 * 24)
    assert counted() == [0, 0, 0]


def test_enabling_password_login_has_no_negative_impact(ports: Ports) -> None:
    sign_in(ports, make_staff(ports))
    set_mode(ports, DISABLED)
    mode_impact = show_impact(ports, OPERATOR).login_mode(ENABLED)
    assert (
        mode_impact.staff_losing_rights,
        mode_impact.staff_sessions,
        mode_impact.is_current,
    ) == (0, 0, False)
    assert (mode_impact.customers_losing_access, mode_impact.sessions_rejected) == (
        BoundedCount(0),
        BoundedCount(0),
    )


def test_large_counts_are_bounded(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impact, "MAX_COUNTED", 2)
    for name in "abc":
        make_user(ports, f"{name}@example.com")
    numbers = show_impact(ports, OPERATOR).numbers
    assert numbers.customers == BoundedCount(2, is_more=True)
    assert numbers.customers_by_password == BoundedCount(2, is_more=True)


def test_storefront_impact_uses_the_last_hours_requests(busy: Ports, clock: FakeClock) -> None:
    see(busy, anonymous=5)
    clock.pass_(hours=2)
    see(busy, anonymous=3, customer=2, invalid=1, staff=4, app=6)
    impact = show_impact(busy, OPERATOR)
    closed = impact.storefront_traffic(allow=False)
    assert (closed.would_refuse, closed.lets_through, closed.is_current) == (6, 10, False)
    opened = impact.storefront_traffic(allow=True)
    assert (opened.would_refuse, opened.lets_through, opened.is_current) == (0, 16, True)
    see(busy, anonymous=1)
    assert show_impact(busy, OPERATOR).storefront_traffic(allow=False).would_refuse == 7


def test_impact_includes_refusal_and_lockout(ports: Ports) -> None:
    make_provider(ports)
    manager = make_staff(ports, "manager@example.com", Permission.MANAGE_SETTINGS)
    by_password = show_impact(ports, actor_of(ports, manager)).login_mode(CUSTOMERS_ONLY)
    assert by_password.refusal is not None
    assert by_password.refusal.code == "PASSWORD_AUTH_RESTRICTION"
    assert by_password.lockout.reason is LockoutReason.NO_IDENTITY
    link_identity(ports, manager)
    by_sign_on = show_impact(ports, actor_of(ports, manager, OIDC)).login_mode(CUSTOMERS_ONLY)
    assert by_sign_on.refusal is None
    assert (by_sign_on.lockout.is_locked_out, by_sign_on.lockout.people) == (False, 1)


def test_last_change_of_each_switch_is_shown(ports: Ports, clock: FakeClock) -> None:
    assert show_impact(ports, OPERATOR).mode_changed is None
    manager = make_staff(ports, "manager@example.com", Permission.MANAGE_SETTINGS)
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=CUSTOMERS_ONLY))
    clock.pass_(hours=1)
    actor = actor_of(ports, manager, OIDC)
    update_shop(ports, actor, ShopUpdate(allow_storefront_traffic=False, name="Other"))
    impact = show_impact(ports, OPERATOR)
    assert impact.switches == Switches(CUSTOMERS_ONLY, allow_storefront_traffic=False)
    assert impact.mode_changed is not None
    assert impact.mode_changed.actor_kind == "operator"
    assert impact.storefront_changed is not None
    assert (impact.storefront_changed.actor_name, impact.storefront_changed.actor_user_id) == (
        "manager@example.com",
        manager,
    )
    assert impact.storefront_changed.at == clock.now()


def test_unaffected_apps_are_counted(ports: Ports) -> None:
    make_app(ports, "on")
    make_app(ports, "off", is_active=False)
    close_storefront(ports)
    impact = show_impact(ports, OPERATOR)
    assert impact.numbers.apps == BoundedCount(1)
    assert impact.storefront_traffic(allow=False).is_current


@pytest.mark.both_databases
def test_page_costs_four_statements_for_any_data(ports: Ports) -> None:
    with recorded_statements() as statements:
        show_impact(ports, OPERATOR)
    assert len(selects(statements)) == 4


def test_impact_requires_manage_settings(ports: Ports) -> None:
    other = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_STAFF))
    for actor in (NOBODY, other):
        with pytest.raises(PermissionDenied):
            show_impact(ports, actor)
