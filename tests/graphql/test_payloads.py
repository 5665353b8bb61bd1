"""What webhooks are told, by their queries on the schema."""

import json
from dataclasses import replace

import pytest

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import AppUpdated, Occurrence, default_query
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import ISSUER


@pytest.fixture
def listener(ports: Ports) -> Actor:
    key, _ = make_app(ports, "listener", Permission.MANAGE_APPS)
    return Actor(
        ActorKind.APP,
        app_id=key,
        permissions=frozenset((Permission.MANAGE_APPS,)),
        issuer=ISSUER,
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
    assert ports.payloads.check(query).events
    payload = ports.payloads.make(ports, listener, query, _happened(ports, listener))
    assert json.loads(payload) == {"app": {"__typename": "App", **shown}}


def test_default_page_size_counts_for_the_limit_of_a_query(ports: Ports) -> None:
    query = (
        "subscription ($n: Int = 100) { event { ...on AppUpdated { app { webhooks {"
        " eventDeliveries(first: $n) { edges { node { attempts(first: $n) { edges { node {"
        " id createdAt duration response } } } } } } } } } } }"
    )
    assert ports.payloads.check(query.replace("= 100", "= 1")).events
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
