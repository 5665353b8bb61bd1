"""Pictures of people: drawn anew, shown to anybody who knows the name, gone with their owner."""

from io import BytesIO

import pytest
from PIL import Image
from sqlalchemy import select

from app import models
from app.domain.accounts.users import AVATAR_SIZES, MAX_AVATAR_SIZE
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.inputs import Upload
from app.ports import Ports
from app.services.accounts.account_details import delete_avatar, show_avatar, update_avatar
from tests.builders.audit import trail
from tests.builders.images import picture
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, user_as_stored
from tests.services.error_codes import codes


def stored_names(ports: Ports) -> set[str]:
    with ports.database.reading() as session:
        return set(session.scalars(select(models.Avatar.name)))


def test_avatar_is_stored_in_every_size_under_a_new_name(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports))
    name = update_avatar(ports, ann, picture()).avatar
    assert len(name) == 32
    for size in AVATAR_SIZES:
        data = show_avatar(ports, NOBODY, name, size)
        assert data is not None
        with Image.open(BytesIO(data)) as image:
            assert (image.format, image.size) == ("WEBP", (size, size))
    assert show_avatar(ports, NOBODY, name, 100) is None
    assert show_avatar(ports, NOBODY, "x" * 32, 64) is None


def test_new_avatar_has_a_new_name_and_deletes_the_old_files(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports))
    first = update_avatar(ports, ann, picture()).avatar
    second = update_avatar(ports, ann, picture()).avatar
    assert first != second
    assert stored_names(ports) == {second}


def test_avatar_deletion_is_idempotent(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports))
    update_avatar(ports, ann, picture())
    for _ in range(2):
        assert delete_avatar(ports, ann).avatar == ""
    assert stored_names(ports) == set()
    assert [row.after for row in trail(ports, "account.avatar")] == [
        {"avatar": True},
        {"avatar": False},
    ]


def test_avatar_is_deleted_with_its_owner(ports: Ports) -> None:
    ann = make_user(ports)
    update_avatar(ports, actor_of(ports, ann), picture())
    with ports.database.transaction() as session:
        session.delete(session.get_one(models.User, ann))
    assert stored_names(ports) == set()


def test_other_users_avatars_are_kept(ports: Ports) -> None:
    ann, bob = (actor_of(ports, make_user(ports, f"{name}@example.com")) for name in ("a", "b"))
    avatar = update_avatar(ports, bob, picture()).avatar
    update_avatar(ports, ann, picture())
    delete_avatar(ports, ann)
    assert stored_names(ports) == {avatar}


def test_account_changes_are_published(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    bob = make_staff(ports, "bob@example.com")
    for key in (ann, bob):
        update_avatar(ports, actor_of(ports, key), picture())
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CUSTOMER_UPDATED", ann),
        ("STAFF_UPDATED", bob),
    ]


def test_non_image_file_changes_nothing(ports: Ports) -> None:
    key = make_user(ports)
    actor = actor_of(ports, key)
    avatar = update_avatar(ports, actor, picture()).avatar
    for data, code in (
        (b"<svg onload='alert(1)'/>", "INVALID"),
        (b"", "INVALID"),
        (b"\0" * (MAX_AVATAR_SIZE + 1), "FILE_SIZE_LIMIT_EXCEEDED"),
    ):
        with pytest.raises(Refused) as refused:
            update_avatar(ports, actor, Upload("me.png", "image/png", data))
        assert codes(refused) == [("image", code)]
        assert user_as_stored(ports, key).avatar == avatar
        assert stored_names(ports) == {avatar}


def test_staff_in_a_password_session_can_set_an_avatar(ports: Ports) -> None:
    bob = make_staff(ports, "bob@example.com")
    with ports.database.transaction() as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
        shop.password_login_mode = PasswordLoginMode.CUSTOMERS_ONLY.value
    user = update_avatar(ports, actor_of(ports, bob, SessionOrigin.PASSWORD), picture())
    assert user.avatar
    assert not user.is_staff


def test_avatar_can_be_set_by_its_owner_only(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    extension = Actor(ActorKind.USER, user_id=make_user(ports), app_id=1)
    for actor in (NOBODY, app, extension):
        with pytest.raises(PermissionDenied):
            update_avatar(ports, actor, picture())
        with pytest.raises(PermissionDenied):
            delete_avatar(ports, actor)
