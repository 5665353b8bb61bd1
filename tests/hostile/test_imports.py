"""Imports: who gets an email, what reports and the ledger hold, and edits during a run."""

import csv
import json
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from hashlib import md5
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import event, select, update

from app import models
from app.adapters.keys.passwords import matches_foreign_hash
from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import MAX_SECONDS, UnusableHash, parse_hash
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.personal_data import tables_with
from tests.builders.provider_records import link_identity
from tests.commands.shell import run, run_json
from tests.hostile.cpu import slowest
from tests.imports.importing import import_platform
from tests.imports.platform import JOINED, PlatformDatabase

STRONG = "pbkdf2_sha256$1000$salt$7VFWTSb1m1wc1gYw4Cn5wgTjWd1pUT/rnV7jpKz7Rts="
STRONGER = "pbkdf2_sha256$1000$salt$pWhzD8iyYfEZ6mUPcvGmDZGHYLnSl9+gC5tWdWcPaL4="
SCRYPT_KEY = b64encode(bytes(64)).decode()


def _user(ports: Ports, key: int) -> models.User | None:
    with ports.database.reading() as session:
        return session.get(models.User, key)


def _set_password(platform: PlatformDatabase, password: str) -> None:
    platform.run("UPDATE account_user SET password = %s", password)


@pytest.mark.parametrize(
    ("cost", "block_size", "lanes"), [(2, 1, 1_200_000), (2, 8, 150_000), (4, 8, 70_000)]
)
def test_scrypt_of_many_lanes_is_refused(cost: int, block_size: int, lanes: int) -> None:
    """It takes seconds and 150 MiB, most of them not in the blocks that its cost counts."""
    with pytest.raises(UnusableHash, match="PASSWORD_TOO_COSTLY"):
        parse_hash(f"scrypt${cost}$salt${block_size}${lanes}${SCRYPT_KEY}")


@pytest.mark.first
@pytest.mark.parametrize("parameters", ["16384$salt$8$1", "16384$salt$8$5", "131072$salt$8$1"])
def test_scrypt_as_it_is_recommended_is_checked_in_time(parameters: str) -> None:
    cost, salt, block_size, lanes = parameters.split("$")
    found = parse_hash(f"scrypt${cost}${salt}${block_size}${lanes}${SCRYPT_KEY}")
    answers: list[bool] = []
    taken = slowest(
        lambda: answers.append(matches_foreign_hash(found, b"password")), bound=MAX_SECONDS
    )
    assert set(answers) == {False}
    assert taken <= MAX_SECONDS


def test_email_stays_with_who_confirmed_it(target: Ports, platform: PlatformDatabase) -> None:
    """Somebody registered with another spelling of the email before its owner did."""
    platform.add("account_user", id=1, email="Ada@example.com", is_active=True, is_confirmed=False)
    platform.add(
        "account_user",
        id=2,
        email="ada@example.com",
        is_active=True,
        is_confirmed=True,
        is_staff=True,
    )

    report = import_platform(target, platform)

    assert report.findings == [("account_user", 1, "EMAIL_TAKEN", "LEFT_OUT")]
    assert _user(target, 1) is None
    owner = _user(target, 2)
    assert owner is not None
    assert owner.is_staff


def test_people_whose_emails_become_equal_are_one(
    target: Ports, platform: PlatformDatabase
) -> None:
    others = {1: "\u212aate@a.example", 2: "kate@b.example\x1c", 3: "kate@\uff43.example"}
    for key, name in enumerate("ABC", 1):
        emails = {key: others[key], 10 + key: f"Kate@{name}.example"}
        for id_, email in emails.items():
            platform.add(
                "account_user", id=id_, email=email, is_active=True, is_confirmed=id_ > 10
            )

    rehearsed = import_platform(target, platform, "--dry-run")
    report = import_platform(target, platform)

    assert report.findings == [("account_user", key, "EMAIL_TAKEN", "LEFT_OUT") for key in others]
    assert rehearsed.findings == report.findings
    assert [_user(target, key) for key in others] == [None] * len(others)


def test_references_that_become_equal_are_one(target: Ports, platform: PlatformDatabase) -> None:
    for key, reference in enumerate(("R-1", "R-1\u200b", "R-2"), 1):
        platform.add(
            "account_user", id=key, email=f"p{key}@example.com", external_reference=reference
        )

    report = import_platform(target, platform)

    assert ("account_user", 2, "REFERENCE_TAKEN", "CHANGED") in report.findings
    assert report.counts("user") == {"read": 3, "created": 3}
    second = _user(target, 2)
    assert second is not None
    assert second.external_reference is None


def _import_file(ports: Ports, folder: Path, *rows: dict[str, object]) -> None:
    file = folder / "people.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_json(ports, "import", "users", str(file))


def _digests(ports: Ports) -> set[str]:
    rows, passwords = models.ImportedRow, models.ImportedPassword
    with ports.database.reading() as session:
        found = [*session.execute(select(rows.source_digest, rows.written_digest))]
        found += session.execute(select(passwords.source_digest, passwords.written_digest))
    return {digest for row in found for digest in row}


def test_weak_password_leaves_no_digest(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    """With a digest of an unsalted hash, or of a password, a stolen database tells passwords."""
    weak = md5(b"monkey", usedforsecurity=False).hexdigest()
    platform.add("account_user", id=1, email="ada@example.com", password=weak)
    import_platform(target, platform)
    _import_file(target, tmp_path, {"email": "bob@example.com", "password_hash": "monkey"})

    assert _digests(target).isdisjoint({digest_of_text(weak), digest_of_text("monkey")})
    before = _digests(target)
    platform.run("UPDATE account_user SET password = 'md5$$0'")
    assert import_platform(target, platform).counts("user") == {"read": 1, "unchanged": 1}
    assert _digests(target) == before


def test_strong_password_takes_the_place_of_a_weak_one(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="ada@example.com", password="unsalted")
    import_platform(target, platform)
    for password in (STRONG, STRONGER):
        _set_password(platform, password)
        import_platform(target, platform)
        user = _user(target, 1)
        assert user is not None
        assert user.password_hash == password


def test_findings_are_no_formulas(target: Ports, tmp_path: Path) -> None:
    file, people = tmp_path / "findings.csv", tmp_path / "people.csv"
    people.write_text("email,language_code\nada@example.com,xx\n")

    run_json(target, "import", "users", str(people), "--source", "=cmd()", "--csv", str(file))

    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["table"], row["key"], row["code"]) for row in rows] == [
        ("'=cmd()", "2", "LANGUAGE_UNKNOWN")
    ]


def test_findings_are_written_into_private_files_alone(
    target: Ports, platform: PlatformDatabase, tmp_path: Path
) -> None:
    old, other, link = tmp_path / "old.csv", tmp_path / "other", tmp_path / "link.csv"
    for file in (old, other):
        file.write_text("precious")
        file.chmod(0o644)
    link.symlink_to(other)

    import_platform(target, platform, "--csv", str(old))
    refused = run(target, "import", "platform", "--database", platform.url, "--csv", str(link))

    assert old.stat().st_mode & 0o777 == 0o600
    assert old.read_text().startswith("table,key,")
    assert refused.exit_code == 2
    assert other.read_text() == "precious"


def test_credentials_that_apps_keep_in_metadata_are_secret(ports: Ports, tmp_path: Path) -> None:
    app, _token = make_app(ports, "Payments")
    with ports.database.transaction() as session:
        session.execute(update(models.App).values(private_metadata={"key": "sk_live_123"}))
    without, complete = tmp_path / "without.jsonl", tmp_path / "complete.jsonl"

    run_json(ports, "export", str(without))
    run_json(ports, "export", str(complete), "--with-secrets")
    assert "sk_live_123" not in without.read_text()
    assert "sk_live_123" in complete.read_text()

    with ports.database.transaction() as session:
        session.delete(session.get_one(models.App, app))
    report = run_json(ports, "import", "file", str(without))
    assert report["findingCounts"] == {"METADATA_WITHHELD": 1}
    with ports.database.reading() as session:
        assert session.scalars(select(models.App.private_metadata)).all() == [{}]


def test_session_of_a_claimed_email_ends_when_its_owner_is_trusted(
    target: Ports, platform: PlatformDatabase
) -> None:
    verified, unverified = {1: "is_confirmed", 2: "is_staff"}, {3: "is_confirmed", 4: "is_staff"}
    trusted = {**verified, **unverified}
    for key in trusted:
        email = f"p{key}@example.com"
        platform.add("account_user", id=key, email=email, is_active=True, is_confirmed=False)
    import_platform(target, platform)
    for key, column in trusted.items():
        identity = link_identity(target, key)
        with target.database.transaction() as session:
            session.get_one(models.ExternalIdentity, identity).is_verified = key in verified
            session.add(
                models.Session(
                    token=f"claimed {key}",
                    user_id=key,
                    identity_id=identity,
                    origin="provider",
                    created_at=JOINED,
                    expires_at=JOINED + timedelta(days=9000),
                )
            )
        platform.run(f"UPDATE account_user SET {column} = true WHERE id = %s", key)  # noqa: S608

    import_platform(target, platform, "--only", "people,staff")

    with target.database.reading() as session:
        assert {*session.scalars(select(models.Session.user_id))} == {*verified}


def _meanwhile(ports: Ports, words: str, edit: Callable[[], None]) -> Thread:
    """Begin ``edit`` once, right after a statement of a transaction that has ``words``.

    It goes on until the transaction ends if that keeps the rows for itself.
    """
    thread = Thread(target=edit)

    def begin(_connection: object, _cursor: object, statement: str, *_others: object) -> None:
        if words in statement and not thread.ident:
            thread.start()
            thread.join(0.5)

    with ports.database.transaction() as session:
        engine = session.connection().engine
    event.listen(engine, "after_cursor_execute", begin)
    return thread


def _edit(ports: Ports, **values: object) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(values))


@pytest.mark.parametrize("edited", [True, False])
def test_person_who_is_deactivated_during_a_run_stays_so(
    target: Ports, platform: PlatformDatabase, *, edited: bool
) -> None:
    platform.add("account_user", id=1, email="ada@example.com", is_active=True, first_name="A")
    import_platform(target, platform)
    platform.run("UPDATE account_user SET first_name = 'Ada'")
    thread = _meanwhile(
        target, "users.first_name" if edited else "nothing", lambda: _edit(target, is_active=False)
    )

    import_platform(target, platform)

    if edited:
        thread.join(180)
    user = _user(target, 1)
    assert user is not None
    assert user.is_active is not edited
    assert user.first_name == "Ada"


def test_password_that_is_changed_during_a_run_is_kept(
    target: Ports, platform: PlatformDatabase
) -> None:
    platform.add("account_user", id=1, email="ada@example.com", password=STRONG)
    import_platform(target, platform)
    _edit(target, first_name="Edited here, so that only the password is taken over")
    platform.run("UPDATE account_user SET first_name = 'Ada'")
    _set_password(platform, STRONGER)
    thread = _meanwhile(
        target, "imported_passwords.source_digest", lambda: _edit(target, password_hash="own")
    )

    import_platform(target, platform)

    thread.join(180)
    user = _user(target, 1)
    assert user is not None
    assert user.password_hash == "own"
    assert "users" not in tables_with(target, STRONGER)
