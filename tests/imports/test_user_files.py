"""``flask import users``: people from CSV and JSON Lines."""

import csv
import json
import os
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

import bcrypt
import pytest
from sqlalchemy import delete, select

from app import models
from app.adapters.keys.passwords import Argon2Hasher
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.imports.user_files import UserFileOptions, import_users
from app.services.people.directory import find_user, list_users
from app.services.people.erasure import erase_person
from tests.builders.audit import trail
from tests.builders.outbox import events, mails
from tests.builders.people import make_group, make_user
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases
from tests.fixtures.statements import executions

HASHER = Argon2Hasher()
SIGNER_KEY = (
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
)
FIREBASE_HASH = (
    "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
)
CSV_FILE = """\
Email;First Name;last_name;IsActive;date-joined;note;metadata;password_hash;favourite
Zoë@Example.com;Zoë;Ågren;yes;2020-02-03;"Two
lines";"{""crm"": ""7""}";{bcrypt};blue
bob@example.com;Bob;;no;;;;md5$salt$0123;
"""


def bcrypt_hash(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


def write(folder: Path, text: str | bytes, name: str = "people.csv") -> str:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


def json_lines(*rows: dict[str, object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def codes(report: Any) -> list[tuple[int, str]]:
    return [(finding["key"], finding["code"]) for finding in report["findings"]]


def stored(ports: Ports) -> dict[str, models.User]:
    with ports.database.reading() as session:
        return {user.email: user for user in session.scalars(select(models.User))}


def test_csv_with_header_in_any_spelling(ports: Ports, tmp_path: Path) -> None:
    hashed = bcrypt_hash("zoe's password")
    file = write(tmp_path, b"\xef\xbb\xbf" + CSV_FILE.replace("{bcrypt}", hashed).encode())
    report = run_json(ports, "import", "users", file)
    [people] = report["imported"]
    assert (people["read"], people["created"], people["leftOut"]) == (2, 2, 0)
    assert codes(report) == [(1, "COLUMN_UNKNOWN"), (4, "PASSWORD_WEAK")]
    zoe, bob = (stored(ports)[email] for email in ("zoë@example.com", "bob@example.com"))
    assert (zoe.first_name, zoe.last_name, zoe.note) == ("Zoë", "Ågren", "Two\nlines")
    assert (zoe.is_active, bob.is_active, zoe.is_confirmed) == (True, False, True)
    assert zoe.date_joined.isoformat() == "2020-02-03T00:00:00+00:00"
    assert (zoe.password_hash, bob.password_hash) == (hashed, None)
    assert hashed not in json.dumps(report)
    assert HASHER.verify(hashed, "zoe's password")
    [found] = list_users(ports, OPERATOR, PageRequest(5), search="agren").items
    assert found.email == "zoë@example.com"


def test_no_events_and_mails_but_one_audit_entry(ports: Ports, tmp_path: Path) -> None:
    run_json(ports, "import", "users", write(tmp_path, "email\nann@example.com\n"))
    assert (events(ports), mails(ports)) == ([], [])
    [entry] = trail(ports, "import.run")
    assert (entry.subject_name, entry.after["user"]["created"]) == ("people.csv", 1)  # type: ignore[index]
    assert trail(ports, "user.create") == []


def test_dry_run_reports_the_same_and_writes_nothing(ports: Ports, tmp_path: Path) -> None:
    rows = "email,is_active\nann@example.com,\nANN@example.com,\nbob@example.com,maybe\n"
    file = write(tmp_path, rows)
    dry = run_json(ports, "import", "users", file, "--dry-run")
    assert stored(ports) == {}
    real = run_json(ports, "import", "users", file)
    assert codes(dry) == codes(real) == [(3, "LINE_REPEATED"), (4, "VALUE_INVALID")]
    assert dry["imported"] == real["imported"]
    assert list(stored(ports)) == ["ann@example.com"]


def test_second_run_changes_nothing_and_adds_what_is_new(ports: Ports, tmp_path: Path) -> None:
    make_user(ports, "here@example.com", first_name="Here")
    rows = "email,first_name\nann@example.com,Ann\nbob@example.com,Bob\nhere@example.com,There\n"
    file = write(tmp_path, rows)
    run_json(ports, "import", "users", file)
    write(tmp_path, rows.replace("Bob", "Robert") + "eve@example.com,Eve\n")
    report = run_json(ports, "import", "users", file)
    [people] = report["imported"]
    assert (people["created"], people["unchanged"], people["kept"], people["leftOut"]) == (
        *(1, 1, 1, 1),
    )
    assert codes(report) == [(3, "CHANGED_IN_FILE"), (4, "EMAIL_TAKEN")]
    names = {email: user.first_name for email, user in stored(ports).items()}
    assert names == {
        "here@example.com": "Here",
        "ann@example.com": "Ann",
        "bob@example.com": "Bob",
        "eve@example.com": "Eve",
    }


@pytest.mark.both_databases
def test_people_are_inserted_many_at_a_time(ports: Ports, tmp_path: Path) -> None:
    emails = [f"p{number}@example.com" for number in range(1010)]
    file = write(tmp_path, "\n".join(["email", *emails]))
    with executions() as statements:
        [people] = run_json(ports, "import", "users", file)["imported"]
    assert people["created"] == 1010
    assert sum(statement.startswith("INSERT INTO users ") for statement in statements) == 2
    last = find_user(ports, OPERATOR, emails[-1])
    [found] = list_users(ports, OPERATOR, PageRequest(5), search=emails[-1]).items
    assert (found.id, found.email) == (last.id, emails[-1])


def test_interrupted_run_continues(ports: Ports, tmp_path: Path) -> None:
    rows = ["email", *(f"user{number}@example.com" for number in range(1010))]
    file = write(tmp_path, "\n".join(rows))

    def interrupt(_title: str, _number: int, _total: int) -> None:
        raise KeyboardInterrupt

    options = UserFileOptions("people.csv")
    with pytest.raises(KeyboardInterrupt):
        import_users(
            ports,
            OPERATOR,
            lambda: [Path(file).read_bytes()],
            options,
            lambda _finding: None,
            interrupt,
        )
    assert len(stored(ports)) == 1000
    [people] = run_json(ports, "import", "users", file)["imported"]
    assert (people["created"], people["unchanged"]) == (10, 1000)


def test_people_who_were_deleted_here_stay_deleted(ports: Ports, tmp_path: Path) -> None:
    file = write(tmp_path, "email\nann@example.com\nbob@example.com\n")
    run_json(ports, "import", "users", file)
    with ports.database.transaction() as session:
        session.execute(delete(models.User).where(models.User.email == "bob@example.com"))
    [people] = run_json(ports, "import", "users", file)["imported"]
    assert (people["created"], people["unchanged"]) == (0, 2)


def test_staff_and_groups_are_imported_only_on_demand(ports: Ports, tmp_path: Path) -> None:
    group = make_group(ports, "Support", Permission.MANAGE_USERS)
    rows = json_lines(
        {"email": "ann@example.com", "is_staff": True, "groups": ["Support", "Nobody"]},
        {"email": "bob@example.com", "groups": "Support"},
        {"email": "eve@example.com", "is_superuser": True},
    )
    file = write(tmp_path, rows, "people.jsonl")
    plain = run_json(ports, "import", "users", file)
    assert codes(plain) == [
        (1, "STAFF_NOT_WANTED"),
        (2, "STAFF_NOT_WANTED"),
        (3, "COLUMN_UNKNOWN"),
    ]
    report = run_json(ports, "import", "users", file, "--staff")
    assert codes(report) == [
        (1, "GROUP_UNKNOWN"),
        (2, "CUSTOMER_WITH_PERMISSIONS"),
        (3, "COLUMN_UNKNOWN"),
    ]
    ann, bob, eve = (
        find_user(ports, OPERATOR, f"{name}@example.com") for name in ("ann", "bob", "eve")
    )
    assert ([each.id for each in ann.groups], ann.is_staff) == ([group], True)
    assert (bob.is_staff, bob.groups, eve.is_superuser) == (False, (), False)


def test_firebase_users(ports: Ports, tmp_path: Path) -> None:
    """The example of Firebase's own scrypt implementation."""
    key = write(tmp_path, SIGNER_KEY, "key.txt")
    row = {
        "localId": "firebase-1",
        "email": "user1@example.com",
        "emailVerified": False,
        "passwordHash": FIREBASE_HASH,
        "salt": "42xEC+ixf3L2lw==",
        "createdAt": "1580688000000",
        "disabled": True,
        "providerUserInfo": [],
    }
    file = write(tmp_path, json_lines(row), "users.jsonl")
    without = run_json(ports, "import", "users", file, "--dry-run")
    assert codes(without) == [(1, "COLUMN_UNKNOWN"), (1, "PASSWORD_UNKNOWN_FORMAT")]
    arguments = ("--firebase-signer-key-file", key, "--firebase-rounds", "8")
    run_json(ports, "import", "users", file, *arguments, "--firebase-mem-cost", "14")
    user = stored(ports)["user1@example.com"]
    assert (user.external_reference, user.is_confirmed, user.is_active) == (
        *("firebase-1", False, False),
    )
    assert user.date_joined.isoformat() == "2020-02-03T00:00:00+00:00"
    assert user.password_hash is not None
    assert HASHER.verify(user.password_hash, "user1password")
    with ports.database.reading() as session:
        [origin] = session.scalars(select(models.ImportedPassword)).all()
    assert (origin.user_id, origin.state) == (user.id, "IMPORTED")


@cases(
    ("content", "message"),
    [
        (
            "email\nann@example.com\n".encode("utf-16"),
            "people.csv is in UTF-16. Save it as UTF-8.",
        ),
        (b"name\nAnn\n", "people.csv has no column named email."),
        (b"", "people.csv has no column named email."),
        (b'[{"email": "ann@example.com"}]', "people.csv is one JSON array."),
        (b"email\n\xff\n", "Line 2 of people.csv isn't UTF-8 text."),
        (b"email\na@example.com\n" * 3000 + b"\xff\n", "Line 6001 of people.csv isn't UTF-8"),
        (b"email,name\na@example.com,A\0\n", "Line 2 of people.csv has a NUL byte"),
        (b"email,E-Mail\na@example.com,\n", "Line 1 of people.csv names the column E-Mail twice"),
        (b"email,enabled,Enabled\na@example.com,1,0\n", "names the column Enabled twice"),
        (b'{"email": "a@example.com"}\n{"email": "b@exa', "people.csv is cut off in line 2."),
        (
            b'{\n  "email": "a@example.com"\n}\n',
            "Line 1 of people.csv isn't a complete JSON object",
        ),
        (b'{"users": [{"email": "a@example.com"}]}', "Write one object per line"),
        (
            b"email,name\na@example.com,A\n" + b'b@example.com,"B\n' + b"c@example.com,C\n" * 5000,
            "The quote at character 15 of line 3 of people.csv isn't closed",
        ),
    ],
)
def test_unreadable_files_are_refused(
    ports: Ports, tmp_path: Path, content: bytes, message: str
) -> None:
    result = run(ports, "import", "users", write(tmp_path, content))
    assert result.exit_code == 3
    assert message in result.stderr
    assert stored(ports) == {}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_file_of_a_spreadsheet_is_read(ports: Ports, tmp_path: Path, end: str) -> None:
    rows = [
        "\ufeffsep=;",
        "email;first_name;note;;",
        'ann@example.com;"Ann, Lee";"One\nTwo";;',
        "bob@example.com;Bob;;;",
        ";;;;",
        "  ; ;;;",
        "eve@example.com;Eve",
    ]
    report = run_json(ports, "import", "users", write(tmp_path, end.join(rows)))
    assert codes(report) == [(8, "ROW_SHORT")]
    [people] = report["imported"]
    assert (people["read"], people["created"]) == (3, 3)
    names = {email: user.first_name for email, user in stored(ports).items()}
    assert names == {
        "ann@example.com": "Ann, Lee",
        "bob@example.com": "Bob",
        "eve@example.com": "Eve",
    }


def test_row_that_lacks_a_state_is_left_out(ports: Ports, tmp_path: Path) -> None:
    rows = "email,first_name,enabled\nann@example.com,Ann\nbob@example.com,Bob,true\n"
    report = run_json(ports, "import", "users", write(tmp_path, rows))
    assert codes(report) == [(2, "ROW_MALFORMED")]
    assert list(stored(ports)) == ["bob@example.com"]


def test_value_in_a_column_without_a_name_is_not_lost(ports: Ports, tmp_path: Path) -> None:
    rows = "email,,first_name\nann@example.com,Dr.,Ann\nbob@example.com,,Bob\n"
    report = run_json(ports, "import", "users", write(tmp_path, rows))
    assert codes(report) == [(2, "ROW_MALFORMED")]
    assert list(stored(ports)) == ["bob@example.com"]


def test_columns_of_other_systems_that_disable_are_understood(
    ports: Ports, tmp_path: Path
) -> None:
    rows = json_lines(
        {"email": "ann@example.com", "enabled": False, "emailVerified": True},
        {"email": "bob@example.com", "enabled": True, "emailVerified": False},
        {"email": "eve@example.com", "enabled": True, "is_active": False},
        {"email": "kim@example.com", "enabled": "perhaps"},
        {"email": "lee@example.com", "restricted": True},
        {"email": "max@example.com", "restricted": False, "mfa_enabled": False},
        {"email": "pat@example.com", "status": "PASSWORD_EXPIRED", "password_hash": "{hash}"},
        {"email": "roy@example.com", "state": "CA", "city": "Los Angeles"},
    ).replace("{hash}", bcrypt_hash("a good old password"))
    report = run_json(ports, "import", "users", write(tmp_path, rows, "people.jsonl"))
    assert codes(report) == [
        (4, "VALUE_INVALID"),
        (5, "STATE_COLUMN_UNKNOWN"),
        (5, "STATE_UNKNOWN"),
        (6, "COLUMN_UNKNOWN"),
        (7, "PASSWORD_EXPIRED"),
        (8, "COLUMN_UNKNOWN"),
        (8, "COLUMN_UNKNOWN"),
    ]
    users = stored(ports)
    states = {
        email[:3]: (user.is_active, user.is_confirmed, user.password_hash)
        for email, user in users.items()
    }
    assert states == {
        "ann": (False, True, None),
        "bob": (True, False, None),
        "eve": (False, True, None),
        "max": (True, True, None),
        "pat": (True, True, None),
        "roy": (True, True, None),
    }


def test_object_that_names_a_field_twice_is_left_out(ports: Ports, tmp_path: Path) -> None:
    rows = (
        '{"email": "ann@example.com", "enabled": false, "enabled": true}\n'
        '{"email": "bob@example.com", "is_active": false, "isActive": true}\n'
        '{"email": "eve@example.com", "is_active": false}\n'
    )
    report = run_json(ports, "import", "users", write(tmp_path, rows, "people.jsonl"))
    assert codes(report) == [(1, "ROW_MALFORMED"), (2, "ROW_MALFORMED")]
    assert {email: user.is_active for email, user in stored(ports).items()} == {
        "eve@example.com": False
    }


def test_date_that_no_time_zone_can_show_is_left_out(ports: Ports, tmp_path: Path) -> None:
    dates = {
        "9999-12-31T23:59": None,
        "0001-01-01": None,
        "9999-12-31T23:59:59-14:00": None,
        "253402300799999": None,
        "9999-12-30T23:59": "9999-12-30T23:59:00+00:00",
        "0001-01-02": "0001-01-02T00:00:00+00:00",
    }
    rows = [f"{place}@example.com,{written}\n" for place, written in enumerate(dates)]
    report = run_json(
        ports, "import", "users", write(tmp_path, "".join(["email,last_login\n", *rows]))
    )
    assert codes(report) == [(line, "VALUE_INVALID") for line in range(2, 6)]
    people = stored(ports)
    for place, shown in enumerate(dates.values()):
        last_login = people[f"{place}@example.com"].last_login
        assert (last_login and last_login.isoformat()) == shown


def test_pipe_is_read(ports: Ports, tmp_path: Path) -> None:
    pipe = tmp_path / "people"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=("email\nann@example.com\n",), daemon=True)
    writer.start()
    [people] = run_json(ports, "import", "users", str(pipe))["imported"]
    writer.join(timeout=180)
    assert people["created"] == 1


def test_rows_that_do_not_fit(ports: Ports, tmp_path: Path) -> None:
    rows = [
        "email\tfirst_name\tdate_joined\tlanguage_code\tmetadata\texternal_reference",
        "no email\tA\t\t\t\t",
        f"long@example.com\t{'x' * 300}\t\t\t\t",
        "date@example.com\t\tyesterday\ttlh\t[1]\t7",
        "more@example.com\t\t\t\t\t\t\tmore",
        "",
        "ref@example.com\t\t\t\t\t7",
        "year@example.com\t\t0001-01-01T00:00:00+14:00\t\t\t",
    ]
    file = write(tmp_path, "\n".join(rows))
    findings = tmp_path / "findings.csv"
    report = run_json(ports, "import", "users", file, "--csv", str(findings))
    assert codes(report) == [
        (2, "EMAIL_INVALID"),
        (3, "TOO_LONG"),
        (4, "VALUE_INVALID"),
        (4, "VALUE_INVALID"),
        (4, "LANGUAGE_UNKNOWN"),
        (5, "ROW_MALFORMED"),
        (7, "LINE_REPEATED"),
        (8, "VALUE_INVALID"),
    ]
    assert sorted(stored(ports)) == ["date@example.com", "long@example.com", "year@example.com"]
    written = list(csv.reader(findings.read_text().splitlines()))[1:]
    assert Counter(row[3] for row in written) == report["findingCounts"]


def test_person_is_imported_without_a_reference_that_is_taken(
    ports: Ports, tmp_path: Path
) -> None:
    holder = make_user(ports, "holder@example.com")
    with ports.database.transaction() as session:
        session.get_one(models.User, holder).external_reference = "crm-1"
    rows = "email,external_reference\nann@example.com,crm-1\nbob@example.com,crm-2\n"
    file = write(tmp_path, rows)

    report = run_json(ports, "import", "users", file)

    assert codes(report) == [(2, "REFERENCE_TAKEN")]
    assert report["findings"][0]["outcome"] == "CHANGED"
    references = {email: user.external_reference for email, user in stored(ports).items()}
    assert references == {
        "holder@example.com": "crm-1",
        "ann@example.com": None,
        "bob@example.com": "crm-2",
    }
    again = run_json(ports, "import", "users", file)
    assert (codes(again), again["imported"][0]["unchanged"]) == ([], 2)
    with ports.database.transaction() as session:
        session.execute(delete(models.User).where(models.User.email == "ann@example.com"))
    assert codes(run_json(ports, "import", "users", file)) == []
    assert "ann@example.com" not in stored(ports)


def test_json_lines_that_are_no_objects(ports: Ports, tmp_path: Path) -> None:
    file = write(tmp_path, '{"email": "ann@example.com"}\n[1]\n{"email"\n\n', "people.jsonl")
    report = run_json(ports, "import", "users", file)
    assert codes(report) == [(2, "ROW_MALFORMED"), (3, "ROW_MALFORMED")]
    assert list(stored(ports)) == ["ann@example.com"]


def test_source_of_another_kind_is_refused(ports: Ports, tmp_path: Path) -> None:
    file = write(tmp_path, "email\nann@example.com\n")
    run_json(ports, "import", "users", file, "--source", "crm")
    with ports.database.transaction() as session:
        session.execute(select(models.User))
        from_platform = session.connection().exec_driver_sql(
            "UPDATE imports SET kind = 'PLATFORM'"
        )
        assert from_platform.rowcount == 1
    result = run(ports, "import", "users", file, "--source", "crm")
    assert "crm is the name of another import. Choose one with --source." in result.stderr


def test_erased_people_leave_no_digest(ports: Ports, tmp_path: Path) -> None:
    file = write(tmp_path, "email\nann@example.com\n")
    run_json(ports, "import", "users", file)
    erase_person(ports, OPERATOR, "ann@example.com")
    assert stored(ports) == {}


@pytest.mark.parametrize("command", ["users", "file"])
def test_missing_files_are_named(ports: Ports, tmp_path: Path, command: str) -> None:
    file = tmp_path / "missing.csv"
    result = run(ports, "import", command, str(file))
    assert result.exit_code == 2
    assert f"Can't read {file}: No such file or directory." in result.stderr
