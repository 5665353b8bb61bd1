"""A shop to try things on."""

import pytest

from app.domain.actor import OPERATOR, Actor, anonymous
from app.domain.errors import PermissionDenied
from app.domain.pages import PageRequest
from app.domain.permissions import ALL_PERMISSIONS, Permission
from app.ports import Ports
from app.services.app_lists import list_apps
from app.services.demo import SignIn, fill_shop, is_in_use
from app.services.directory import find_user, list_users
from app.services.groups import NewGroup, create_group, list_groups
from app.services.identity import identify
from app.services.login import create_token
from app.services.users import NewUser, create_user
from tests.builders.people import NOBODY, visit

EVERYTHING = PageRequest(100)


def filled(ports: Ports, actor: Actor = OPERATOR) -> list[SignIn]:
    made: list[SignIn] = []
    fill_shop(ports, actor, made.append)
    return made


def stop(_made: SignIn) -> None:
    raise KeyboardInterrupt


def test_every_sign_in_that_is_told_works(ports: Ports) -> None:
    made = filled(ports)
    roles = [sign_in.role for sign_in in made]
    assert roles == ["superuser", "manager", "support", "customer", "app"]
    for sign_in in made[:-1]:
        user = create_token(ports, NOBODY, email=sign_in.name, password=sign_in.secret).user
        assert user.is_staff is (sign_in.role != "customer")
        assert user.is_superuser is (sign_in.role == "superuser")
    app = identify(ports, visit(made[-1].secret)).actor
    assert app.permissions == {Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}


def test_the_demo_has_groups_one_of_them_with_every_permission(ports: Ports) -> None:
    filled(ports)
    groups = {group.name: group for group in list_groups(ports, OPERATOR, EVERYTHING).items}
    assert set(groups) == {"Full Access", "Shop managers", "Customer support"}
    assert groups["Full Access"].permissions == ALL_PERMISSIONS
    assert {group.members for group in groups.values()} == {1}


def test_a_second_time_adds_nobody_and_tells_no_password_again(ports: Ports) -> None:
    first = filled(ports)
    before = list_users(ports, OPERATOR, EVERYTHING).items
    assert filled(ports) == []
    assert list_users(ports, OPERATOR, EVERYTHING).items == before
    assert len(list_apps(ports, OPERATOR, EVERYTHING).items) == 1
    create_token(ports, NOBODY, email=first[0].name, password=first[0].secret)


def test_whoever_is_there_already_stays_as_they_are(ports: Ports) -> None:
    create_group(ports, OPERATOR, NewGroup("Shop managers"))
    create_user(ports, OPERATOR, NewUser("admin@example.com", "Someone", "Else"))
    made = filled(ports)
    assert "admin@example.com" not in {sign_in.name for sign_in in made}
    admin = find_user(ports, OPERATOR, "admin@example.com")
    assert (admin.first_name, admin.is_superuser) == ("Someone", False)
    assert find_user(ports, OPERATOR, "manager@example.com").permissions == frozenset()


def test_every_password_is_made_up_and_none_shows_in_a_trace(ports: Ports) -> None:
    made = filled(ports)
    secrets = [sign_in.secret for sign_in in made]
    assert len(set(secrets)) == len(secrets)
    assert all(len(secret) >= 16 for secret in secrets)
    assert not any(secret in repr(made) for secret in secrets)


def test_a_filling_that_was_interrupted_goes_on(ports: Ports) -> None:
    with pytest.raises(KeyboardInterrupt):
        fill_shop(ports, OPERATOR, stop)
    assert not is_in_use(ports, OPERATOR)
    assert [sign_in.role for sign_in in filled(ports)] == ["manager", "support", "customer", "app"]
    assert is_in_use(ports, OPERATOR)


def test_a_shop_is_in_use_when_somebody_else_is_there(ports: Ports) -> None:
    assert not is_in_use(ports, OPERATOR)
    create_user(ports, OPERATOR, NewUser("ann@example.com"))
    assert is_in_use(ports, OPERATOR)


def test_a_shop_is_in_use_when_a_demo_person_has_signed_in(ports: Ports) -> None:
    told: list[SignIn] = []

    def note_and_stop(sign_in: SignIn) -> None:
        told.append(sign_in)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_shop(ports, OPERATOR, note_and_stop)
    create_token(ports, NOBODY, email=told[0].name, password=told[0].secret)
    assert is_in_use(ports, OPERATOR)


def test_nobody_from_outside_fills_a_shop(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        filled(ports, anonymous())
    with pytest.raises(PermissionDenied):
        is_in_use(ports, anonymous())
