"""What may be granted."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Caller,
    Permission,
    in_order,
    known_permissions,
)
from tests.fixtures.cases import cases

NAMES = [permission.value for permission in Permission]


def test_permissions_are_listed_by_name_as_existing_clients_got_them() -> None:
    listed = [permission.value for permission in in_order(ALL_PERMISSIONS)]

    assert listed == sorted(NAMES, key=str.lower)
    assert listed.index("MANAGE_PAGE_TYPES_AND_ATTRIBUTES") < listed.index("MANAGE_PAGES")


@given(st.frozensets(st.sampled_from(Permission)))
def test_listing_has_every_permission_once(permissions: frozenset[Permission]) -> None:
    listed = in_order(permissions)

    assert frozenset(listed) == permissions
    assert len(listed) == len(permissions)


@given(st.lists(st.sampled_from(NAMES) | st.text()))
def test_unknown_permission_names_are_ignored(names: list[str]) -> None:
    assert {permission.value for permission in known_permissions(names)} == set(names) & set(NAMES)


@cases("names", [None, "MANAGE_APPS", 7, {"MANAGE_APPS": True}, object()])
def test_non_list_grants_no_permissions(names: object) -> None:
    assert known_permissions(names) == frozenset()


def test_permission_reads_as_plain_words() -> None:
    assert Permission.MANAGE_GIFT_CARD.label == "Manage gift card"
    assert len({permission.label for permission in Permission}) == len(Permission)


def test_caller_kinds_have_the_contracts_names() -> None:
    assert {caller.value for caller in Caller} == {
        "AUTHENTICATED_USER",
        "AUTHENTICATED_STAFF_USER",
        "AUTHENTICATED_APP",
    }
