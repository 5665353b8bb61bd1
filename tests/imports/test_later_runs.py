"""Later runs: what changed at the source is taken over, unless it was edited here."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.imports.runs import digest_of, digest_of_text
from app.ports import Ports
from app.services.imports.platform import platform_sections
from app.services.imports.sections import Row
from tests.commands.shell import run
from tests.imports.importing import import_platform, refusal
from tests.imports.platform import JOINED, PlatformDatabase

pytestmark = pytest.mark.first

OLD = "pbkdf2_sha256$1000$salt$7VFWTSb1m1wc1gYw4Cn5wgTjWd1pUT/rnV7jpKz7Rts="
NEW = "pbkdf2_sha256$1000$salt$pWhzD8iyYfEZ6mUPcvGmDZGHYLnSl9+gC5tWdWcPaL4="


PEOPLE = {
    1: "is changed",
    2: "is staff, and gets other rights",
    3: "was edited here",
    4: "signed in here",
    5: "is deactivated",
    6: "gets a new password",
    7: "has set a password here",
    8: "was deleted here",
}


@pytest.fixture
def imported(target: Ports, platform: PlatformDatabase) -> PlatformDatabase:
    """Import a customer, 1, and a member of the staff, 2, both signed in here since."""
    import_people(target, platform, (1, 2))
    return platform


def import_people(target: Ports, platform: PlatformDatabase, people: Iterable[int]) -> None:
    """Import people, of whom 2 is staff, and sign them in here."""
    platform.add("django_content_type", id=1, app_label="account", model="user")
    for key, name in enumerate(("manage_users", "manage_staff"), 1):
        platform.add("permission_permission", id=key, content_type_id=1, codename=name)
    platform.add("account_group", id=5, name="Support")
    platform.add("account_group_permissions", group_id=5, permission_id=1)
    for key in people:
        platform.add(
            "account_user",
            id=key,
            email=f"p{key}@example.com",
            first_name="Ada",
            is_active=True,
            is_staff=key == 2,
            password=OLD,
            last_login=JOINED,
        )
    platform.add("account_user_groups", id=1, user_id=2, group_id=5)
    import_platform(target, platform)
    with target.database.transaction() as session:
        for key in people:
            session.add(_session(key))


def _session(user_id: int) -> models.Session:
    return models.Session(
        token=f"session-{user_id}",
        user_id=user_id,
        origin="password",
        created_at=JOINED,
        expires_at=JOINED + timedelta(days=9000),
    )


def _signed_in(target: Ports) -> list[int]:
    with target.database.reading() as session:
        return sorted(session.scalars(select(models.Session.user_id)))


def _user(target: Ports, key: int) -> models.User | None:
    with target.database.reading() as session:
        return session.get(models.User, key)


def _edit(target: Ports, key: int, **values: object) -> None:
    with target.database.transaction() as session:
        session.execute(update(models.User).where(models.User.id == key).values(**values))


def test_later_run_takes_over_what_changed_unless_it_was_edited_here(
    target: Ports, platform: PlatformDatabase
) -> None:
    import_people(target, platform, PEOPLE)
    ours = target.passwords.hash("correct horse")
    later = JOINED + timedelta(days=10)
    _edit(target, 3, first_name="Here")
    _edit(target, 4, last_login=later)
    _edit(target, 6, password_hash=ours)
    _edit(target, 7, password_hash=ours)
    with target.database.transaction() as session:
        session.execute(
            update(models.ImportedPassword)
            .where(models.ImportedPassword.user_id == 6)
            .values(state="REPLACED", written_digest=digest_of_text(ours), replaced_at=JOINED)
        )
        session.delete(session.get_one(models.User, 8))
    platform.run(
        "UPDATE account_user SET first_name = 'Grace', email = 'g@x.example' WHERE id = 1"
    )
    platform.run("UPDATE account_user SET email = 'h@example.com' WHERE id = 2")
    platform.run("UPDATE account_user SET first_name = 'There' WHERE id IN (3, 4, 8)")
    platform.run("UPDATE account_user SET is_active = false WHERE id = 5")
    platform.run("UPDATE account_user SET password = %s WHERE id IN (6, 7)", NEW)
    platform.run("DELETE FROM account_user_groups")
    platform.add("account_user_user_permissions", user_id=2, permission_id=2)
    platform.run("UPDATE account_group SET name = 'Help'")
    platform.run("UPDATE account_group_permissions SET permission_id = 2")

    for run_number in (1, 2):
        report = import_platform(target, platform)
        assert report.findings == [
            ("account_user", 3, "EDITED_HERE", "KEPT"),
            ("account_user", 7, "PASSWORD_CHANGED", "KEPT"),
        ], run_number
        if run_number == 1:
            counts = {"read": 8, "updated": 6, "kept": 1, "unchanged": 1}
            assert report.counts("user") == counts

    with target.database.reading() as session:
        words = {
            *session.scalars(select(models.UserWord.word).where(models.UserWord.user_id == 1))
        }
        members = session.scalars(select(models.GroupMember.user_id)).all()
        direct = session.scalars(select(models.UserPermission.permission)).all()
        group = session.scalars(select(models.GroupPermission.permission)).all()
        replaced = session.get_one(models.ImportedPassword, 6)
    assert words == {"g@x.example", "grace", "x.example"}
    assert (members, direct, group) == ([], ["MANAGE_STAFF"], ["MANAGE_STAFF"])
    assert "Help" in run(target, "group", "list").stdout
    users = {key: user for key in PEOPLE if (user := _user(target, key))}
    assert users.keys() == PEOPLE.keys() - {8}
    assert users[3].first_name == "Here"
    assert (users[4].first_name, users[4].last_login) == ("There", later)
    assert (users[5].is_active, users[5].tokens_valid_after is None) == (False, False)
    assert (users[6].password_hash, users[7].password_hash) == (NEW, ours)
    assert (replaced.state, replaced.replaced_at) == ("IMPORTED", None)
    assert _signed_in(target) == [1, 2, 3, 4, 7]


@pytest.mark.both_databases
def test_person_deleted_at_the_source_is_deleted_unless_edited(
    target: Ports, imported: PlatformDatabase
) -> None:
    _edit(target, 2, note="Ours.")
    for table in ("account_user_groups", "account_user"):
        imported.run(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own

    report = import_platform(target, imported)

    assert _user(target, 1) is None
    assert _user(target, 2) is not None
    assert report.counts("user") == {"removed": 1, "kept": 1}
    assert report.findings == [
        ("account_user", 1, "REMOVED", "LEFT_OUT"),
        ("account_user", 2, "REMOVED_AND_EDITED", "KEPT"),
    ]


@pytest.mark.both_databases
def test_emails_can_move_on_between_people(target: Ports, imported: PlatformDatabase) -> None:
    imported.run("UPDATE account_user SET email = 'new@example.com' WHERE id = 2")
    imported.run("UPDATE account_user SET email = 'p2@example.com' WHERE id = 1")

    dry = import_platform(target, imported, "--batch", "1", "--dry-run")
    report = import_platform(target, imported, "--batch", "1")

    assert dry.printed["imported"] == report.printed["imported"]
    first, second = _user(target, 1), _user(target, 2)
    assert first is not None
    assert second is not None
    assert (first.email, second.email) == ("p2@example.com", "new@example.com")
    assert report.findings == []


@pytest.mark.both_databases
def test_of_emails_equal_but_for_case_one_is_imported(
    target: Ports, platform: PlatformDatabase
) -> None:
    """That of the person who is active, else of the first."""
    for key, (email, is_active) in enumerate(
        [
            ("Ada@example.com", True),
            ("ada@Example.com", True),
            ("Bob@example.com", False),
            ("bob@Example.com", True),
        ],
        1,
    ):
        platform.add("account_user", id=key, email=email, is_active=is_active)

    report = import_platform(target, platform)

    assert report.findings == [
        ("account_user", other, "EMAIL_TAKEN", "LEFT_OUT") for other in (2, 3)
    ]
    for owner, reason in zip((1, 4), report.reasons("EMAIL_TAKEN"), strict=True):
        assert f"User {owner} has the same email" in reason
    # Who has it keeps it, whatever becomes of them at the source.
    platform.run("UPDATE account_user SET is_active = NOT is_active")
    assert import_platform(target, platform).findings == report.findings
    assert (_user(target, 2), _user(target, 3)) == (None, None)


def test_email_of_a_local_person_is_not_taken_over(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="a@example.com")
    import_platform(target, platform)
    run(target, "user", "create", "local@example.com", "--no-input")
    platform.add("account_user", id=2, email="Local@example.com", password=OLD, is_active=True)

    report = import_platform(target, platform)

    assert report.findings == [("account_user", 2, "EMAIL_TAKEN", "LEFT_OUT")]
    assert _user(target, 2) is None


def _references(target: Ports) -> dict[int, str | None]:
    with target.database.reading() as session:
        found = session.execute(select(models.User.id, models.User.external_reference))
        return {row[0]: row[1] for row in found}


@pytest.mark.both_databases
def test_of_equal_external_references_one_is_imported(
    target: Ports, platform: PlatformDatabase
) -> None:
    for key, reference in ((1, "crm-1"), (2, " crm-1")):
        email = f"p{key}@example.com"
        platform.add("account_user", id=key, email=email, external_reference=reference)
    platform.add("account_address", id=30)
    platform.add("account_user_addresses", user_id=2, address_id=30)

    rehearsed = import_platform(target, platform, "--dry-run", "--batch", "1")
    report = import_platform(target, platform)

    taken = ("account_user", 2, "REFERENCE_TAKEN", "CHANGED")
    assert rehearsed.findings == report.findings == [taken]
    assert report.reasons("REFERENCE_TAKEN") == [
        "User 1 has the same external reference. Imported without it."
    ]
    assert report.counts("user") == {"read": 2, "created": 2}
    assert report.counts("address") == {"read": 1, "created": 1}
    assert _references(target) == {1: "crm-1", 2: None}
    again = import_platform(target, platform)
    assert (again.counts("user"), again.findings) == ({"read": 2, "unchanged": 2}, [])
    platform.run("UPDATE account_user SET external_reference = 'crm-2' WHERE id = 2")
    corrected = import_platform(target, platform)
    assert (corrected.counts("user")["updated"], corrected.findings) == (1, [])
    assert _references(target) == {1: "crm-1", 2: "crm-2"}


def test_reference_of_a_local_person_is_not_taken_over(
    target: Ports, imported: PlatformDatabase
) -> None:
    run(target, "user", "create", "local@example.com", "--no-input")
    [local] = _references(target).keys() - {1, 2}
    _edit(target, local, external_reference="crm-1")
    imported.run(
        "UPDATE account_user SET external_reference = 'crm-1', first_name = 'Eve' WHERE id = 1"
    )

    report = import_platform(target, imported)

    assert report.findings == [("account_user", 1, "REFERENCE_TAKEN", "CHANGED")]
    assert report.counts("user")["updated"] == 1
    assert _references(target) == {1: None, 2: None, local: "crm-1"}
    user = _user(target, 1)
    assert user is not None
    assert user.first_name == "Eve"


@pytest.mark.both_databases
def test_references_can_change_hands(target: Ports, imported: PlatformDatabase) -> None:
    for one, two in (("crm-1", "crm-2"), ("crm-3", "crm-1")):
        imported.run("UPDATE account_user SET external_reference = NULL")
        imported.run("UPDATE account_user SET external_reference = %s WHERE id = 1", one)
        imported.run("UPDATE account_user SET external_reference = %s WHERE id = 2", two)
        assert import_platform(target, imported, "--batch", "1").findings == []
        assert _references(target) == {1: one, 2: two}


def test_changed_row_keeps_the_digest_of_the_source() -> None:
    row = Row(1, {"name": "Ada"}, {"last_login": JOINED})
    assert row.source_digest == digest_of({"name": "Ada", "last_login": JOINED})
    assert replace(row, state={"name": "Eve"}).source_digest == row.source_digest


def test_rows_of_every_section_can_be_removed() -> None:
    for section in platform_sections():
        assert section.record or "remove" in vars(type(section)), section.title


def test_source_that_lost_most_rows_stops_the_run(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add_many(
        "account_user",
        [{"id": key, "email": f"p{key}@example.com", "is_active": True} for key in range(1, 43)],
    )
    import_platform(target, platform)
    platform.run("DELETE FROM account_user WHERE id > 20")
    stopped = refusal(target, platform, "--dry-run") + refusal(target, platform)
    assert (
        stopped.count("42 rows were imported from account_user, but the source has only 20") == 2
    )
    with target.database.reading() as session:
        assert len(session.scalars(select(models.User.id)).all()) == 42
    # A few removals need no question, as many do with --allow-removals.
    assert import_platform(target, platform, "--allow-removals").counts("user")["removed"] == 22
    platform.run("DELETE FROM account_user WHERE id > 3")
    assert import_platform(target, platform).counts("user")["removed"] == 17
