"""``flask user export`` and ``flask user erase``."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.imports.exports import export_person
from tests.builders.audit import trail
from tests.builders.people import make_user, user_as_stored
from tests.builders.personal_data import EMAIL, LAST_NAME, make_person_with_traces, tables_with
from tests.commands.shell import run, run_json


@pytest.mark.both_databases
def test_export_has_every_section_and_no_secret(ports: Ports) -> None:
    person = make_person_with_traces(ports)
    stored = user_as_stored(ports, person.id)
    exported = export_person(ports, OPERATOR, EMAIL)
    text = json.dumps(exported)
    account = exported["account"]
    assert isinstance(account, dict)
    assert (account["email"], account["last_name"], account["has_password"]) == (
        *(EMAIL, LAST_NAME, True),
    )
    empty = {name for name, value in exported.items() if not value}
    programs = {"connected_programs", "used_programs"}
    assert empty == {"groups", "permissions", "avatars", "saved_filters"} | programs
    assert [delivery["event"] for delivery in exported["deliveries"]] == [  # type: ignore[attr-defined]
        "CUSTOMER_UPDATED",
        "ORDER_CREATED",
        "ADDRESS_UPDATED",
        "ADDRESS_DELETED",
    ]
    assert len(exported["sign_ins"]) >= 2  # type: ignore[arg-type]
    assert str(stored.password_hash) not in text
    with ports.database.reading() as session:
        app = session.get_one(models.AuthenticatorApp, person.id)
        codes = session.scalars(select(models.RecoveryCode.code_hash)).all()
        digests = session.scalars(select(models.AccountLink.digest)).all()
    assert exported["known_devices"][0]["device"] == "Zoephone"  # type: ignore[index]
    secrets = (app.secret, *codes, *digests, "handle-of-zoe", "credential-of-zoe", "key-of-zoe")
    assert len(codes) == 10
    assert [secret for secret in secrets if secret in text] == []


def test_export_of_a_person_is_audited_under_the_id(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com")
    export_person(ports, OPERATOR, "ann@example.com")
    [entry] = trail(ports, "user.export")
    assert (entry.subject_id, entry.subject_name) == (str(key), "")


@pytest.mark.both_databases
def test_export_of_others_is_separate(ports: Ports) -> None:
    make_person_with_traces(ports)
    make_user(ports, "ann@example.com")
    assert EMAIL not in json.dumps(export_person(ports, OPERATOR, "ann@example.com"))


@pytest.mark.both_databases
def test_export_command_writes_a_private_file(ports: Ports, tmp_path: Path) -> None:
    make_person_with_traces(ports)
    file = tmp_path / "zoe.json"
    assert run_json(ports, "user", "export", EMAIL, str(file)) == {"file": str(file)}
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["account"]["email"] == EMAIL
    printed = run(ports, "user", "export", EMAIL, "-")
    assert json.loads(printed.stdout)["account"]["email"] == EMAIL


@pytest.mark.parametrize("command", [("export", "-"), ("erase", "--yes")])
def test_unknown_person_is_named(ports: Ports, command: tuple[str, str]) -> None:
    name, argument = command
    result = run(ports, "user", name, "nobody@example.com", argument)
    assert result.exit_code == 3
    assert "email: " in result.stderr


@pytest.mark.both_databases
def test_erase_command_asks_and_reports(ports: Ports) -> None:
    person = make_person_with_traces(ports)
    unasked = run(ports, "user", "erase", EMAIL)
    assert unasked.exit_code == 2
    assert f"Delete {EMAIL} and erase them from all logs?" in unasked.stderr
    assert tables_with(ports, EMAIL)["users"]
    report = run_json(ports, "user", "erase", EMAIL, "--yes")
    assert (report["id"], report["orders"], report["deliveries"]) == (person.id, 1, 4)
    assert "users" not in tables_with(ports, EMAIL)
