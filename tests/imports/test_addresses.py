"""Addresses and avatars of the platform's people."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.people.directory import list_users
from tests.builders.images import png
from tests.commands.shell import run
from tests.imports.importing import import_platform
from tests.imports.platform import PlatformDatabase


@pytest.fixture
def people(platform: PlatformDatabase) -> PlatformDatabase:
    """Add two customers, 1 and 2."""
    for key in (1, 2):
        platform.add("account_user", id=key, email=f"p{key}@example.com", is_active=True)
    return platform


def _addresses(target: Ports) -> dict[int, models.Address]:
    with target.database.reading() as session:
        return {each.id: each for each in session.scalars(select(models.Address))}


def _address(platform: PlatformDatabase, key: int, *owners: int, **values: Any) -> None:
    platform.add("account_address", id=key, **{"city": "Gdańsk", "country": "PL", **values})
    for owner in owners:
        platform.add("account_user_addresses", user_id=owner, address_id=key)


def test_address_keeps_its_id_and_defaults(target: Ports, people: PlatformDatabase) -> None:
    _address(people, 30, 1, street_address_1="Długa 1", phone="+48123456789", metadata={"a": "b"})
    _address(people, 31, 1, validation_skipped=True)
    _address(people, 32)
    people.run(
        "UPDATE account_user SET default_billing_address_id = 30,"
        " default_shipping_address_id = 31 WHERE id = 1"
    )

    report = import_platform(target, people)

    first, second = _addresses(target)[30], _addresses(target)[31]
    assert (first.user_id, first.street_address_1, first.city) == (1, "Długa 1", "Gdańsk")
    assert (first.country, first.phone) == ("PL", "+48123456789")
    assert (first.is_default_billing, first.is_default_shipping) == (True, False)
    assert (second.is_default_billing, second.is_default_shipping) == (False, True)
    assert second.validation_skipped
    assert report.findings == [("account_address", "", "ADDRESS_WITHOUT_OWNER", "LEFT_OUT")]
    assert import_platform(target, people).counts("address") == {"read": 2, "unchanged": 2}


def test_shared_address_is_copied_for_the_second_person(
    target: Ports, people: PlatformDatabase
) -> None:
    _address(people, 30, 1, 2)
    people.run("UPDATE account_user SET default_billing_address_id = 30")

    report = import_platform(target, people, "--reserve", "50")

    stored = _addresses(target)
    assert {key: address.user_id for key, address in stored.items()} == {30: 1, 82: 2}
    assert all(address.is_default_billing for address in stored.values())
    assert report.reasons("ADDRESS_SHARED") == [
        "User 1 has the same address. User 2 got a copy, address 82."
    ]
    people.run("UPDATE account_address SET city = 'Łódź'")
    again = import_platform(target, people, "--reserve", "70")
    assert again.counts("address") == {"read": 2, "updated": 2}
    assert {address.city for address in _addresses(target).values()} == {"Łódź"}


def test_shared_address_stays_with_who_is_left(target: Ports, people: PlatformDatabase) -> None:
    _address(people, 30, 1, 2)
    import_platform(target, people)
    people.run("DELETE FROM account_user_addresses WHERE user_id = 1")
    people.run("DELETE FROM account_user WHERE id = 1")

    import_platform(target, people)

    assert {key: each.user_id for key, each in _addresses(target).items()} == {30: 2}


def _found(target: Ports, search: str) -> list[int]:
    return [user.id for user in list_users(target, OPERATOR, PageRequest(9), search=search).items]


def test_people_are_found_by_imported_addresses(target: Ports, people: PlatformDatabase) -> None:
    _address(people, 30, 1)
    _address(people, 31, 2, city="Lublin")
    import_platform(target, people)
    assert (_found(target, "gdansk"), _found(target, "lublin")) == ([1], [2])
    people.run("UPDATE account_address SET city = 'Opole' WHERE id = 30")
    people.run("UPDATE account_user SET first_name = 'Rosa'")
    people.run("DELETE FROM account_user_addresses WHERE address_id = 31")

    import_platform(target, people)

    assert (_found(target, "gdansk"), _found(target, "rosa opole")) == ([], [1])
    assert (_found(target, "lublin"), _found(target, "rosa")) == ([], [1, 2])
    people.run("UPDATE account_user_addresses SET user_id = 2")
    import_platform(target, people)
    assert _found(target, "opole") == [2]


def test_another_default_address_is_taken_over(target: Ports, people: PlatformDatabase) -> None:
    _address(people, 30, 1)
    _address(people, 31, 1)
    people.run("UPDATE account_user SET default_billing_address_id = 31 WHERE id = 1")
    import_platform(target, people)
    people.run("UPDATE account_user SET default_billing_address_id = 30 WHERE id = 1")

    report = import_platform(target, people, "--batch", "1")

    stored = _addresses(target)
    assert (stored[30].is_default_billing, stored[31].is_default_billing) == (True, False)
    assert report.findings == []


@pytest.mark.first
def test_default_address_without_link_is_imported_with_its_owner(
    target: Ports, people: PlatformDatabase
) -> None:
    for key in (30, 31, 32):
        _address(people, key)
    people.run("UPDATE account_user SET default_billing_address_id = 29 + id")
    people.run("UPDATE account_user SET default_shipping_address_id = 31 WHERE id = 2")

    rehearsed = import_platform(target, people, "--dry-run", "--batch", "1")
    report = import_platform(target, people, "--batch", "1")

    first, second = _addresses(target)[30], _addresses(target)[31]
    assert (first.user_id, first.is_default_billing, first.is_default_shipping) == (1, True, False)
    assert (second.user_id, second.is_default_billing) == (2, True)
    assert second.is_default_shipping
    assert _addresses(target).keys() == {30, 31}
    assert report.reasons("ADDRESS_WITHOUT_OWNER") == [
        "1 addresses belong to no person, such as those of orders."
    ]
    assert len(report.findings) == 1
    assert rehearsed.findings == report.findings
    people.add("account_user_addresses", user_id=1, address_id=30)
    assert import_platform(target, people).counts("address") == {"read": 2, "unchanged": 2}
    people.run("UPDATE account_user SET default_billing_address_id = NULL")
    people.run("UPDATE account_user SET default_shipping_address_id = NULL")
    assert import_platform(target, people).counts("address")["removed"] == 1
    assert _addresses(target).keys() == {30}


def test_default_address_of_another_person_is_left_out(
    target: Ports, people: PlatformDatabase
) -> None:
    _address(people, 30, 1)
    _address(people, 31)
    people.run(
        "UPDATE account_user SET default_billing_address_id = 30, default_shipping_address_id = 31"
    )

    report = import_platform(target, people)

    stored = _addresses(target)
    assert {key: each.user_id for key, each in stored.items()} == {30: 1, 31: 1}
    assert (stored[30].is_default_billing, stored[31].is_default_shipping) == (True, True)
    assert report.findings == [
        ("account_address", key, "DEFAULT_OF_OTHER", "LEFT_OUT") for key in (30, 31)
    ]
    assert set(report.reasons("DEFAULT_OF_OTHER")) == {
        "A default address of user 2 belongs to user 1."
    }


def test_addresses_without_links_are_not_gone_in_the_next_run(
    target: Ports, platform: PlatformDatabase
) -> None:
    for key in range(1, 31):
        _address(platform, key)
        email = f"p{key}@example.com"
        platform.add("account_user", id=key, email=email, default_shipping_address_id=key)
    import_platform(target, platform)
    assert import_platform(target, platform).counts("address") == {"read": 30, "unchanged": 30}


def test_addresses_of_people_who_are_left_out_are_too(
    target: Ports, people: PlatformDatabase
) -> None:
    people.run("UPDATE account_user SET email = 'nonsense' WHERE id = 2")
    _address(people, 30, 2)

    report = import_platform(target, people)

    assert _addresses(target) == {}
    assert ("account_address", 30, "OWNER_LEFT_OUT", "LEFT_OUT") in report.findings


def test_awkward_addresses_are_changed_and_reported(
    target: Ports, people: PlatformDatabase
) -> None:
    _address(people, 30, 1, country="", city="Two\nlines", postal_code="1" * 20)
    _address(people, 31, 1, country="XYZ", company_name="x" * 300)

    report = import_platform(target, people)

    assert _addresses(target)[30].city == "Two lines"
    assert report.findings == [
        ("account_address", 30, "CHARACTERS_NOT_ALLOWED", "CHANGED"),
        ("account_address", 31, "COUNTRY_INVALID", "LEFT_OUT"),
        ("account_address", 31, "TOO_LONG", "CHANGED"),
    ]


def test_avatar_comes_from_the_media_folder(
    target: Ports, people: PlatformDatabase, tmp_path: Path
) -> None:
    media = tmp_path / "media"
    (media / "user-avatars").mkdir(parents=True)
    (media / "user-avatars" / "ada.png").write_bytes(png(300, 200))
    people.run("UPDATE account_user SET avatar = 'user-avatars/ada.png' WHERE id = 1")
    skipped = import_platform(target, people)
    assert skipped.findings == [("account_user", "", "AVATARS_SKIPPED", "LEFT_OUT")]
    assert skipped.reasons("AVATARS_SKIPPED") == [
        "1 person has an avatar. Pass --media to import it."
    ]

    report = import_platform(target, people, "--media", str(media))

    assert report.counts("avatar") == {"read": 1, "created": 1}
    with target.database.reading() as session:
        name = session.scalar(select(models.User.avatar).where(models.User.id == 1))
        sizes = session.scalars(select(models.Avatar.size).where(models.Avatar.name == name)).all()
    assert sorted(sizes) == [64, 128, 256, 512]
    again = import_platform(target, people, "--media", str(media))
    assert again.counts("avatar") == {"read": 1, "unchanged": 1}
    people.run("UPDATE account_user SET avatar = ''")
    assert import_platform(target, people, "--media", str(media)).counts("avatar") == {
        "removed": 1
    }
    with target.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Avatar)) == 0


UNUSABLE = {
    "../secret.png": "The path leads out of the media folder.",
    "link.png": "The path leads out of the media folder.",
    "missing.png": "There is no such file.",
    "text.png": "image",
    "/etc/passwd": "The path leads out of the media folder.",
}


def test_unusable_avatar_is_reported(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (tmp_path / "secret.png").write_bytes(png(300, 200))
    (media / "link.png").symlink_to(tmp_path / "secret.png")
    (media / "text.png").write_text("no picture")
    for key, path in enumerate(UNUSABLE, 1):
        platform.add("account_user", id=key, email=f"p{key}@example.com", avatar=path)

    report = import_platform(target, platform, "--media", str(media))

    assert report.findings == [
        ("account_user", key, "AVATAR_UNUSABLE", "LEFT_OUT") for key, _ in enumerate(UNUSABLE, 1)
    ]
    for reason, expected in zip(report.reasons("AVATAR_UNUSABLE"), UNUSABLE.values(), strict=True):
        assert expected in reason


def test_new_addresses_get_ids_above_the_reserve(target: Ports, people: PlatformDatabase) -> None:
    _address(people, 30, 1, 2)
    import_platform(target, people, "--reserve", "10")
    with target.database.transaction() as session:
        session.add(models.Address(user_id=1, country="PL"))
    assert max(_addresses(target)) == 30 + 10 + 2 + 10 + 1
    run(target, "import", "finish", "--yes")
