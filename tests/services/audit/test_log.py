"""The audit trail: quality, "Security", Audit."""

import pytest

from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind, anonymous
from app.ports import Ports
from app.services.audit.log import Change, record
from tests.builders.audit import trail
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

STAFF = Actor(ActorKind.USER, user_id=7, app_id=3, name="staff@example.com", address="2001:db8::1")


def write(ports: Ports, actor: Actor, change: Change) -> None:
    with ports.database.transaction() as session:
        record(ports, actor, session, change)


def test_audit_entry_has_actor_action_subject_time_and_address(
    ports: Ports, clock: FakeClock
) -> None:
    clock.pass_(hours=3)

    write(
        ports,
        STAFF,
        Change("app.update", "App", 9, "Importer", {"name": "Old"}, {"name": "Importer"}),
    )

    [row] = trail(ports, "app.update")
    assert (row.actor_kind, row.actor_user_id, row.actor_app_id) == ("user", 7, 3)
    assert (row.actor_name, row.address, row.at) == (
        "staff@example.com",
        "2001:db8::1",
        clock.now(),
    )
    assert (row.subject_type, row.subject_id, row.subject_name) == ("App", "9", "Importer")
    assert (row.before, row.after) == ({"name": "Old"}, {"name": "Importer"})


@cases(("actor", "name"), [(OPERATOR, "operator"), (WORKER, "worker"), (anonymous(), "anonymous")])
def test_actor_without_name_is_named_by_kind(ports: Ports, actor: Actor, name: str) -> None:
    write(ports, actor, Change("x", "Shop", 1))

    *_, row = trail(ports, "x")
    assert (row.actor_kind, row.actor_name, row.address) == (name, name, "")
    assert (row.actor_user_id, row.actor_app_id) == (None, None)


def test_audit_entry_is_written_with_its_change_or_not_at_all(ports: Ports) -> None:
    def break_off() -> None:
        with ports.database.transaction() as session:
            record(ports, OPERATOR, session, Change("x", "Shop", 1))
            raise LookupError

    with pytest.raises(LookupError):
        break_off()

    assert trail(ports, "x") == []


def test_before_and_after_values_can_be_any_json(ports: Ports) -> None:
    after: dict[str, object] = {
        "text": "Früchte 🛍",
        "number": 7,
        "flag": False,
        "nothing": None,
        "list": ["MANAGE_APPS", {"deep": [1.5]}],
    }

    write(ports, OPERATOR, Change("x", "Shop", 1, after=after))

    [row] = trail(ports, "x")
    assert (row.before, row.after) == ({}, after)
