"""The staff, narrowed to a group and to those who come in some way."""

import pytest

from app.domain.accounts.search import SignInMethod, UserFilter, UserSort
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.people.directory import list_staff
from tests.builders.people import make_group, make_user
from tests.builders.provider_records import ISSUER_THERE, link_identity, make_provider


def names(ports: Ports, filter_: UserFilter, page: PageRequest = PageRequest(100)) -> list[str]:  # noqa: B008
    found = list_staff(ports, OPERATOR, page, filter_)
    return [user.email.partition("@")[0] for user in found.items]


@pytest.fixture
def support(ports: Ports) -> int:
    """A group with two of the staff and a customer in it, beside others who are not."""
    group = make_group(ports, "Support", Permission.MANAGE_ORDERS)
    other = make_group(ports, "Other")
    make_user(ports, "zoe@example.com", is_staff=True, groups=[group, other])
    make_user(ports, "eve@example.com", is_staff=True, groups=[other])
    make_user(ports, "ann@example.com", is_staff=True, groups=[group], is_active=False)
    make_user(ports, "customer@example.com", groups=[group])
    return group


def test_group_members_can_be_sorted_and_filtered(ports: Ports, support: int) -> None:
    assert names(ports, UserFilter(group_id=support)) == ["zoe", "ann"]
    assert names(ports, UserFilter(group_id=support, sort=UserSort.EMAIL)) == ["ann", "zoe"]
    assert names(ports, UserFilter(group_id=support, is_active=True)) == ["zoe"]
    assert names(ports, UserFilter(group_id=support, search="example")) == ["zoe", "ann"]
    assert names(ports, UserFilter(group_id=support + 100)) == []


def test_listed_users_have_all_their_groups(ports: Ports, support: int) -> None:
    zoe, _ = list_staff(ports, OPERATOR, PageRequest(9), UserFilter(group_id=support)).items
    assert sorted(group.name for group in zoe.groups) == ["Other", "Support"]


def test_filtered_list_is_paged_and_counted(ports: Ports, support: int) -> None:
    filter_ = UserFilter(group_id=support)
    first = list_staff(ports, OPERATOR, PageRequest(1), filter_)
    assert (first.has_next, first.count()) == (True, 2)
    rest = PageRequest(1, cursor=read_cursor(first.cursors[-1], "after"))
    assert names(ports, filter_, rest) == ["ann"]


@pytest.mark.both_databases
def test_staff_are_filtered_by_sign_in_method(ports: Ports) -> None:
    make_provider(ports)
    make_provider(ports, "resting", issuer="", active=False)
    for email, password, issuer in (
        ("word", "x", ""),
        ("stranger", "x", "https://nobody.invalid"),
        ("sso", None, ISSUER_THERE),
        ("both", "x", ISSUER_THERE),
        ("bare", None, "resting|https://idp.example"),
        ("invited", None, ""),
    ):
        key = make_user(ports, f"{email}@example.com", password=password, is_staff=True)
        if issuer:
            link_identity(ports, key, issuer=issuer)
    for way, found in (
        (SignInMethod.PASSWORD, ["stranger", "word"]),
        (SignInMethod.SINGLE_SIGN_ON, ["bare", "sso"]),
        (SignInMethod.BOTH, ["both"]),
        (SignInMethod.NEITHER, ["invited"]),
        (SignInMethod.NO_SIGN_ON, ["bare", "invited", "stranger", "word"]),
    ):
        filter_ = UserFilter(signs_in_by=way, sort=UserSort.EMAIL)
        assert names(ports, filter_) == found, way
