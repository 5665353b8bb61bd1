"""People of the platform, imported on both databases."""

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app import models
from app.ports import Ports
from tests.commands.shell import run
from tests.imports.importing import import_platform, refusal
from tests.imports.platform import JOINED, PlatformDatabase

DJANGO = "pbkdf2_sha256$1000$salt$7VFWTSb1m1wc1gYw4Cn5wgTjWd1pUT/rnV7jpKz7Rts="
SEEN = datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def _users(target: Ports) -> dict[int, models.User]:
    with target.database.reading() as session:
        return {user.id: user for user in session.scalars(select(models.User))}


def _count(target: Ports, record: type) -> int:
    with target.database.reading() as session:
        return session.scalar(select(func.count()).select_from(record)) or 0


def test_customer_keeps_id_names_dates_and_password(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add(
        "account_user",
        id=42,
        email="Ada@Example.com",
        first_name="Ada",
        last_name="Lovelace",
        is_active=True,
        is_confirmed=False,
        password=DJANGO,
        last_login=SEEN,
        note="Calls at noon.",
        external_reference="crm-7",
        language_code="pt-br",
        metadata={"size": "m"},
        private_metadata={"vip": "yes"},
    )

    report = import_platform(target, platform)

    assert report.counts("user") == {"read": 1, "created": 1}
    assert report.findings == []
    user = _users(target)[42]
    assert (user.email, user.first_name, user.last_name) == ("ada@example.com", "Ada", "Lovelace")
    assert (user.is_active, user.is_confirmed, user.is_staff) == (True, False, False)
    assert (user.date_joined, user.updated_at, user.last_login) == (JOINED, JOINED, SEEN)
    assert (user.note, user.external_reference) == ("Calls at noon.", "crm-7")
    assert (user.language_code, user.password_hash) == ("PT_BR", DJANGO)
    with target.database.reading() as session:
        metadata = select(models.User.public_metadata, models.User.private_metadata)
        assert session.execute(metadata).one() == ({"size": "m"}, {"vip": "yes"})
        words = set(session.scalars(select(models.UserWord.word)))
    assert words == {"ada@example.com", "example.com", "lovelace"}


def test_import_writes_one_audit_entry_and_no_events(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="a@example.com", is_active=True)

    import_platform(target, platform)

    with target.database.reading() as session:
        [entry] = session.scalars(select(models.AuditEntry)).all()
        [stored] = session.scalars(select(models.Import)).all()
    assert (entry.action, entry.actor_kind) == ("import.run", "operator")
    counts = entry.after["user"]
    assert isinstance(counts, dict)
    assert counts["created"] == 1
    assert stored.source.startswith("postgresql://")
    assert "@" not in stored.source
    assert _count(target, models.OutboxEvent) == 0


def test_dry_run_reports_the_same_and_writes_nothing(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="nonsense", is_active=True)
    platform.add("account_user", id=2, email="b@example.com", is_active=True, password="md5$a$b")

    dry = import_platform(target, platform, "--dry-run")

    assert dry.printed["dryRun"] is True
    assert _count(target, models.User) == _count(target, models.Import) == 0
    real = import_platform(target, platform)
    assert dry.findings == real.findings
    assert dry.printed["imported"] == real.printed["imported"]
    assert [each[1:] for each in real.findings] == [
        (1, "EMAIL_INVALID", "LEFT_OUT"),
        (2, "PASSWORD_WEAK", "MUST_RESET"),
    ]


@pytest.mark.first
def test_second_run_changes_nothing_and_adds_what_is_new(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="a@example.com", is_active=True, password=DJANGO)
    import_platform(target, platform)
    platform.add("account_user", id=2, email="b@example.com", is_active=True)

    again = import_platform(target, platform)

    assert again.counts("user") == {"read": 2, "unchanged": 1, "created": 1}
    assert set(_users(target)) == {1, 2}


def test_staff_keep_groups_and_permissions(target: Ports, platform: PlatformDatabase) -> None:
    platform.add("django_content_type", id=1, app_label="account", model="user")
    for key, name in enumerate(("manage_users", "manage_staff", "add_user", "manage_moon"), 1):
        platform.add("permission_permission", id=key, content_type_id=1, codename=name)
    platform.add("account_group", id=5, name="Support")
    for permission in (1, 3, 4):
        platform.add("account_group_permissions", group_id=5, permission_id=permission)
    platform.add("account_user", id=9, email="s@example.com", is_staff=True, is_active=True)
    platform.add("account_user_groups", user_id=9, group_id=5)
    platform.add("account_user_user_permissions", user_id=9, permission_id=2)

    report = import_platform(target, platform)

    with target.database.reading() as session:
        held = session.scalars(select(models.GroupPermission.permission)).all()
        direct = session.scalars(select(models.UserPermission.permission)).all()
        member = session.execute(
            select(models.GroupMember.user_id, models.GroupMember.group_id)
        ).one()
    assert (held, direct, tuple(member)) == (["MANAGE_USERS"], ["MANAGE_STAFF"], (9, 5))
    assert report.findings == [
        ("account_group", 5, "PERMISSION_OF_DJANGO", "LEFT_OUT"),
        ("account_group", 5, "PERMISSION_UNKNOWN", "LEFT_OUT"),
    ]


def test_restricted_group_arrives_without_members(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_group", id=5, name="Poland", restricted_access_to_channels=True)
    platform.add("account_user", id=9, email="s@example.com", is_staff=True, is_active=True)
    platform.add("account_user_groups", user_id=9, group_id=5)

    report = import_platform(target, platform)

    assert _count(target, models.GroupMember) == 0
    assert report.findings == [
        ("account_group", 5, "GROUP_RESTRICTED", "CHANGED"),
        ("account_user", 9, "MEMBERSHIP_RESTRICTED", "LEFT_OUT"),
    ]


def test_only_imports_the_chosen_people(target: Ports, platform: PlatformDatabase) -> None:
    platform.add("account_user", id=1, email="a@example.com", is_staff=True)
    platform.add("account_user", id=2, email="b@example.com")

    import_platform(target, platform, "--only", "people")

    assert set(_users(target)) == {2}
    import_platform(target, platform, "--only", "staff")
    assert set(_users(target)) == {1, 2}


def test_local_rows_with_ids_of_the_source_stop_the_import(
    target: Ports, platform: PlatformDatabase
) -> None:
    run(target, "user", "create", "root@example.com", "--superuser", "--no-input")
    platform.add("account_user", id=1, email="a@example.com")

    refused = refusal(target, platform)

    assert "People: 1 row here has an ID up to 1, which the source can use: 1." in refused
    assert _count(target, models.Import) == 0


def test_new_rows_get_ids_above_the_reserve_until_the_import_is_finished(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=70, email="a@example.com")
    import_platform(target, platform, "--reserve", "1000")

    run(target, "user", "create", "b@example.com", "--no-input")
    assert max(_users(target)) == 1071
    done = run(target, "import", "finish", "--yes")
    assert done.exit_code == 0, done.output
    run(target, "user", "create", "c@example.com", "--no-input")
    assert max(_users(target)) == 1072
    assert _count(target, models.ImportedRow) == 0
    assert "was finished" in refusal(target, platform)


def test_missing_tables_and_columns_are_named(target: Ports, platform: PlatformDatabase) -> None:
    """What a schema outside the search path has, such as a copy, doesn't stand in for them."""
    platform.run("CREATE SCHEMA copy")
    platform.run("CREATE TABLE copy.account_user AS TABLE account_user")
    platform.run("CREATE TABLE copy.account_group AS TABLE account_group")
    platform.run("ALTER TABLE account_user DROP COLUMN is_superuser")
    platform.run("DROP TABLE account_group")

    refused = refusal(target, platform)

    assert "The source has no table account_group." in refused
    assert "table account_user lacks columns: is_superuser." in refused


def test_password_of_the_source_is_never_shown(target: Ports) -> None:
    failed = run(
        target, "import", "platform", "--database", "postgresql://u:geheim@127.0.0.1:9/shop"
    )

    assert failed.exit_code == 1
    assert "Can't connect to postgresql://127.0.0.1:9/shop" in failed.stderr
    assert "geheim" not in failed.output


def test_finished_import_gives_ids_after_the_highest_one(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=70, email="a@example.com")
    import_platform(target, platform)

    run(target, "import", "finish", "--yes")

    run(target, "user", "create", "b@example.com", "--no-input")
    assert max(_users(target)) == 71


def test_finished_import_gives_no_id_that_a_deleted_row_had(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=70, email="a@example.com")
    import_platform(target, platform, "--reserve", "100")
    run(target, "user", "create", "b@example.com", "--no-input")
    with target.database.transaction() as session:
        session.delete(session.get_one(models.User, 171))
    import_platform(target, platform, "--reserve", "200")

    run(target, "import", "finish", "--yes")

    run(target, "user", "create", "c@example.com", "--no-input")
    assert max(_users(target)) == 172


def test_platform_at_another_address_goes_on_by_its_name(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=70, email="a@example.com")
    first = import_platform(target, platform)
    url = platform.url + "&port=5432" if "?" in platform.url else platform.url
    moved = PlatformDatabase(url, platform.connection)
    with target.database.transaction() as session:
        session.scalars(select(models.Import)).one().source = "postgresql://old.example/shop"

    assert "imported as postgresql://old.example/shop, pass that as --source" in refusal(
        target, moved
    )
    again = import_platform(target, moved, "--source", "postgresql://old.example/shop")
    assert first.counts("user") == {"read": 1, "created": 1}
    assert again.counts("user") == {"read": 1, "unchanged": 1}


def test_name_of_a_files_import_is_refused(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("email\nann@example.com\n")
    run(target, "import", "users", str(file), "--source", "crm")
    message = "crm is the name of another import. Choose one with --source."
    assert message in refusal(target, platform, "--source", "crm")
    assert import_platform(target, platform, "--source", "shop").counts("user") == {}


def test_report_is_also_a_csv_file_and_readable(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    for key in range(1, 8):
        platform.add("account_user", id=key, email=f"nonsense {key}")
    file = tmp_path / "findings.csv"

    done = run(
        target, "import", "platform", "--database", platform.url, "--dry-run", "--csv", str(file)
    )

    assert done.exit_code == 0
    assert "People\t7\t0\t0\t0\t0\t0\t7" in done.stdout
    assert "EMAIL_INVALID (7), left out:" in done.stdout
    assert "  account_user 1 (nonsense 1), 2 (nonsense 2)," in done.stdout
    assert "and 2 more; --csv FILE or --json has all of them." in done.stdout
    assert "Dry run: nothing was written." in done.stdout
    strict = ("import", "platform", "--database", platform.url, "--dry-run", "--strict")
    assert run(target, *strict).exit_code == 1
    rows = list(csv.reader(file.read_text().splitlines()))
    assert rows[0] == ["table", "key", "name", "code", "outcome", "reason"]
    assert [row[1] for row in rows[1:]] == [str(key) for key in range(1, 8)]
    assert file.stat().st_mode & 0o077 == 0


def test_url_can_come_from_a_file(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    platform.add("account_user", id=1, email="a@example.com")
    (tmp_path / "url").write_text(platform.url + "\n")

    done = run(target, "import", "platform", "--database", f"@{tmp_path / 'url'}")

    assert done.exit_code == 0, done.output
    assert set(_users(target)) == {1}


@pytest.mark.first
def test_awkward_people_are_imported_as_far_as_they_fit(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.run("ALTER TABLE account_user DROP COLUMN note, DROP COLUMN is_confirmed")
    for column in ("first_name", "metadata", "language_code"):
        platform.run(f"ALTER TABLE account_user ALTER {column} DROP NOT NULL")
    odd: list[dict[str, object]] = [
        {"first_name": "x" * 300},
        {"last_name": "Line\nbreak\u202e"},
        {"first_name": None, "metadata": None, "language_code": None},
        {"metadata": {"n": 1, "t": "text"}},
        {"language_code": "tlh"},
        {"is_superuser": True},
        {"email": "\u00dcnal@example.com"},
        {"external_reference": ""},
        {"is_staff": True, "is_superuser": True, "password": "!abc"},
    ]
    for key, values in enumerate(odd, 1):
        platform.add("account_user", **{"id": key, "email": f"p{key}@example.com", **values})
    platform.run("UPDATE account_user SET date_joined = 'infinity' WHERE id = 8")
    platform.run("UPDATE account_user SET date_joined = '9999-12-31 23:59+00' WHERE id = 7")

    report = import_platform(target, platform)

    assert [each[1:] for each in report.findings] == [
        (1, "TOO_LONG", "CHANGED"),
        (2, "CHARACTERS_NOT_ALLOWED", "CHANGED"),
        (4, "METADATA_INVALID", "LEFT_OUT"),
        (5, "LANGUAGE_UNKNOWN", "CHANGED"),
        (6, "CUSTOMER_WITH_PERMISSIONS", "LEFT_OUT"),
        (7, "DATE_MISSING", "CHANGED"),
        (8, "DATE_MISSING", "CHANGED"),
    ]
    users = _users(target)
    assert set(users) == set(range(1, 10))
    assert (users[1].first_name, users[2].last_name) == ("x" * 256, "Line break")
    assert [users[key].is_superuser for key in (6, 9)] == [False, True]
    assert users[9].password_hash is None
    assert import_platform(target, platform).counts("user") == {"read": 9, "unchanged": 9}
