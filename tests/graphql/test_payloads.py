"""What webhooks are told, by their queries on the schema."""

import json
from dataclasses import replace
from typing import cast

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import (
    ACCOUNT_EVENTS,
    AccountConfirmed,
    AccountEmailChanged,
    AddressCreated,
    AddressDeleted,
    AddressUpdated,
    AppUpdated,
    Event,
    Occurrence,
    default_query,
)
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.addresses import delete_user_address
from app.services.webhooks.event_subjects import Snapshot
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.outbox import events
from tests.builders.people import ISSUER, make_user


@pytest.fixture
def listener(ports: Ports) -> Actor:
    key, _ = make_app(ports, "listener", Permission.MANAGE_APPS)
    return Actor(
        ActorKind.APP, app_id=key, permissions=frozenset((Permission.MANAGE_APPS,)), issuer=ISSUER
    )


def _happened(ports: Ports, listener: Actor) -> Occurrence:
    return Occurrence(
        AppUpdated(listener.app_id or 0), ports.clock.now(), recipient_id=listener.app_id
    )


def test_payload_has_the_events_own_fields(ports: Ports, listener: Actor) -> None:
    query = "subscription { event { issuedAt ...on AppUpdated { app { id name } } } }"
    payload = ports.payloads.make(ports, listener, query, _happened(ports, listener))

    assert json.loads(payload) == {
        "issuedAt": "2026-03-01T12:00:00+00:00",
        "app": {"id": to_global_id("App", listener.app_id or 0), "name": "listener"},
    }


@pytest.mark.parametrize(("default", "shown"), [("true", {"name": "listener"}), ("false", {})])
def test_default_of_a_variable_applies(
    ports: Ports, listener: Actor, default: str, shown: dict[str, str]
) -> None:
    query = (
        f"subscription ($x: Boolean = {default}) {{ event {{"
        " ...on AppUpdated { app { __typename name @include(if: $x) } } } }"
    )
    assert ports.payloads.check(query)
    payload = ports.payloads.make(ports, listener, query, _happened(ports, listener))
    assert json.loads(payload) == {"app": {"__typename": "App", **shown}}


def test_default_page_size_counts_for_the_limit_of_a_query(ports: Ports) -> None:
    query = (
        "subscription ($n: Int = 100) { event { ...on AppUpdated { app { webhooks {"
        " eventDeliveries(first: $n) { edges { node { attempts(first: $n) { edges { node {"
        " id createdAt duration response } } } } } } } } } } }"
    )
    assert ports.payloads.check(query.replace("= 100", "= 1"))
    with pytest.raises(Refused) as refused:
        ports.payloads.check(query)
    assert refused.value.problems[0].code == "INVALID"


def test_payload_resolves_fragments(ports: Ports, listener: Actor) -> None:
    query = "subscription { event { ...A } } fragment A on AppUpdated { app { name } }"
    payload = ports.payloads.make(ports, listener, query, _happened(ports, listener))

    assert json.loads(payload) == {"app": {"name": "listener"}}


def test_default_query_of_every_event_runs(ports: Ports, listener: Actor) -> None:
    query = default_query(AppUpdated)
    payload = ports.payloads.make(ports, listener, query, _happened(ports, listener))

    assert json.loads(payload)["app"]["name"] == "listener"


def test_forbidden_payload_field_is_refused_with_its_reason(ports: Ports, listener: Actor) -> None:
    nobody = replace(listener, permissions=frozenset())
    query = "subscription { event { ...on AppUpdated { app { name } } } }"
    with pytest.raises(Refused, match="MANAGE_APPS"):
        ports.payloads.make(ports, nobody, query, _happened(ports, nobody))


def _app(ports: Ports, *permissions: Permission) -> Actor:
    key, _ = make_app(ports, "reader", *permissions)
    return Actor(ActorKind.APP, app_id=key, permissions=frozenset(permissions), issuer=ISSUER)


def _payload(ports: Ports, app: Actor, event: Event, fields: str) -> dict[str, object]:
    query = f"subscription {{ event {{ ...on {type(event).__name__} {{ {fields} }} }} }}"
    occurrence = Occurrence(event, ports.clock.now(), recipient_id=app.app_id)
    payload: dict[str, object] = json.loads(ports.payloads.make(ports, app, query, occurrence))
    return payload


@pytest.mark.parametrize("kind", ACCOUNT_EVENTS)
def test_events_of_accounts_tell_of_the_shop(ports: Ports, kind: type[Event]) -> None:
    key = make_user(ports, "ann@example.com", is_staff=bool(kind.subject.of_staff))
    app = _app(ports, Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
    fields = "channel { slug } token redirectUrl shop { name domain { host } }"
    shown = _payload(ports, app, kind(key), fields)
    assert shown.keys() == {"channel", "token", "redirectUrl", "shop"}
    assert (shown["channel"], shown["shop"]) == (
        None,
        {"name": "Latchkey shop", "domain": {"host": "localhost:8000"}},
    )
    assert not shown["token"]
    assert not shown["redirectUrl"]


def test_settings_of_the_shop_in_events_need_their_permission(ports: Ports) -> None:
    event = AccountConfirmed(make_user(ports, "ann@example.com"))
    readers = Permission.MANAGE_USERS, Permission.MANAGE_SETTINGS
    fields = "shop { customerSetPasswordUrl }"
    assert _payload(ports, _app(ports, *readers), event, fields)["shop"]
    with pytest.raises(Refused, match="MANAGE_SETTINGS"):
        _payload(ports, _app(ports, Permission.MANAGE_USERS), event, fields)


def test_event_of_a_changed_email_has_the_email(ports: Ports) -> None:
    event = AccountEmailChanged(make_user(ports, "new@example.com"))
    app = _app(ports, Permission.MANAGE_USERS)
    assert _payload(ports, app, event, "newEmail") == {"newEmail": "new@example.com"}


def test_addresses_of_staff_are_in_payloads_of_staff_managers_alone(ports: Ports) -> None:
    managers = {
        "customers": _app(ports, Permission.MANAGE_USERS),
        "staff": _app(ports, Permission.MANAGE_USERS, Permission.MANAGE_STAFF),
    }
    for is_staff, readers in ((False, {"customers", "staff"}), (True, {"staff"})):
        owner = make_user(ports, f"{is_staff}@example.com", is_staff=is_staff)
        key = make_address(ports, owner)
        other = to_global_id("Address", make_address(ports, owner, is_default=False))
        delete_user_address(ports, OPERATOR, other)
        deleted = next(each for each in events(ports)[::-1] if each.type == "ADDRESS_DELETED")
        for event in (
            AddressCreated(key),
            AddressUpdated(key),
            AddressDeleted(
                deleted.subject_id, snapshot=cast("Snapshot", deleted.data["snapshot"])
            ),
        ):
            shown = {
                name
                for name, app in managers.items()
                if _payload(ports, app, event, "address { id city }")["address"]
            }
            assert shown == readers, event
