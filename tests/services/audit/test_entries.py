"""Looking through the audit trail."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from app import models, services
from app.domain.audit import MAX_TEXT_LENGTH, AuditFilter, Topic
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.audit import entries as audit_lists
from app.services.audit.entries import export_entries, list_entries, show_entry
from app.services.audit.log import Change, record
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

PAGE = PageRequest(50)
INES = Actor(ActorKind.USER, user_id=1, name="ines@example.com", address="203.0.113.9")
APP = Actor(ActorKind.APP, app_id=1, name="Stocksync", address=ADDRESS)


def note(ports: Ports, actor: Actor, action: str, subject: str = "Shop:1", name: str = "") -> None:
    kind, _, key = subject.partition(":")
    with ports.database.transaction() as session:
        change = Change(action, kind, key, name, {"name": "old"}, {"name": "new"})
        record(ports, actor, session, change)


@pytest.fixture
def trail(ports: Ports, clock: FakeClock) -> Ports:
    """Five changes, an hour apart."""
    for actor, action, subject, name in (
        (INES, "shop.update", "Shop:1", "Northlight"),
        (OPERATOR, "keys.rotate", "SigningKey:kid_1", ""),
        (APP, "app.update", "App:1", "100 % Stock"),
        (INES, "app_token.create", "App:2", "Ledgerly"),
        (INES, "user.sign_out", "User:7", "tom@example.com"),
    ):
        note(ports, actor, action, subject, name)
        clock.pass_(hours=1)
    return ports


def actions(ports: Ports, filter_: AuditFilter) -> list[str]:
    return [entry.action for entry in list_entries(ports, OPERATOR, PAGE, filter_).items]


def test_newest_change_is_listed_first_with_its_values(trail: Ports, clock: FakeClock) -> None:
    first, *others = list_entries(trail, OPERATOR, PAGE).items
    assert (first.at, first.actor_kind, first.actor_user_id, first.actor_name) == (
        clock.now() - timedelta(hours=1),
        "user",
        1,
        "ines@example.com",
    )
    assert (first.address, first.action) == ("203.0.113.9", "user.sign_out")
    assert (first.subject_type, first.subject_id, first.subject_name) == (
        "User",
        "7",
        "tom@example.com",
    )
    assert (first.before, first.after) == ({"name": "old"}, {"name": "new"})
    assert len(others) == 4
    assert show_entry(trail, OPERATOR, first.id) == first
    assert show_entry(trail, OPERATOR, 10_000) is None


@cases(
    ("filter_", "found"),
    [
        (AuditFilter(user_id=1), ["user.sign_out", "app_token.create", "shop.update"]),
        (AuditFilter(app_id=1), ["app.update"]),
        (AuditFilter(actor_kind="operator"), ["keys.rotate"]),
        (AuditFilter(action="app.update"), ["app.update"]),
        (AuditFilter(topic=Topic.APPS), ["app_token.create", "app.update"]),
        (AuditFilter(topic=Topic.ACCESS, user_id=1), ["shop.update"]),
        (AuditFilter(subject_type="App", subject_id="2"), ["app_token.create"]),
        (AuditFilter(text="INES"), ["user.sign_out", "app_token.create", "shop.update"]),
        (AuditFilter(text=" ledger "), ["app_token.create"]),
        (AuditFilter(text="203.0.113.9", topic=Topic.KEYS), []),
        (AuditFilter(text="0 % s"), ["app.update"]),
        (AuditFilter(text="%"), ["app.update"]),
        (AuditFilter(text="rotate"), ["keys.rotate"]),
        (AuditFilter(text="\0"), []),
    ],
)
def test_entries_are_searched_by_actor_subject_and_text(
    trail: Ports, filter_: AuditFilter, found: list[str]
) -> None:
    assert actions(trail, filter_) == found


def test_entries_are_found_by_time(trail: Ports, clock: FakeClock) -> None:
    since, until = clock.now() - timedelta(hours=4), clock.now() - timedelta(hours=2)
    found = actions(trail, AuditFilter(since=since, until=until))
    assert found == ["app_token.create", "app.update", "keys.rotate"]
    just_before = until - timedelta(microseconds=1)
    assert actions(trail, AuditFilter(since=since, until=just_before)) == found[1:]


@pytest.mark.both_databases
def test_pages_continue_after_the_previous_one(trail: Ports) -> None:
    first = list_entries(trail, OPERATOR, PageRequest(2))
    rest = PageRequest(9, cursor=read_cursor(first.cursors[-1], "after"))
    assert [item.action for item in first.items] == ["user.sign_out", "app_token.create"]
    assert first.has_next
    assert first.count() == 5
    with recorded_statements() as statements:
        second = list_entries(trail, OPERATOR, rest)
    assert [item.action for item in second.items] == ["app.update", "keys.rotate", "shop.update"]
    assert (second.has_next, second.has_previous) == (False, True)
    assert len(selects(statements)) == 1


def test_text_search_covers_only_the_newest_entries(
    trail: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.domain.audit.MAX_SEARCHED", 2)
    assert actions(trail, AuditFilter(text="ines")) == ["user.sign_out", "app_token.create"]
    assert actions(trail, AuditFilter(text="ines", topic=Topic.ACCESS)) == ["shop.update"]


def test_overlong_search_text_is_refused(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        actions(ports, AuditFilter(text="x" * (MAX_TEXT_LENGTH + 1)))
    assert [(problem.code, problem.field) for problem in refused.value.problems] == [
        ("INVALID", "text")
    ]


def test_export_holds_every_entry_once(trail: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_lists, "_EXPORTED_AT_ONCE", 2)
    exported = list(export_entries(trail, OPERATOR))
    assert exported == list(list_entries(trail, OPERATOR, PAGE).items)
    filter_ = AuditFilter(topic=Topic.KEYS)
    assert [entry.action for entry in export_entries(trail, OPERATOR, filter_)] == ["keys.rotate"]


def test_audit_log_requires_manage_staff(ports: Ports) -> None:
    other = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_SETTINGS))
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    for actor in (NOBODY, other, app):
        with pytest.raises(PermissionDenied):
            list_entries(ports, actor, PAGE)
        with pytest.raises(PermissionDenied):
            show_entry(ports, actor, 1)
        with pytest.raises(PermissionDenied):
            export_entries(ports, actor)


def test_entries_of_one_moment_keep_their_order(ports: Ports, clock: FakeClock) -> None:
    rows = [
        {
            "at": clock.now(),
            "actor_kind": "operator",
            "action": f"keys.{number}",
            "subject_type": "SigningKey",
            "subject_id": str(number),
            "before": {},
            "after": {},
        }
        for number in range(5)
    ]
    with ports.database.transaction() as session:
        session.execute(insert(models.AuditEntry), rows)
    first = list_entries(ports, OPERATOR, PageRequest(3))
    rest = PageRequest(3, cursor=read_cursor(first.cursors[-1], "after"))
    second = list_entries(ports, OPERATOR, rest)
    found = [item.subject_id for item in (*first.items, *second.items)]
    assert found == ["4", "3", "2", "1", "0"]


def test_every_action_belongs_to_a_topic() -> None:
    beginnings = {word for topic in Topic for word in topic.beginnings}
    folder = Path(services.__file__).parent
    sources = (path for path in folder.rglob("*.py") if folder / "demo" not in path.parents)
    written = {
        found[1]
        for source in sources
        for found in re.finditer(r'"([a-z_]+)\.[a-z_]+"(?=[,\s])', source.read_text())
        if "Change(" in source.read_text()
    }
    assert {"shop", "keys", "app"} <= written
    assert written <= beginnings
