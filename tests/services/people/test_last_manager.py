"""Nothing is left without anybody who can manage it, whatever happens at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.people.directory import list_staff
from app.services.people.groups import GroupChanges, delete_group, update_group
from app.services.people.staff import StaffChanges, delete_staff, update_staff
from app.services.people.user_status import deactivate_user
from app.services.people.users import Details
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.services.error_codes import codes

STAFF = Permission.MANAGE_STAFF
ORDERS = Permission.MANAGE_ORDERS
PAGES = Permission.MANAGE_PAGES
ROUNDS = 2

Removal = Callable[[Ports, Actor, int], object]


def user_id(key: int | None) -> str:
    return to_global_id("User", key or 0)


def group_id(key: int) -> str:
    return to_global_id("Group", key)


def deactivate(ports: Ports, actor: Actor, key: int) -> object:
    changes = StaffChanges(Details(is_active=False))
    return update_staff(ports, actor, user_id(key), changes)


def delete(ports: Ports, actor: Actor, key: int) -> object:
    return delete_staff(ports, actor, user_id(key))


def strip(ports: Ports, actor: Actor, key: int) -> object:
    [group] = _groups_of(ports, key)
    changes = StaffChanges(remove_groups=(group_id(group),))
    return update_staff(ports, actor, user_id(key), changes)


def _groups_of(ports: Ports, key: int) -> list[int]:
    everybody = list_staff(ports, OPERATOR, PageRequest(100)).items
    return [group.id for user in everybody if user.id == key for group in user.groups]


def who_manages_staff(ports: Ports) -> list[int]:
    everybody = list_staff(ports, OPERATOR, PageRequest(100)).items
    return [user.id for user in everybody if user.is_active and STAFF in user.permissions]


@pytest.fixture
def rival(database_url: str, clock: FakeClock, ports: Ports) -> Ports:
    """The ports of another process on the same database."""
    return fake_ports(database_url, clock, first_key=1)


@pytest.mark.both_databases
@pytest.mark.parametrize("removal", [deactivate, delete, strip, deactivate_user])
def test_concurrent_removals_keep_one_manager(
    ports: Ports, rival: Ports, removal: Removal
) -> None:
    for number in range(ROUNDS):
        groups = [make_group(ports, f"{number}-{each}", STAFF) for each in range(2)]
        keys = [
            make_user(ports, f"{number}-{group}@example.com", is_staff=True, groups=[group])
            for group in groups
        ]
        actors = [actor_of(ports, key) for key in keys]
        barrier = Barrier(2, timeout=60)

        def remove(place: int, actors: list[Actor] = actors, barrier: Barrier = barrier) -> bool:
            other = actors[1 - place].user_id or 0
            barrier.wait()
            try:
                removal((ports, rival)[place], actors[place], other)
            except Refused as refused:
                problem_codes = {problem.code for problem in refused.problems}
                assert problem_codes <= {"LEFT_NOT_MANAGEABLE_PERMISSION", "NOT_FOUND"}
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(remove, (0, 1)))
        assert sorted(done) == [False, True]
        [left] = who_manages_staff(ports)
        assert left in keys
        delete_staff(ports, OPERATOR, user_id(left))


def test_last_staff_manager_cannot_be_removed(ports: Ports) -> None:
    """A session may hold what its account does not: by the provider's word, say."""
    last = make_staff(ports, "last@example.com", STAFF)
    managers = make_group(ports, "Managers", STAFF)
    visitor = Actor(ActorKind.USER, user_id=4711, permissions=frozenset({STAFF}))
    for removal, field in (
        (delete, "id"),
        (deactivate, "isActive"),
        (deactivate_user, "isActive"),
    ):
        with pytest.raises(Refused) as refused:
            removal(ports, visitor, last)
        assert codes(refused) == [(field, "LEFT_NOT_MANAGEABLE_PERMISSION")]
        assert refused.value.problems[0].permissions == ("MANAGE_STAFF",)
    make_user(ports, "other@example.com", is_staff=True, groups=[managers], is_active=False)
    with pytest.raises(Refused):
        delete(ports, visitor, last)  # whoever is locked out manages nobody
    make_user(ports, "third@example.com", is_staff=True, groups=[managers])
    delete(ports, visitor, last)


def test_superuser_counts_as_a_manager(ports: Ports) -> None:
    make_user(ports, "root@example.com", is_superuser=True)
    boss = make_staff(ports, "boss@example.com", STAFF, ORDERS)
    actor = actor_of(ports, make_staff(ports, "peer@example.com", STAFF, ORDERS))
    delete(ports, actor, boss)
    assert len(who_manages_staff(ports)) == 2


def test_permission_stays_with_someone_who_can_grant_it(ports: Ports) -> None:
    """MANAGE_PAGES is held by a boss, by a group of hers, and by somebody who manages nobody."""
    editors = make_group(ports, "Editors", PAGES)
    make_user(ports, "writer@example.com", is_staff=True, groups=[editors])
    boss = make_user(
        ports, "boss@example.com", is_staff=True, permissions=[STAFF], groups=[editors]
    )
    peer = actor_of(ports, make_staff(ports, "peer@example.com", STAFF))
    visitor = Actor(peer.kind, user_id=peer.user_id, permissions=frozenset({STAFF, PAGES}))
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("id", lambda: delete(ports, visitor, boss)),
        ("isActive", lambda: deactivate(ports, visitor, boss)),
        ("removeGroups", lambda: strip(ports, visitor, boss)),
        ("id", lambda: delete_group(ports, visitor, group_id(editors))),
        (
            "removePermissions",
            lambda: update_group(
                ports,
                visitor,
                group_id(editors),
                GroupChanges(remove_permissions=frozenset({PAGES})),
            ),
        ),
        (
            "removeUsers",
            lambda: update_group(
                ports, visitor, group_id(editors), GroupChanges(remove_users=(user_id(boss),))
            ),
        ),
    ]
    for field, attempt in attempts:
        with pytest.raises(Refused) as refused:
            attempt()
        assert codes(refused) == [(field, "LEFT_NOT_MANAGEABLE_PERMISSION")]
        assert refused.value.problems[0].permissions == ("MANAGE_PAGES",)
    assert _groups_of(ports, boss) == [editors]


@pytest.mark.both_databases
def test_grants_and_revocations_of_one_change_count_together(ports: Ports) -> None:
    editors = make_group(ports, "Editors", PAGES)
    boss = make_user(
        ports, "boss@example.com", is_staff=True, permissions=[STAFF], groups=[editors]
    )
    other = make_staff(ports, "other@example.com", STAFF)
    actor = actor_of(ports, boss)
    changes = GroupChanges(add_users=(user_id(other),), remove_users=(user_id(boss),))
    with pytest.raises(Refused) as refused:
        update_group(ports, actor, group_id(editors), changes)
    assert codes(refused) == [("removeUsers", "CANNOT_REMOVE_FROM_LAST_GROUP")]
    peer = actor_of(ports, make_staff(ports, "peer@example.com", STAFF, PAGES))
    assert update_group(ports, peer, group_id(editors), changes).members == 1


def test_operator_can_leave_permissions_unmanageable(ports: Ports) -> None:
    last = make_staff(ports, "last@example.com", STAFF)
    deactivate_user(ports, OPERATOR, last)
    assert who_manages_staff(ports) == []
