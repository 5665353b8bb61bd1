"""Security events are written once their change is committed, without personal data."""

from dataclasses import dataclass, field, replace

import pytest

from app.domain.audit import SecurityEvent
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.sign_in.sign_in_log import mask_email
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.keys import rotate_keys
from tests.builders.people import ADDRESS, make_user
from tests.services.logins import EMAIL, GHOST, WRONG, code_of, log_in

STAFF = Actor(ActorKind.USER, user_id=7, app_id=3, name="staff@example.com", address="2001:db8::1")


@dataclass
class Recorder:
    """A security log that keeps what is written."""

    events: list[tuple[SecurityEvent, dict[str, object]]] = field(default_factory=list)

    def write(self, event: SecurityEvent, **fields: object) -> None:
        self.events.append((event, fields))


@pytest.fixture
def log() -> Recorder:
    return Recorder()


@pytest.fixture
def watched(ports: Ports, log: Recorder) -> Ports:
    return replace(ports, security_log=log)


def test_change_is_an_event_with_ids_but_no_names(watched: Ports, log: Recorder) -> None:
    before = {"permissions": [], "email": "old@example.com", "is_staff": True}
    after = {"permissions": ["MANAGE_STAFF"], "email": "new@example.com", "is_staff": True}
    change = Change("staff.update", "User", 9, "new@example.com", before, after)
    with watched.database.transaction() as session:
        record(watched, STAFF, session, change)
        assert log.events == []
    [(event, fields)] = log.events
    assert event is SecurityEvent.PERMISSIONS_CHANGED
    assert fields == {
        "caller_kind": "user",
        "caller": "User:7",
        "via_app": "App:3",
        "client_ip": "2001:db8::1",
        "action": "staff.update",
        "subject": "User:9",
        "changed": ["email", "permissions"],
        "before": {"permissions": []},
        "after": {"permissions": ["MANAGE_STAFF"]},
    }


def test_rolled_back_change_is_no_event(watched: Ports, log: Recorder) -> None:
    def break_off() -> None:
        with watched.database.transaction() as session:
            record(watched, OPERATOR, session, Change("staff.delete", "User", 1))
            raise LookupError

    with pytest.raises(LookupError):
        break_off()
    with watched.database.transaction() as session:
        record(watched, OPERATOR, session, Change("order.update", "Order", 1))
    assert log.events == []


def test_key_rotation_is_an_event(watched: Ports, log: Recorder) -> None:
    rotate_keys(watched, OPERATOR, force=True)
    event, fields = log.events[-1]
    assert (event, fields["action"]) == (SecurityEvent.ADMIN, "keys.rotate")
    assert fields["changed"] == ["active", "next"]
    assert fields["before"] != fields["after"]


def test_sign_ins_and_blocks_are_events(watched: Ports, log: Recorder) -> None:
    user = make_user(watched, EMAIL)
    log_in(watched)
    code_of(watched, EMAIL, WRONG)
    code_of(watched, GHOST, WRONG)
    found = [entry for entry in log.events if entry[0] is not SecurityEvent.ADMIN]
    assert [(event, fields.get("reason")) for event, fields in found] == [
        (SecurityEvent.LOGIN_SUCCESS, None),
        (SecurityEvent.LOGIN_LOCK, None),
        (SecurityEvent.LOGIN_FAIL, "INCORRECT_PASSWORD"),
        (SecurityEvent.LOGIN_FAIL, "BLOCKED_IP"),
    ]
    assert found[0][1]["subject"] == f"User:{user}"
    assert {fields["client_ip"] for _, fields in found} == {ADDRESS}
    assert found[2][1]["account"] == mask_email(EMAIL)
    assert EMAIL not in str(log.events)
