"""``flask export``: what is in the file, of which moment, and who can read it."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, select

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.domain.authorization.actor import OPERATOR
from app.domain.imports.exports import Section, is_secret_header
from app.models.record import NOT_EXPORTED
from app.ports import Ports
from app.services.imports import export_tables
from app.services.imports.export_tables import TABLES, ExportedTable
from app.services.imports.exports import export_installation
from tests.builders.audit import trail
from tests.builders.people import make_user, user_as_stored
from tests.builders.personal_data import EMAIL, make_person_with_traces
from tests.commands.shell import run, run_json
from tests.fixtures.ports import fake_ports
from tests.imports.sample_installation import CLIENT_SECRET, HEADERS, WEBHOOK_SECRET, fill_sample

SECRETS = re.compile(r"(secret|password|hash|digest|token|key)s?$")
"""How a column is named that probably holds a secret."""


def read(lines: Iterable[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def of_type(lines: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == name]


def test_columns_are_exported_but_those_that_the_model_leaves_out_for_a_reason() -> None:
    left_out = {
        (table.name, column.key): column.columns[0].info[NOT_EXPORTED]
        for table in TABLES
        for column in inspect(table.record).column_attrs
        if column.key not in table.fields
    }
    assert all(left_out.values())
    assert ("app_token", "last_used_at") in left_out
    assert ("app_token", "name") not in left_out


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_column_named_like_a_secret_is_exported_as_one(table: ExportedTable) -> None:
    named = {name for name in table.fields if SECRETS.search(name)}
    assert named <= {*table.secrets, "enable_refresh_token"} or table.is_secret


def test_export_with_secrets_has_every_row_and_secrets_in_plain_text(ports: Ports) -> None:
    sample = fill_sample(ports)
    lines = read(export_installation(ports, OPERATOR, with_secrets=True))
    header, *rows, end = lines
    assert (header["type"], header["format"], header["secrets"]) == ("export", 1, True)
    assert end == {"type": "end", "lines": len(rows)}
    assert {row["type"] for row in rows} == {table.name for table in TABLES}
    zoe, staff = of_type(rows, "user")
    assert (zoe["id"], zoe["first_name"], zoe["note"]) == (
        sample.customer,
        "Zoë",
        "Prefers email.\nCalls rarely.",
    )
    assert zoe["password_hash"] == user_as_stored(ports, sample.customer).password_hash
    assert staff["password_hash"] is None
    assert list(zoe["public_metadata"]) == ["a", "b"]
    assert of_type(rows, "group")[0]["permissions"] == ["MANAGE_ORDERS", "MANAGE_USERS"]
    [webhook] = of_type(rows, "webhook")
    assert webhook["secret"] == WEBHOOK_SECRET
    assert webhook["custom_headers"] == HEADERS
    assert webhook["events"] == ["CUSTOMER_CREATED", "ORDER_CREATED"]
    assert of_type(rows, "provider")[0]["client_secret"] == CLIENT_SECRET
    assert sample.token not in json.dumps(lines)


def test_export_without_secrets_names_what_it_leaves_out(ports: Ports) -> None:
    sample = fill_sample(ports)
    lines = read(export_installation(ports, OPERATOR))
    text = json.dumps(lines)
    stored = user_as_stored(ports, sample.customer).password_hash
    for secret in (stored, WEBHOOK_SECRET, CLIENT_SECRET, HEADERS["X-Api-Key"]):
        assert str(secret) not in text
    assert of_type(lines, "app_token") == []
    zoe, staff = of_type(lines, "user")
    assert (zoe["withheld"], "withheld" in staff) == (["password_hash"], False)
    [webhook] = of_type(lines, "webhook")
    assert webhook["withheld"] == ["secret", "custom_headers.X-Api-Key"]
    assert webhook["custom_headers"] == {"X-Region": "eu"}
    assert of_type(lines, "provider")[0]["withheld"] == ["client_secret"]


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("Authorization", True),
        ("Authorization-Bearer", True),
        ("X-API-KEY", True),
        ("X-Access-Token", True),
        ("X-Region", False),
        ("BrokerProperties", False),
    ],
)
def test_headers_that_look_like_credentials(name: str, is_secret: bool) -> None:
    assert is_secret_header(name) is is_secret


@pytest.mark.both_databases
def test_second_factors_are_in_no_export(ports: Ports) -> None:
    person = make_person_with_traces(ports)
    with ports.database.reading() as session:
        app = session.get_one(models.AuthenticatorApp, person.id)
        codes = session.scalars(select(models.RecoveryCode.code_hash)).all()
    exported = "".join(export_installation(ports, OPERATOR, with_secrets=True))
    assert EMAIL in exported
    secrets = (app.secret, *codes, "credential-of-zoe", "key-of-zoe", "Zoephone")
    assert [secret for secret in secrets if secret in exported] == []


@pytest.mark.both_databases
def test_export_is_of_one_moment(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it reads in batches; one that is broken off leaves no connection at its moment."""
    monkeypatch.setattr(
        export_tables, "TABLES", tuple(replace(table, batch=1) for table in TABLES)
    )
    for number in range(3):
        make_user(ports, f"user{number}@example.com")
    broken_off, whole = (
        iter(export_installation(ports, OPERATOR, [Section.PEOPLE])) for _ in range(2)
    )
    for lines in (broken_off, whole):
        assert [next(lines) for _ in range(2)]
    make_user(ports, "later@example.com")
    emails = [line["email"] for line in of_type(read(whole), "user")]
    assert emails == ["user1@example.com", "user2@example.com"]
    del broken_off, lines
    for _ in range(3):
        found = read(export_installation(ports, OPERATOR, [Section.PEOPLE]))
        assert of_type(found, "user")[-1]["email"] == "later@example.com"


def test_export_reads_in_batches(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_sample(ports)
    whole = list(export_installation(ports, OPERATOR))[1:]
    reports: list[tuple[int, int]] = []
    small = tuple(replace(table, batch=1) for table in TABLES)
    monkeypatch.setattr(export_tables, "TABLES", small)
    single = export_installation(
        ports, OPERATOR, on_progress=lambda done, total: reports.append((done, total))
    )
    assert list(single)[1:] == whole
    assert reports[-1] == (len(whole) - 1, len(whole) - 1)


def test_both_databases_export_the_same(sqlite_url: str, postgresql_url: str, clock: Any) -> None:
    exports = []
    for url in (sqlite_url, postgresql_url):
        ports = fake_ports(url, clock)
        fill_sample(ports)
        lines = read(export_installation(ports, OPERATOR))
        for line in lines:
            line.pop("id", None)
        exports.append([line for line in lines if line["type"] != "app_token"])
        ports.database.close()
    assert exports[0] == exports[1]


def test_export_is_audited(ports: Ports) -> None:
    list(export_installation(ports, OPERATOR, [Section.APPS], with_secrets=True))
    [entry] = trail(ports, "export.create")
    assert entry.after == {"sections": ["apps"], "with_secrets": True}


def test_file_is_private_and_replaced(ports: Ports, tmp_path: Path) -> None:
    fill_sample(ports)
    file = tmp_path / "shop.jsonl"
    file.write_text("an older one")
    file.chmod(0o644)
    assert run_json(ports, "export", str(file), "--with-secrets") == {"file": str(file)}
    assert file.stat().st_mode & 0o777 == 0o600
    assert read(file.read_text().splitlines())[-1]["type"] == "end"
    assert list(tmp_path.iterdir()) == [file]


def test_sections_and_standard_output(ports: Ports) -> None:
    fill_sample(ports)
    result = run(ports, "export", "-", "--only", "staff,apps")
    types = {line["type"] for line in read(result.stdout.splitlines())}
    assert types == {
        *("export", "group", "group_member", "user_permission", "app", "app_extension", "end")
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--with-secrets"), "Secrets can't be written to standard output. Name a file."),
        (("-", "--only", "peopel"), "Unknown value 'peopel'. Did you mean people?"),
        (("-", "--only", ","), "Name at least one section"),
    ],
)
def test_refused_exports(ports: Ports, arguments: tuple[str, ...], message: str) -> None:
    result = run(ports, "export", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_folder_that_is_missing(ports: Ports, tmp_path: Path) -> None:
    file = tmp_path / "missing" / "shop.jsonl"
    result = run(ports, "export", str(file))
    assert result.exit_code == 1
    assert f"Can't write {file}: No such file or directory." in result.stderr


def test_secret_of_another_key_is_named(ports: Ports, tmp_path: Path) -> None:
    sample = fill_sample(ports)
    other = replace(ports, encryption=AesEncryption("another secret key of the installation"))
    file = tmp_path / "shop.jsonl"
    result = run(other, "export", str(file), "--only", "webhooks", "--with-secrets")
    assert result.exit_code == 1
    assert f"The secret of webhook {sample.webhook} can't be read" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert run(other, "export", str(file), "--only", "webhooks").exit_code == 0
