"""The commands of each page work, typed one after the other into one shell."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.composition.settings import Settings
from tests.docs.blocks import SHELL, Block, blocks_of, pages
from tests.docs.reader import SHOP, Reader, shell
from tests.imports.platform import platform_database
from tests.servers.flask_program import flask_program
from tests.servers.run import ROOT, once, server_url
from tests.spec.server import environment, run_operator, running

pytestmark = pytest.mark.first
_NEEDED = ("curl", "node", "sh")
_OF_A_SERVED_SHOP = (SHOP, "flask doctor", "webhook listen")
_VENDOR = Settings().vendor


def _commands(page: str) -> bool:
    """Whether the page has commands to run; parsing all pages took a fifth of the collection."""
    return f"```{SHELL}" in (ROOT / page).read_text() and bool(_blocks_to_run(page))


def _is_served(page: str) -> bool:
    """Whether a command of the page needs the server or the worker, which take 0.3 s."""
    return any(word in block.text for word in _OF_A_SERVED_SHOP for block in _blocks_to_run(page))


def _blocks_to_run(page: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == SHELL and not block.not_run]


@pytest.fixture(scope="module")
def demo_file(run_directory: Path, _migrated_file: Path) -> Path:
    """Return the database of a demo shop, made once per run, beside the sign-ins of its people."""
    file = run_directory / "documented.sqlite3"
    url = f"sqlite:///{file}"

    def make() -> str:
        shutil.copy(_migrated_file, file)
        made = run_operator(url, "demo", "--once", "--json")
        assert made.returncode == 0, made.stderr
        return made.stdout

    sign_ins = once(run_directory, "documented-shop", make)
    file.with_suffix(".json").write_text(sign_ins)
    return file


@pytest.fixture
def reader(name: str, tmp_path: Path, demo_file: Path) -> Iterator[Reader]:
    """Somebody with a demo shop of their own; if the page needs it, ``make run`` serves it."""
    missing = [name for name in _NEEDED if shutil.which(name) is None]
    assert not missing, f"the pages' commands need {missing}"
    copied = tmp_path / "shop.sqlite3"
    shutil.copy(demo_file, copied)
    url = f"sqlite:///{copied}"
    made = json.loads(demo_file.with_suffix(".json").read_text())
    settings = {"VENDOR": _VENDOR, "MAIL_URL": f"file:{tmp_path / 'mails.txt'}"}
    folder = tmp_path / "reader"
    folder.mkdir()
    served = _is_served(name)
    with flask_program(tmp_path) as programs, ExitStack() as stack:
        server = stack.enter_context(running(tmp_path, url, (), **settings)) if served else None
        shop = f"localhost:{urlsplit(server.url).port}" if server else ""
        session = stack.enter_context(shell(folder, _environment(url, settings, folder, programs)))
        yield Reader(session, shop, {one["name"]: one["secret"] for one in made})
        faults = server.new_errors() if server else ""
    assert not faults, f"The server logged a fault:\n{faults}"


@pytest.fixture
def moving(run_directory: Path, worker: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A database of the platform, and the URL of a new one to move into."""
    server = server_url(run_directory, "postgresql")
    with platform_database(server, f"documented_{worker}") as platform:
        platform.add("account_user", id=42, email="ada@example.com", is_active=True)
        target = f"sqlite:///{tmp_path / 'moved.sqlite3'}"
        yield {"platformDatabaseUrl": platform.url, "databaseUrl": target}


def _environment(
    url: str, settings: dict[str, str], folder: Path, programs: Path
) -> dict[str, str]:
    places = [str(programs), *(str(Path(shutil.which(name) or "").parent) for name in _NEEDED)]
    path = {"PATH": ":".join(dict.fromkeys([*places, "/usr/bin", "/bin"])), "HOME": str(folder)}
    return {**environment(url, **settings), **path}


@pytest.mark.parametrize("name", [name for name in pages() if _commands(name)])
def test_commands_of_a_page_work_in_order(
    name: str, reader: Reader, request: pytest.FixtureRequest
) -> None:
    if any("PLATFORM_DATABASE_URL=…" in block.text for block in blocks_of(name)):
        reader.printed.append(request.getfixturevalue("moving"))
    for block in _blocks_to_run(name):
        reader.type_in(block)
