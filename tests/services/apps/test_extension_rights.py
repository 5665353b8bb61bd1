"""What an extension may do: the table over both sides, and every way that either changes."""

from collections.abc import Callable

from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import AppChange, update_app
from app.services.people.groups import GroupChanges, delete_group, update_group
from app.services.people.staff import StaffChanges, update_staff
from tests.builders.apps import make_extension_app
from tests.builders.people import actor_of, change_user, make_group, make_user
from tests.services.extension_setup import ORDERS, PAGES, Scene, acts, set_scene, token_for

USERS = Permission.MANAGE_USERS


def _user_holds(ports: Ports, how: str) -> int:
    groups = [make_group(ports, how, PAGES)] if how in ("by-a-group", "both") else []
    return make_user(
        ports,
        f"{how}@example.com",
        is_staff=True,
        is_superuser=how == "as-a-superuser",
        permissions=[PAGES] if how in ("directly", "both") else [],
        groups=groups,
    )


def test_extension_has_what_both_sides_hold(ports: Ports) -> None:
    holds = make_extension_app(ports, "holds", PAGES, ORDERS)
    lacks = make_extension_app(ports, "lacks", ORDERS)
    for how in ("not-at-all", "directly", "by-a-group", "both", "as-a-superuser"):
        caller = actor_of(ports, _user_holds(ports, how))
        for app in (holds, lacks):
            permissions = acts(ports, token_for(ports, caller, app)).permissions
            assert (PAGES in permissions) is (app is holds and how != "not-at-all"), how
            assert USERS not in permissions, how


def _user_loses(ports: Ports, scene: Scene) -> None:
    with ports.database.transaction() as session:
        of_user = models.UserPermission.user_id == scene.user
        session.execute(delete(models.UserPermission).where(of_user))


def _change_group(ports: Ports, scene: Scene, changes: GroupChanges) -> None:
    update_group(ports, OPERATOR, to_global_id("Group", scene.group), changes)


def _group_gains(ports: Ports, scene: Scene) -> None:
    _change_group(ports, scene, GroupChanges(add_permissions=frozenset({USERS})))


def _group_loses(ports: Ports, scene: Scene) -> None:
    _change_group(ports, scene, GroupChanges(remove_permissions=frozenset({PAGES})))


def _user_joins(ports: Ports, scene: Scene) -> None:
    joined = to_global_id("Group", make_group(ports, "helpers", USERS))
    changes = StaffChanges(add_groups=(joined,))
    update_staff(ports, OPERATOR, to_global_id("User", scene.user), changes)


def _user_leaves(ports: Ports, scene: Scene) -> None:
    changes = StaffChanges(remove_groups=(to_global_id("Group", scene.group),))
    update_staff(ports, OPERATOR, to_global_id("User", scene.user), changes)


def _user_is_made_superuser(ports: Ports, scene: Scene) -> None:
    change_user(ports, scene.user, is_superuser=True)


def _app_gains(ports: Ports, scene: Scene) -> None:
    _grant(ports, scene, ORDERS, PAGES, USERS, Permission.MANAGE_SETTINGS)


def _app_loses(ports: Ports, scene: Scene) -> None:
    _grant(ports, scene, PAGES, USERS)


def _app_loses_all(ports: Ports, scene: Scene) -> None:
    _grant(ports, scene)


def _grant(ports: Ports, scene: Scene, *permissions: Permission) -> None:
    change = AppChange(permissions=frozenset(permissions))
    update_app(ports, OPERATOR, scene.app.id, change)


CHANGES: tuple[tuple[Callable[[Ports, Scene], None], set[Permission]], ...] = (
    (_app_loses, {PAGES}),
    (_app_gains, {ORDERS, PAGES}),
    (_group_gains, {ORDERS, PAGES, USERS}),
    (_group_loses, {ORDERS, USERS}),
    (_user_leaves, {ORDERS}),
    (_user_joins, {ORDERS, USERS}),
    (_user_loses, {USERS}),
    (_user_is_made_superuser, {ORDERS, PAGES, USERS, Permission.MANAGE_SETTINGS}),
    (_app_loses_all, set()),
)
"""One after the other, and what is left after each."""


def test_changes_of_user_or_app_apply_to_the_next_request(
    ports: Ports, second_process: Ports
) -> None:
    """The person holds ORDERS and, by the group, PAGES; the app these two and USERS."""
    scene = set_scene(ports)
    _grant(ports, scene, ORDERS, PAGES, USERS)
    assert acts(second_process, scene.token).permissions == {ORDERS, PAGES}
    for change, left in CHANGES:
        change(ports, scene)
        assert acts(second_process, scene.token).permissions == left, change


def test_permissions_of_a_deleted_group_are_gone_at_the_next_request(
    ports: Ports, second_process: Ports
) -> None:
    scene = set_scene(ports)
    assert acts(second_process, scene.token).permissions == {ORDERS, PAGES}
    delete_group(ports, OPERATOR, to_global_id("Group", scene.group))
    assert acts(second_process, scene.token).permissions == {ORDERS}


def test_former_superuser_keeps_direct_grants(ports: Ports) -> None:
    scene = set_scene(ports)
    change_user(ports, scene.user, is_superuser=True)
    _grant(ports, scene, ORDERS, PAGES, USERS)
    assert acts(ports, scene.token).permissions == {ORDERS, PAGES, USERS}
    change_user(ports, scene.user, is_superuser=False)
    assert acts(ports, scene.token).permissions == {ORDERS, PAGES}
