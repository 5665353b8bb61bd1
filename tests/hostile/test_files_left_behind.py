"""What a running installation leaves on disk and in its log is of no use to other accounts."""

import json
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import text

from app.adapters.mail.mailer import FileMailer
from app.adapters.queue.delivery_queue import SqliteQueue
from app.adapters.system import FileProfiles
from app.composition.settings import SettingsError, load_settings
from app.composition.wiring import connect
from app.domain.deliveries.deliveries import Batch
from app.domain.mails.mail import RenderedMail
from app.ports.instance import Profile
from tests.commands.real_installation import answers, at_a_terminal, end, wait_until
from tests.fakes.keys import SECRET
from tests.servers.free_ports import free_port

PRODUCTION = {
    "APP_ENV": "production",
    "SECRET_KEY": SECRET,
    "PUBLIC_URL": "https://shop.example.com",
}
RESET = (
    'mutation { requestPasswordReset(email: "customer@example.com",'
    ' redirectUrl: "http://localhost:3000/reset") { errors { code } } }'
)


@contextmanager
def _careless_account() -> Iterator[None]:
    """Processes started meanwhile let everyone read what they create, unless they see to it."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def _exposed(*folders: Path) -> dict[str, str]:
    """Files and folders that another account could open, with their modes."""
    modes = {
        str(path): mode
        for folder in folders
        for path in (folder, *folder.rglob("*"))
        if (mode := _mode(path)) is not None
    }
    assert len(modes) > len(folders)
    return {path: stat.filemode(mode) for path, mode in modes.items() if mode & 0o077}


def _mode(path: Path) -> int | None:
    """Return the file's mode; ``None`` if SQLite has removed it since its folder was listed."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@pytest.mark.first
def test_files_of_a_run_are_private(tmp_path: Path) -> None:
    data, mail = tmp_path / "data", tmp_path / "deeper" / "mail"
    installed = at_a_terminal(
        f"sqlite:///{data / 'shop.sqlite3'}", tmp_path, MAIL_URL=f"file:{mail / 'mails.txt'}"
    )
    port = free_port()
    with _careless_account():
        for words in (["db", "upgrade"], ["user", "create", "customer@example.com"]):
            done = installed.run(*words)
            assert done.returncode == 0, done.stderr
        process = installed.start("serve", "--port", str(port), "--workers", "1")
    try:
        wait_until(lambda: answers(port), "it answers")
        body = json.dumps({"query": RESET}).encode()
        request = Request(
            f"http://127.0.0.1:{port}/graphql/", body, {"Content-Type": "application/json"}
        )
        with urlopen(request) as response:  # noqa: S310
            assert json.load(response)["data"]["requestPasswordReset"]["errors"] == []
        wait_until(lambda: _token(mail) != "", "the mail is there")
        wait_until((data / "shop.sqlite3-queue").exists, "the queue is there")
        assert (data / "shop.sqlite3-wal").exists()
        assert _exposed(data, tmp_path / "deeper") == {}
        wait_until(lambda: "mails.txt" in installed.output, "it tells where the mail is")
    finally:
        end(process)
    assert _token(mail) not in installed.output
    assert "token=" not in installed.output
    assert _exposed(data, tmp_path / "deeper") == {}


def _token(mail: Path) -> str:
    file = mail / "mails.txt"
    found = re.search(r"token=([A-Za-z0-9]{43})", file.read_text()) if file.exists() else None
    return "" if found is None else found[1]


def test_files_of_an_earlier_version_are_made_private(tmp_path: Path) -> None:
    database, queue, mails = (tmp_path / name for name in ("shop.sqlite3", "queue", "mails.txt"))
    for file in (database, queue, mails):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE some (one)")
    wal = Path(f"{database}-wal")
    mails.write_text("")
    wal.touch()
    for file in (database, queue, mails, wal):
        file.chmod(0o644)

    _use(database, queue, mails)

    assert {path for path in _exposed(tmp_path) if path != str(tmp_path)} == set()


@pytest.mark.usefixtures("_loose_umask")
def test_each_store_is_private_without_the_process_s_umask(tmp_path: Path) -> None:
    folder = tmp_path / "one" / "two"
    _use(folder / "shop.sqlite3", folder / "queue", folder / "mails.txt")
    FileProfiles(folder / "latchkey").save(Profile(url="https://a.example/graphql/", token="x"))
    assert _exposed(tmp_path / "one") == {}


@pytest.fixture
def _loose_umask() -> Iterator[None]:
    with _careless_account():
        yield


def _use(database: Path, queue: Path, mails: Path) -> None:
    ports = connect(load_settings({"DATABASE_URL": f"sqlite:///{database}"}))
    for opened in (ports.database.reading(), ports.database.transaction()):
        with opened as session:
            session.execute(text("SELECT 1"))
    ports.database.close()
    batches = SqliteQueue(queue)
    batches.put(Batch("x", 1, (1,)))
    batches.close()
    rendered = RenderedMail("Shop", "", "a@example.com", "Hello", "Hello\n", "<p>Hello</p>")
    FileMailer(mails, "noreply@localhost").send(rendered)


def test_production_without_a_mail_server_refuses_to_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(PRODUCTION)
    assert [problem.partition(":")[0] for problem in refused.value.problems] == ["MAIL_URL"]
    url = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
    failed = at_a_terminal(url, tmp_path, **PRODUCTION).run("serve")
    assert failed.returncode == 1
    assert "MAIL_URL: must be set in production" in failed.stderr


def test_production_starts_with_a_mail_server_or_an_explicit_file(tmp_path: Path) -> None:
    for url in ("smtp://mail.example.com", f"file:{tmp_path / 'mails.txt'}"):
        assert not load_settings({**PRODUCTION, "MAIL_URL": url}).development
