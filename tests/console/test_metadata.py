"""Metadata on the pages of people and apps: shown, set and deleted."""

from dataclasses import dataclass

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.metadata import MAX_KEY_LENGTH
from app.ports import Ports
from app.services.identity.stored_metadata import Owner, private_metadata, public_metadata
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import make_user
from tests.console.conftest import StaffConsole

APPS, ORDERS, STAFF, USERS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
)
PUBLIC, PRIVATE = {"color": "dark blue"}, {"score": "17 & <b>rising</b>"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the metadata of a kind of object is shown, sent to, kept and recorded."""

    page: str
    forms: str
    owner: Owner
    action: str


PLACES = {
    "customer": Place("customers", "people", models.User, "user.update_metadata"),
    "parcel_post": Place("apps", "apps", models.App, "app.update_metadata"),
}


def keep(shop: Ports, owner: Owner, key: int) -> None:
    """Store the sample metadata of a record."""
    with shop.database.transaction() as session:
        changed = update(owner).where(owner.id == key)
        session.execute(changed.values(public_metadata=PUBLIC, private_metadata=PRIVATE))


def kept(shop: Ports, owner: Owner, key: int) -> tuple[dict[str, str], dict[str, str]]:
    public, private = (read(shop, owner, (key,)) for read in (public_metadata, private_metadata))
    return dict(public[key]), dict(private[key])


@pytest.fixture
def customer(shop: Ports) -> int:
    key = make_user(shop)
    keep(shop, models.User, key)
    return key


@pytest.fixture
def parcel_post(shop: Ports) -> int:
    key, _ = make_app(shop, "Parcel Post")
    keep(shop, models.App, key)
    return key


def test_managers_see_public_and_private_metadata(
    staff_console: StaffConsole, customer: int, parcel_post: int
) -> None:
    console = staff_console(USERS, APPS)
    for path in (f"customers/{customer}", f"apps/{parcel_post}"):
        page = console.open(f"/console/{path}")
        assert "Key Value Access Actions color dark blue Public Edit … Delete …" in page.text
        assert "score 17 & <b>rising</b> Private Edit … Delete …" in page.text


def test_others_see_public_metadata_alone(
    staff_console: StaffConsole, customer: int, parcel_post: int
) -> None:
    console = staff_console(ORDERS)
    page = console.open(f"/console/customers/{customer}?ask=add-metadata")
    assert "Key Value Access color dark blue Public" in page.text
    for hidden in ("score", "Edit …", "Add key …", "Save metadata"):
        assert hidden not in page.text
    page = console.open(f"/console/apps/{parcel_post}?ask=add-metadata")
    assert "Parcel Post" in page.text
    for hidden in ("Metadata", "dark blue", "score", "Add key …", "Save metadata"):
        assert hidden not in page.text


def test_staff_members_have_metadata(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop, "tom@example.com", is_staff=True)
    console = staff_console(STAFF)
    page = console.open(f"/console/staff/{key}")
    assert "No metadata" in page.text
    form = {"scope": "private", "new_name": " desk ", "value": "one\r\ntwo"}
    saved = console.send(f"/console/metadata/people/{key}/save", form)
    assert saved.leads_to == f"/console/staff/{key}"
    assert "Saved desk." in console.follow(saved).text
    assert kept(shop, models.User, key) == ({}, {"desk": "one\ntwo"})


@pytest.mark.one_of("kind")
@pytest.mark.parametrize("kind", ["customer", "parcel_post"])
def test_key_is_added_edited_and_deleted(
    staff_console: StaffConsole, shop: Ports, kind: str, request: pytest.FixtureRequest
) -> None:
    key = request.getfixturevalue(kind)
    place = PLACES[kind]
    there, form = f"/console/{place.page}/{key}", f"/console/metadata/{place.forms}/{key}"
    console = staff_console(USERS, APPS)
    dialog = console.open(f"{there}?ask=add-metadata").text
    assert "Access Public Private" in dialog
    new = {"scope": "public", "new_name": "size", "value": "L"}
    assert "Saved size." in console.follow(console.send(f"{form}/save", new)).text
    edited = {"scope": "private", "name": "score", "value": "18"}
    dialog = console.open(f"{there}?ask=edit-metadata&scope=private&name=score").html
    assert "17 &amp; &lt;b&gt;rising&lt;/b&gt;</textarea>" in dialog
    console.send(f"{form}/save", edited)
    question = console.open(f"{there}?ask=delete-metadata&scope=public&name=color").text
    assert "Delete color?" in question
    assert "This can't be undone." in question
    deleted = {"scope": "public", "name": "color"}
    assert "Deleted color." in console.follow(console.send(f"{form}/delete", deleted)).text
    assert kept(shop, place.owner, key) == ({"size": "L"}, {"score": "18"})
    assert [entry.after for entry in trail(shop, place.action)] == [
        {"public": ["size"]},
        {"private": ["score"]},
        {"public": ["color"]},
    ]


def test_key_with_spaces_is_not_taken_for_another(
    staff_console: StaffConsole, shop: Ports, customer: int
) -> None:
    """An app can store such a key, and deleting it must not delete the one without spaces."""
    twins = {" color ": "red", "color": "dark blue"}
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(public_metadata=twins))
    console = staff_console(USERS)
    page = console.open(
        f"/console/customers/{customer}?ask=edit-metadata&scope=public&name=+color+"
    )
    assert 'name="name" value=" color "' in page.html
    form = {"scope": "public", "name": " color ", "value": "green"}
    path = f"/console/metadata/people/{customer}"
    console.send(f"{path}/save", form)
    assert kept(shop, models.User, customer)[0] == {" color ": "green", "color": "dark blue"}
    console.send(f"{path}/delete", form)
    assert kept(shop, models.User, customer)[0] == {"color": "dark blue"}


def test_long_value_scrolls_by_keyboard(staff_console: StaffConsole, customer: int) -> None:
    console = staff_console(USERS)
    path = f"/console/customers/{customer}"
    assert 'lk-metadata-value" tabindex' not in console.open(path).html
    long = {"scope": "public", "name": "color", "value": "blue " * 100}
    console.send(f"/console/metadata/people/{customer}/save", long)
    assert 'lk-metadata-value" tabindex="0"' in console.open(path).html


def test_dialogs_about_unknown_keys_are_not_shown(
    staff_console: StaffConsole, customer: int
) -> None:
    console = staff_console(USERS)
    for query in (
        "ask=delete-metadata&scope=public&name=score",
        "ask=edit-metadata&scope=none&name=color",
        "ask=delete-metadata",
    ):
        page = console.open(f"/console/customers/{customer}?{query}")
        assert 'id="dlg-t"' not in page.html


def test_invalid_key_is_refused_with_its_reason(
    staff_console: StaffConsole, shop: Ports, customer: int
) -> None:
    console = staff_console(USERS)
    for name, reason in (
        ("  ", "Metadata key can't be empty."),
        ("k" * (MAX_KEY_LENGTH + 1), "Metadata keys can have at most 256 characters."),
    ):
        form = {"scope": "public", "new_name": name, "value": "x"}
        refused = console.send(f"/console/metadata/people/{customer}/save", form)
        assert reason in console.follow(refused).text
    assert kept(shop, models.User, customer) == (PUBLIC, PRIVATE)


def test_people_beyond_the_viewer_are_only_read(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop, "boss@example.com", is_staff=True, permissions=[STAFF, APPS])
    keep(shop, models.User, key)
    console = staff_console(STAFF)
    page = console.open(f"/console/staff/{key}").text
    assert "score 17" in page
    assert "Add key …" not in page
    form = {"scope": "public", "name": "color", "value": "red"}
    refused = console.follow(console.send(f"/console/metadata/people/{key}/save", form))
    assert "they have permissions that you don't have" in refused.text
    assert kept(shop, models.User, key) == (PUBLIC, PRIVATE)
