"""People change their own names; whoever manages customers changes theirs."""

from dataclasses import replace

import pytest

from app.domain.accounts.addresses import AddressChange
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Caller, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.ports import Ports
from app.services.accounts.account_details import Details, update_account
from app.services.metadata import public_metadata_of_users
from tests.builders.addresses import addresses_of
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, user_as_stored
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.services.error_codes import codes

APP = Actor(
    ActorKind.APP, app_id=3, name="crm", permissions=frozenset({Permission.IMPERSONATE_USER})
)


def test_user_changes_their_own_name(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports, first_name="Ann", last_name="Lee")
    actor = actor_of(ports, user_id)
    clock.pass_(minutes=1)
    user = update_account(ports, actor, Details("Änn 🦊", "Lee-李"))
    assert (user.first_name, user.last_name) == ("Änn 🦊", "Lee-李")
    assert user.updated_at == clock.now()
    (row,) = trail(ports, "account.update")
    assert row.before == {"first_name": "Ann", "last_name": "Lee"}
    assert row.after == {"first_name": "Änn 🦊", "last_name": "Lee-李"}
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CUSTOMER_UPDATED", user_id)
    ]


def test_omitted_name_is_kept(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Ann", last_name="Lee")
    user = update_account(ports, actor_of(ports, user_id), Details(ABSENT, ""))
    assert (user.first_name, user.last_name) == ("Ann", "")


def test_unchanged_values_are_not_audited(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Ann")
    update_account(ports, actor_of(ports, user_id), Details("Ann"))
    update_account(ports, actor_of(ports, user_id), Details())
    assert (events(ports), trail(ports, "account.update")) == ([], [])


def test_staff_name_change_publishes_staff_updated(ports: Ports) -> None:
    staff = make_staff(ports)
    update_account(ports, actor_of(ports, staff), Details("Ann"))
    assert [event.type for event in events(ports)] == ["STAFF_UPDATED"]


def test_result_shows_the_sessions_effective_permissions(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_USERS)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    user = update_account(ports, actor_of(ports, staff), Details("Ann"))
    assert (user.is_staff, user.permissions) == (False, frozenset())


def test_name_must_be_one_line(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Ann")
    actor = actor_of(ports, user_id)
    for name in ("a\r\nb", "\x00", "\x1b[31m", "a\u2029b", "\ud83e", "x" * 257):
        with pytest.raises(Refused) as refused:
            update_account(ports, actor, Details(name, name))
        assert [(problem.field, problem.code) for problem in refused.value.problems] == [
            ("firstName", "INVALID"),
            ("lastName", "INVALID"),
        ], name
    assert user_as_stored(ports, user_id).first_name == "Ann"


def test_apps_and_anonymous_callers_have_no_account(ports: Ports) -> None:
    powerless = replace(APP, permissions=frozenset())
    extension = replace(actor_of(ports, make_user(ports)), app_id=3)
    for actor in (NOBODY, powerless, extension):
        with pytest.raises(PermissionDenied):
            update_account(ports, actor, Details("Ann"))


def test_deleted_user_is_anonymous(ports: Ports) -> None:
    actor = replace(actor_of(ports, make_user(ports)), user_id=4711)
    with pytest.raises(PermissionDenied):
        update_account(ports, actor, Details("Ann"))


def test_app_acts_for_a_customer_and_both_are_audited(ports: Ports) -> None:
    customer = make_user(ports, "ann@example.com")
    user = update_account(ports, APP, Details("Ann"), to_global_id("User", customer))
    assert (user.id, user.first_name) == (customer, "Ann")
    [event] = events(ports)
    assert event.principal == ("App", 3)
    [row] = trail(ports, "account.update")
    assert (row.actor_name, row.actor_app_id) == ("crm", 3)
    assert (row.subject_name, row.subject_id) == ("ann@example.com", str(customer))


@pytest.mark.parametrize("customer_id", [None, ""])
def test_app_must_name_the_customer(ports: Ports, customer_id: str | None) -> None:
    with pytest.raises(Refused) as refused:
        update_account(ports, APP, Details("Ann"), customer_id)
    assert codes(refused) == [("customerId", "REQUIRED")]


def test_app_acts_only_for_customers(ports: Ports) -> None:
    staff = to_global_id("User", make_staff(ports))
    for id_ in (staff, to_global_id("User", 4711), to_global_id("App", 1), "garbage"):
        with pytest.raises(Refused) as refused:
            update_account(ports, APP, Details("Ann"), id_)
        assert codes(refused) == [("customerId", "NOT_FOUND")]


def test_only_apps_with_impersonate_user_act_for_customers(ports: Ports) -> None:
    customer = make_user(ports)
    id_ = to_global_id("User", customer)
    powerless = replace(APP, permissions=ALL_PERMISSIONS - {Permission.IMPERSONATE_USER})
    for actor in (NOBODY, powerless):
        with pytest.raises(PermissionDenied) as denied:
            update_account(ports, actor, Details("Ann"), id_)
        assert denied.value.required == (Caller.USER, Permission.IMPERSONATE_USER)
    boss = actor_of(ports, make_staff(ports, "boss@example.com", *ALL_PERMISSIONS))
    extension = replace(boss, app_id=3)
    for actor in (actor_of(ports, customer), boss, extension):
        with pytest.raises(Refused) as refused:
            update_account(ports, actor, Details("Ann"), id_)
        assert codes(refused) == [("customerId", "INVALID")]
    assert user_as_stored(ports, customer).first_name == ""


def test_account_update_adds_and_changes_default_addresses(ports: Ports) -> None:
    key = make_user(ports)
    own = actor_of(ports, key)
    new = AddressChange(
        street_address_1="Długa 1", city="OPOLE", postal_code="45-001", country="PL"
    )
    update_account(ports, own, Details(billing_address=new))
    update_account(ports, own, Details(billing_address=replace(new, street_address_1="Długa 2")))
    (address,) = addresses_of(ports, key)
    assert (address.street_address_1, address.city) == ("Długa 2", "OPOLE")
    assert address.is_default_billing_address
    assert not address.is_default_shipping_address
    assert [row.after for row in trail(ports, "account.update")] == [
        {"default_billing_address": address.id}
    ] * 2


def test_account_update_sets_public_metadata(ports: Ports) -> None:
    key = make_user(ports)
    own = actor_of(ports, key)
    update_account(ports, own, Details(metadata=(("a", "1"), ("b", "2"))))
    user = update_account(ports, own, Details(metadata=(("b", "3"),)))
    assert public_metadata_of_users(ports, own, [user]) == {key: {"a": "1", "b": "3"}}
    with pytest.raises(Refused) as refused:
        update_account(ports, own, Details(metadata=(("", "1"),)))
    (problem,) = refused.value.problems
    assert (problem.field, problem.code) == ("metadata", "REQUIRED")


def test_invalid_default_address_changes_nothing(ports: Ports) -> None:
    key = make_user(ports, first_name="Ann")
    own = actor_of(ports, key)
    with pytest.raises(Refused):
        update_account(ports, own, Details("Bea", shipping_address=AddressChange(country="US")))
    skipping = AddressChange(country="US", skips_validation=True)
    with pytest.raises(PermissionDenied):
        update_account(ports, own, Details("Bea", shipping_address=skipping))
    assert user_as_stored(ports, key).first_name == "Ann"
    assert addresses_of(ports, key) == []
