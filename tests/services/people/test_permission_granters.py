"""Whom to ask for what one may not do."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.identity.permission_holders import NAMED, list_permission_granters
from tests.builders.people import (
    NOBODY,
    actor_of,
    change_user,
    make_group,
    make_staff,
    make_user,
    sign_in,
)
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

STAFF, PLUGINS, APPS = (Permission.MANAGE_STAFF, Permission.MANAGE_PLUGINS, Permission.MANAGE_APPS)


def granter_names(ports: Ports, *missing: Permission) -> list[str]:
    return [granter.email for granter in list_permission_granters(ports, OPERATOR, missing)]


def test_staff_managers_with_the_permission_can_grant_it(ports: Ports) -> None:
    group = make_group(ports, "Developers", PLUGINS)
    managers = make_group(ports, "Managers", STAFF)
    make_staff(ports, "holds@example.com", PLUGINS)
    make_staff(ports, "manages@example.com", STAFF)
    make_staff(ports, "direct@example.com", STAFF, PLUGINS)
    make_user(ports, "customer@example.com", groups=[group, managers])
    by_group = make_user(
        ports,
        "ines@example.com",
        is_staff=True,
        groups=[group, managers],
        first_name="Ines",
        last_name="Duarte",
    )
    make_user(ports, "root@example.com", is_superuser=True)
    gone = make_staff(ports, "gone@example.com", STAFF, PLUGINS)
    change_user(ports, gone, is_active=False)
    assert set(granter_names(ports, PLUGINS)) == {
        "direct@example.com",
        "ines@example.com",
        "root@example.com",
    }
    found = {
        granter.id: granter for granter in list_permission_granters(ports, OPERATOR, [PLUGINS])
    }
    assert found[by_group].name == "Ines Duarte"
    assert found[by_group].groups == ("Developers", "Managers")
    assert {granter.groups for granter in found.values() if granter.id != by_group} == {()}


def test_granters_hold_all_missing_permissions(ports: Ports) -> None:
    make_staff(ports, "one@example.com", STAFF, PLUGINS)
    make_staff(ports, "both@example.com", STAFF, PLUGINS, APPS)
    assert granter_names(ports, PLUGINS, APPS) == ["both@example.com"]


def test_granters_are_sorted_by_last_use_without_the_caller(
    ports: Ports, clock: FakeClock
) -> None:
    early, late, never, me = (
        make_staff(ports, f"{name}@example.com", STAFF, PLUGINS)
        for name in ("early", "late", "never", "me")
    )
    sign_in(ports, early)
    clock.pass_(minutes=5)
    sign_in(ports, late)
    found = list_permission_granters(ports, actor_of(ports, me), [PLUGINS])
    assert [granter.id for granter in found] == [late, early, never]
    assert [granter.last_used_at for granter in found] == [
        clock.now(),
        clock.now() - timedelta(minutes=5),
        None,
    ]
    assert found[0].name == "late@example.com"


@pytest.mark.both_databases
def test_few_granters_are_listed_in_one_statement(ports: Ports) -> None:
    for number in range(NAMED + 1):
        make_staff(ports, f"s{number}@example.com", STAFF)
    with recorded_statements() as statements:
        assert len(granter_names(ports, STAFF)) == NAMED
    assert len(selects(statements)) == 1


def test_granters_are_shown_to_staff_only(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        list_permission_granters(ports, NOBODY, [PLUGINS])
