"""Whom a provider lets in, and who would stand outside without it."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.shop.impact import BoundedCount
from app.services.single_sign_on.provider_coverage import (
    show_provider_coverage,
    show_provider_disable_impact,
)
from tests.builders.people import actor_of, change_user, make_staff, make_user
from tests.builders.provider_records import (
    ISSUER_THERE,
    link_identity,
    make_provider,
    sign_in_by_grant,
)
from tests.builders.shop import set_mode
from tests.fixtures.statements import recorded_statements, selects

OTHER = "https://other.example.com"


@pytest.mark.both_databases
def test_people_and_open_sessions_are_counted_by_provider(ports: Ports) -> None:
    key = make_provider(ports)
    make_provider(ports, "acme", issuer="")
    make_provider(ports, "acme-two", issuer="")
    ann, bob = make_user(ports, "ann@example.com"), make_user(ports, "bob@example.com")
    link_identity(ports, ann)
    link_identity(ports, bob)
    link_identity(ports, bob, issuer=f"acme|{OTHER}")
    sign_in_by_grant(ports, ann, key, "")
    show_provider_coverage(ports, OPERATOR, [])
    with recorded_statements() as statements:
        found = show_provider_coverage(ports, OPERATOR, ["default", "acme", "acme-two", "none"])
    assert set(found) == {"default", "acme", "acme-two"}
    assert (found["default"].people, found["default"].sessions) == (
        BoundedCount(2),
        BoundedCount(1),
    )
    assert (found["acme"].people, found["acme"].sessions) == (BoundedCount(1), BoundedCount(0))
    assert found["acme-two"].people == BoundedCount(0)
    assert len(selects(statements)) <= 2
    assert show_provider_coverage(ports, OPERATOR, ["none"]) == {}


def test_people_without_another_sign_in_method_are_counted(ports: Ports) -> None:
    make_provider(ports)
    for email, staff in (("ann@example.com", True), ("bob@example.com", False)):
        link_identity(ports, make_user(ports, email, password=None, is_staff=staff))
    link_identity(ports, make_staff(ports, "carl@example.com"))
    found = show_provider_disable_impact(ports, OPERATOR, "default")
    assert (found.people, found.losing_access, found.staff_losing_access) == (
        BoundedCount(3),
        2,
        1,
    )
    assert found.named == ("ann@example.com",)


def test_login_mode_decides_whether_passwords_count(ports: Ports) -> None:
    make_provider(ports)
    link_identity(ports, make_staff(ports, "carl@example.com"))
    link_identity(ports, make_user(ports, "dora@example.com"))
    assert show_provider_disable_impact(ports, OPERATOR, "default").losing_access == 0
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert show_provider_disable_impact(ports, OPERATOR, "default").named == ("carl@example.com",)
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert show_provider_disable_impact(ports, OPERATOR, "default").losing_access == 2


def test_second_working_provider_keeps_access(ports: Ports) -> None:
    make_provider(ports)
    make_provider(ports, "acme", issuer=OTHER)
    ann = make_user(ports, "ann@example.com", password=None)
    link_identity(ports, ann)
    link_identity(ports, ann, issuer=OTHER)
    assert show_provider_disable_impact(ports, OPERATOR, "default").losing_access == 0
    make_provider(ports, "acme", issuer=OTHER, active=False)
    assert show_provider_disable_impact(ports, OPERATOR, "default").losing_access == 1
    change_user(ports, ann, is_active=False)
    assert show_provider_disable_impact(ports, OPERATOR, "default").losing_access == 0


def test_incomplete_provider_locks_out_no_one(ports: Ports) -> None:
    make_provider(ports, user_info_url="")
    link_identity(ports, make_user(ports, "ann@example.com", password=None, is_staff=True))
    found = show_provider_disable_impact(ports, OPERATOR, "default")
    assert (found.people, found.losing_access, found.staff_losing_access) == (
        BoundedCount(1),
        0,
        0,
    )
    assert found.named == ()


def test_coverage_requires_manage_plugins(ports: Ports) -> None:
    make_provider(ports)
    link_identity(ports, make_staff(ports), issuer=ISSUER_THERE)
    actor = actor_of(ports, make_staff(ports, "orders@example.com", Permission.MANAGE_ORDERS))
    with pytest.raises(PermissionDenied):
        show_provider_coverage(ports, actor, ["default"])
    with pytest.raises(PermissionDenied):
        show_provider_disable_impact(ports, actor, "default")
    with pytest.raises(Refused):
        show_provider_disable_impact(ports, OPERATOR, "nobody")
