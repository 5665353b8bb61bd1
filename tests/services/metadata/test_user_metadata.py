"""Users' metadata: public for its owner, private for those who manage the user."""

from dataclasses import replace

import pytest

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange
from app.ports import Ports
from app.services.identity.users import load_user
from app.services.metadata import (
    change_user_metadata,
    private_metadata_of_users,
    public_metadata_of_users,
)
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

APP = Actor(ActorKind.APP, app_id=3, permissions=frozenset({Permission.MANAGE_USERS}))
SET = MetadataChange(values=(("size", "M"), ("color", "grün 🦊")))
PRIVATE = replace(SET, is_private=True)


def user_of(ports: Ports, key: int) -> User:
    with ports.database.reading() as session:
        return load_user(session, key)


def test_customer_changes_their_own_public_metadata(ports: Ports, clock: FakeClock) -> None:
    key = make_user(ports)
    own = actor_of(ports, key)
    clock.pass_(minutes=1)
    user = change_user_metadata(ports, own, to_global_id("User", key), SET)
    assert user.updated_at == clock.now()
    assert public_metadata_of_users(ports, own, [user]) == {key: {"color": "grün 🦊", "size": "M"}}
    change = MetadataChange(deleted_keys=("size", "none"))
    change_user_metadata(ports, own, to_global_id("User", key), change)
    assert public_metadata_of_users(ports, own, [user]) == {key: {"color": "grün 🦊"}}
    told = ["CUSTOMER_UPDATED", "CUSTOMER_METADATA_UPDATED"]
    assert [event.type for event in events(ports)] == told * 2


def test_audit_names_changed_keys_without_values(ports: Ports) -> None:
    key = make_user(ports)
    change_user_metadata(ports, actor_of(ports, key), to_global_id("User", key), SET)
    change_user_metadata(ports, actor_of(ports, key), to_global_id("User", key), SET)
    (row,) = trail(ports, "user.update_metadata")
    assert (row.before, row.after) == ({}, {"public": ["color", "size"]})


def test_customer_reaches_no_private_metadata(ports: Ports) -> None:
    key = make_user(ports)
    own, user = actor_of(ports, key), user_of(ports, key)
    for call in (
        lambda: change_user_metadata(ports, own, to_global_id("User", key), PRIVATE),
        lambda: private_metadata_of_users(ports, own, [user]),
    ):
        with pytest.raises(PermissionDenied):
            call()


def test_managers_reach_private_metadata_of_customers(ports: Ports) -> None:
    key = make_user(ports)
    manager = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS))
    for actor in (APP, manager):
        user = change_user_metadata(ports, actor, to_global_id("User", key), PRIVATE)
        assert private_metadata_of_users(ports, actor, [user]) == {key: dict(sorted(SET.values))}
        assert public_metadata_of_users(ports, actor, [user]) == {key: {}}


def test_customer_managers_cannot_change_staff(ports: Ports) -> None:
    staff = make_staff(ports)
    with pytest.raises(PermissionDenied) as denied:
        change_user_metadata(ports, APP, to_global_id("User", staff), SET)
    assert denied.value.required == (Permission.MANAGE_STAFF,)


def test_staff_manager_cannot_change_who_has_more_permissions(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_SETTINGS)
    manager = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF))
    with pytest.raises(Refused) as refused:
        change_user_metadata(ports, manager, to_global_id("User", staff), SET)
    assert [problem.code for problem in refused.value.problems] == ["OUT_OF_SCOPE_USER"]


def test_strangers_and_extensions_change_nobodys_metadata(ports: Ports) -> None:
    key = make_user(ports)
    other = actor_of(ports, make_user(ports, "other@example.com"))
    extension = replace(actor_of(ports, key), app_id=3)
    for actor in (NOBODY, other, extension, replace(APP, permissions=frozenset())):
        for id_ in (to_global_id("User", key), to_global_id("User", 4711)):
            with pytest.raises(PermissionDenied):
                change_user_metadata(ports, actor, id_, SET)
    assert trail(ports, "user.update_metadata") == []


def test_unknown_user_is_not_found(ports: Ports) -> None:
    for id_ in (to_global_id("User", 4711), to_global_id("App", 1), "garbage", ""):
        with pytest.raises(Refused) as refused:
            change_user_metadata(ports, APP, id_, SET)
        assert [problem.code for problem in refused.value.problems] == ["NOT_FOUND"]


def test_preview_shows_no_private_metadata_that_its_viewer_cannot_see(ports: Ports) -> None:
    user = user_of(ports, make_user(ports))
    viewer = actor_of(ports, make_staff(ports))
    with pytest.raises(PermissionDenied):
        private_metadata_of_users(ports, replace(APP, previewed_by=viewer), [user])


@pytest.mark.both_databases
def test_metadata_of_a_page_is_one_statement(ports: Ports) -> None:
    users = [user_of(ports, make_user(ports, f"{name}@example.com")) for name in "abc"]
    with recorded_statements() as statements:
        assert len(public_metadata_of_users(ports, APP, users)) == 3
    assert len(selects(statements)) == 1
