"""``flask import file``: what ``flask export`` wrote, in a database of the other kind."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from sqlalchemy import delete, func, select

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.adapters.keys.passwords import Argon2Hasher
from app.domain.authorization.actor import OPERATOR
from app.domain.imports.runs import Finding
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.identity.identify import identify
from app.services.imports.export_reading import ExportFileOptions, import_export
from app.services.imports.exports import export_installation
from app.services.people.directory import list_users
from app.services.shop.settings import show_settings
from app.services.webhooks.stored_webhooks import read_webhooks
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import change_user, make_user, visit
from tests.builders.second_factor_rule import require_second_factor
from tests.commands.shell import run, run_json
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.imports.sample_installation import WEBHOOK_SECRET, Sample, fill_sample

OTHER_KEY = "another secret key of another installation"
PASSWORD = "the customer's password"
INVALID = "VALUE_INVALID"


@dataclass(frozen=True, slots=True)
class Move:
    """An installation, an empty one on the other kind of database, and the export between."""

    here: Ports
    there: Ports
    sample: Sample
    file: Path

    def export(self, *options: str) -> None:
        run_json(self.here, "export", str(self.file), *options)

    def take_in(self, *options: str) -> Any:
        return run_json(self.there, "import", "file", str(self.file), *options)

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))


@pytest.fixture
def move(
    request: pytest.FixtureRequest,
    sqlite_url: str,
    postgresql_url: str,
    clock: FakeClock,
    tmp_path: Path,
) -> Iterator[Move]:
    urls = [sqlite_url, postgresql_url]
    if getattr(request, "param", "sqlite") == "postgresql":
        urls.reverse()
    here, there = (fake_ports(url, clock) for url in urls)
    there = replace(there, encryption=AesEncryption(OTHER_KEY))
    sample = fill_sample(here)
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    change_user(here, sample.customer, password_hash=hashed)
    yield Move(here, there, sample, tmp_path / "shop.jsonl")
    here.database.close()
    there.database.close()


def lines_of(ports: Ports, *, with_secrets: bool = True) -> list[str]:
    return list(export_installation(ports, OPERATOR, with_secrets=with_secrets))[1:]


def codes(report: Any) -> list[tuple[str, str]]:
    return [(finding["key"], finding["code"]) for finding in report["findings"]]


def rows_in(ports: Ports, record: type[models.Record]) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(record)) or 0


def words_in(ports: Ports) -> set[tuple[int, str]]:
    """Return the words that people are found by; addresses are among them."""
    with ports.database.reading() as session:
        rows = session.execute(select(models.UserWord.user_id, models.UserWord.word))
        words = {(key, word) for key, word in rows}
    assert any(word == "poland" for _, word in words), words
    return words


@pytest.mark.parametrize("move", ["sqlite", "postgresql"], indirect=True)
def test_round_trip_between_databases_is_equal(move: Move) -> None:
    move.export("--with-secrets")
    report = move.take_in()
    assert report["findings"] == []
    assert {each["leftOut"] for each in report["imported"]} == {0}
    assert lines_of(move.there) == lines_of(move.here)
    assert words_in(move.there) == words_in(move.here)
    assert events(move.there) == []
    assert len(trail(move.there, "import.run")) == 1


UNSAVABLE: tuple[tuple[str, object, object, str], ...] = (
    ("staff_second_factor", "OPTIONAL", "SOMETIMES", "staff_second_factor"),
    ("staff_second_factor", "OPTIONAL", "REQUIRED", "second_factor_from"),
    ("second_factor_from", None, "2026-03-01T12:00:00+00:00", "second_factor_from"),
    ("second_factor_grace_days", 14, -1, "second_factor_grace_days"),
    ("password_login_mode", "ENABLED", "MAYBE", "password_login_mode"),
    ("staff_invitation_sender", "OURS", "THEIRS", "settings"),
    ("mail_reply_to", "", "a@b.example\nBcc: c", "mail_reply_to"),
)
"""A setting, its value in the export and another one, and what the report names."""


def test_settings_that_could_not_be_saved_are_left_out(move: Move) -> None:
    move.export()
    exported, before = move.file.read_text(), show_settings(move.there, OPERATOR)
    for name, old, new, field in UNSAVABLE:
        move.file.write_text(exported)
        move.change(*(f'"{name}":{json.dumps(value)}' for value in (old, new)))
        report = move.take_in()
        [reason] = [each["reason"] for each in report["findings"] if each["code"] == INVALID]
        assert reason == f"{field} is missing or can't be read."
        assert show_settings(move.there, OPERATOR) == before, (name, new)


def test_required_second_factor_is_imported_with_its_moment(move: Move) -> None:
    """The control."""
    require_second_factor(move.here)
    move.export()
    move.take_in()
    assert show_settings(move.there, OPERATOR) == show_settings(move.here, OPERATOR)


def test_passwords_tokens_and_secrets_work_under_another_key(move: Move) -> None:
    move.export("--with-secrets")
    move.take_in()
    there, sample = move.there, move.sample
    with there.database.reading() as session:
        customer = session.get_one(models.User, sample.customer)
        stored = session.get_one(models.Webhook, sample.webhook)
        [webhook] = read_webhooks(there, session, [stored])
        origin = session.get_one(models.ImportedPassword, sample.customer)
    assert customer.password_hash is not None
    hasher = Argon2Hasher()
    assert hasher.verify(customer.password_hash, PASSWORD)
    assert webhook.reveal() == WEBHOOK_SECRET
    assert identify(there, visit(sample.token)).actor.app_id == sample.app
    assert origin.state == "IMPORTED"


def test_people_apps_and_webhooks_are_found(move: Move) -> None:
    move.export("--with-secrets")
    move.take_in()
    page = PageRequest(5)
    assert [user.id for user in list_users(move.there, OPERATOR, page, search="agren").items] == [
        move.sample.customer
    ]
    found = list_apps(move.there, OPERATOR, page, AppFilter(search="parcel")).items
    assert [app.id for app in found] == [move.sample.app]


def test_new_rows_get_ids_above_the_imported_ones(move: Move) -> None:
    move.export("--with-secrets")
    move.take_in()
    highest = max(move.sample.customer, move.sample.staff)
    assert make_user(move.there, "new@example.com") > highest


def test_export_without_secrets_is_imported_disabled(move: Move) -> None:
    move.export()
    report = move.take_in()
    assert {code for _, code in codes(report)} == {"PASSWORD_WITHHELD", "SECRET_WITHHELD"}
    before, after = (
        {line["type"]: line for line in map(json.loads, lines_of(ports, with_secrets=False))}
        for ports in (move.here, move.there)
    )
    assert (before["webhook"]["is_active"], after["webhook"]["is_active"]) == (True, False)
    assert (before["provider"]["active"], after["provider"]["active"]) == (True, False)
    with move.there.database.reading() as session:
        origin = session.get_one(models.ImportedPassword, move.sample.customer)
    assert origin.state == "MUST_RESET"


def test_dry_run_reports_the_same_and_writes_nothing(move: Move) -> None:
    move.export()
    dry = move.take_in("--dry-run")
    assert rows_in(move.there, models.User) == rows_in(move.there, models.ImportedRow) == 0
    real = move.take_in()
    assert (dry["imported"], dry["findings"]) == (real["imported"], real["findings"])


def test_second_run_changes_nothing(move: Move) -> None:
    move.export("--with-secrets")
    move.take_in()
    change_user(move.there, move.sample.customer, first_name="Edited")
    with move.there.database.transaction() as session:
        session.execute(delete(models.Address))
    before = lines_of(move.there)
    report = move.take_in()
    assert report["findings"] == []
    assert {each["created"] for each in report["imported"]} == {0}
    assert lines_of(move.there) == before
    move.change('"Support"', '"Supporters"')
    assert codes(move.take_in()) == [("13 (group)", "CHANGED_IN_FILE")]
    assert lines_of(move.there) == before


@pytest.mark.parametrize("move", ["sqlite", "postgresql"], indirect=True)
def test_interrupted_import_continues_and_keeps_its_ids_free(move: Move) -> None:
    move.export("--with-secrets")
    options = ExportFileOptions(move.file.name)
    findings: list[Finding] = []

    def interrupt(title: str, _done: int, _total: int) -> None:
        if title == "Settings":
            raise KeyboardInterrupt

    def lines() -> list[bytes]:
        return move.file.read_bytes().splitlines()

    with pytest.raises(KeyboardInterrupt):
        import_export(move.there, OPERATOR, lines, options, findings.append, interrupt)
    own = make_user(move.there, "own@example.com")
    assert own > max(move.sample.customer, move.sample.staff)
    assert move.take_in()["findings"] == findings == []
    with move.there.database.transaction() as session:
        session.execute(delete(models.User).where(models.User.id == own))
    assert lines_of(move.there) == lines_of(move.here)


def test_taken_ids_stop_the_import(move: Move) -> None:
    move.export("--with-secrets")
    make_user(move.there, "own@example.com")
    result = run(move.there, "import", "file", str(move.file))
    assert result.exit_code == 3
    assert "Rows here have IDs of the export: user 1." in result.stderr
    assert rows_in(move.there, models.Address) == 0


def test_sections_need_their_owners(move: Move) -> None:
    move.export("--with-secrets")
    report = move.take_in("--only", "webhooks,staff")
    assert [code for _, code in codes(report)] == ["OWNER_MISSING"] * 3
    report = move.take_in("--only", "apps")
    assert report["findings"] == []


def test_rows_that_do_not_fit_are_left_out(move: Move) -> None:
    move.export("--with-secrets")
    move.change('"email":"zoë@example.com"', '"email":7')
    move.change("MANAGE_ORDERS", "MANAGE_MOONS")
    move.change("CUSTOMER_CREATED", "MOON_CREATED")
    report = move.take_in()
    found = {code for _, code in codes(report)}
    assert found == {"VALUE_INVALID", "OWNER_MISSING", "NAME_UNKNOWN"}
    left_out = {each["kind"]: each["leftOut"] for each in report["imported"]}
    assert (left_out["user"], left_out["address"], left_out["app"]) == (1, 1, 0)
    assert "zoë" not in "".join(lines_of(move.there))


def test_email_of_someone_else_is_left_out(move: Move) -> None:
    move.export("--with-secrets", "--only", "people")
    for _ in range(5):
        last = make_user(move.there, "zoë@example.com")
        with move.there.database.transaction() as session:
            session.execute(delete(models.User).where(models.User.id == last))
    make_user(move.there, "zoë@example.com")
    report = move.take_in()
    taken = [finding for finding in report["findings"] if finding["code"] == "TAKEN"]
    assert [finding["reason"] for finding in taken] == ["Row 6 here has the same email."]


DAMAGES: list[tuple[Callable[[str], str], str]] = [
    (lambda text: "", "isn't an export of Latchkey."),
    (lambda text: "email\n", "isn't an export of Latchkey."),
    (lambda text: text.replace('"format":1', '"format":2'), "written by a newer version."),
    (lambda text: text.rpartition('{"type":"end"')[0], "is incomplete. Export it again."),
    (lambda text: text.replace('{"type":"group"', '{"type":"group'), "is damaged."),
    (lambda text: text.replace('"type":"group"', '"type":"moon"'), "of an unknown type"),
    (
        lambda text: "\n".join(text.split("\n")[:2] + text.split("\n")[3:]),
        "is incomplete. Export it again.",
    ),
]


def test_damaged_files_change_nothing(sqlite_url: str, clock: FakeClock, tmp_path: Path) -> None:
    ports = fake_ports(sqlite_url, clock)
    fill_sample(ports)
    file = tmp_path / "shop.jsonl"
    run_json(ports, "export", str(file))
    whole, before = file.read_text(), lines_of(ports)
    for change, message in DAMAGES:
        file.write_text(change(whole))
        result = run(ports, "import", "file", str(file))
        assert (result.exit_code, message in result.stderr) == (3, True), result.stderr
        assert lines_of(ports) == before, message
    ports.database.close()
