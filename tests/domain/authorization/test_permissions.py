"""What may be granted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Caller,
    Permission,
    in_order,
    known,
)

NAMES = [permission.value for permission in Permission]


def test_permissions_are_listed_by_name_as_existing_clients_got_them() -> None:
    listed = [permission.value for permission in in_order(ALL_PERMISSIONS)]

    assert listed == sorted(NAMES, key=str.lower)
    assert listed.index("MANAGE_PAGE_TYPES_AND_ATTRIBUTES") < listed.index("MANAGE_PAGES")


@given(st.frozensets(st.sampled_from(Permission)))
def test_listing_loses_and_repeats_nothing(permissions: frozenset[Permission]) -> None:
    listed = in_order(permissions)

    assert frozenset(listed) == permissions
    assert len(listed) == len(permissions)


@given(st.lists(st.sampled_from(NAMES) | st.text()))
def test_names_that_no_permission_has_count_as_none(names: list[str]) -> None:
    assert {permission.value for permission in known(names)} == set(names) & set(NAMES)


@pytest.mark.parametrize("names", [None, "MANAGE_APPS", 7, {"MANAGE_APPS": True}, object()])
def test_non_list_grants_nothing(names: object) -> None:
    assert known(names) == frozenset()


def test_a_permission_reads_as_plain_words() -> None:
    assert Permission.MANAGE_GIFT_CARD.label == "Manage gift card"
    assert len({permission.label for permission in Permission}) == len(Permission)


def test_the_kinds_of_caller_have_the_names_of_the_contract() -> None:
    assert {caller.value for caller in Caller} == {
        "AUTHENTICATED_USER",
        "AUTHENTICATED_STAFF_USER",
        "AUTHENTICATED_APP",
    }
