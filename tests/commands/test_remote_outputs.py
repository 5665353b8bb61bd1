"""What commands show that talk to somebody else: apps, providers, other shops, in every form."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

import cli
from app.adapters.system import SystemClock
from app.ports import Ports
from app.web.installation import RemoteAccess
from docs.commands import entries
from tests.builders.remote_instances import make_remote_access
from tests.commands.fake_remote_shop import other_shop
from tests.commands.golden_files import FORMS, GOLDEN, agreed, outcome
from tests.commands.shell import run
from tests.commands.test_outputs import CASES
from tests.commands.webhooks.test_local_and_remote import CASES as ALIKE
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.servers.apps import accept, app_server, refuse
from tests.servers.own_provider import own_provider

STANDARD = (
    # The example of https://www.standardwebhooks.com: another library made it.
    *("--header", "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek"),
    *("--header", "webhook-timestamp: 1614265330"),
    *("--header", "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
)
BODY = '{"test": 2432232314}'


@dataclass(slots=True)
class Shell:
    """An operator's, who asks for one form; what was shown is in ``transcript``."""

    ports: Ports
    remote_access: RemoteAccess
    folder: Path
    form: str
    transcript: str = ""

    def flask(self, *arguments: str, stdin: str | None = None) -> None:
        result = run(
            self.ports,
            *arguments,
            *self.form.split(),
            stdin=stdin,
            remote_access=self.remote_access,
        )
        if self.form == "--json":
            json.loads(result.stdout)
        line = f"$ flask {shlex.join((*arguments, *self.form.split()))}\n"
        transcript = re.sub(r"127\.0\.0\.1:(?!1\b)\d+", "127.0.0.1:PORT", line + outcome(result))
        self.transcript += f"{transcript.replace(str(self.folder), 'FOLDER')}\n"


def install(shell: Shell) -> None:
    with app_server() as app:
        app.decide = lambda _told: refuse("Not this shop.")
        shell.flask("app", "install", app.manifest_url, "--yes")
        shell.flask("app", "installations", "list")
        shell.flask("app", "installations", "retry", "1")
        shell.flask("app", "installations", "delete", "1")
        app.decide = accept
        shell.flask("app", "install", app.manifest_url, "--name", "Another", "--yes")


def discover(shell: Shell) -> None:
    with own_provider(SystemClock()) as provider:
        provider.describe()
        shell.flask("oidc", "discover", provider.url)
    shell.flask("oidc", "discover", "http://127.0.0.1:1")


def login(shell: Shell) -> None:
    with other_shop() as shop:
        words = ("--email", "ann@example.com", "--password-stdin")
        shell.flask("login", shop.url, *words, stdin="a password")
        shell.flask("login", "--list")
        shell.flask("login", shop.url, "--forget")
    shell.flask("login", "http://127.0.0.1:1", *words, stdin="a password")


def listen(shell: Shell) -> None:
    with other_shop() as shop:
        shell.flask("webhook", "listen", "--count", "1", "-u", shop.url)


def verify(shell: Shell) -> None:
    secret = shell.folder / "secret"
    secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    words = ("webhook", "verify", "-", *STANDARD, "--secret-file", str(secret))
    shell.flask(*words, stdin=BODY)
    shell.flask(*words, stdin=f"{BODY} ")


TALKS: dict[str, Callable[[Shell], None]] = {
    "app-install": install,
    "oidc-discover": discover,
    "login": login,
    "webhook-listen": listen,
    "webhook-verify": verify,
}


@contextmanager
def shell_of(url: str, folder: Path, form: str) -> Iterator[Shell]:
    ports = fake_ports(url, FakeClock())
    yield Shell(ports, make_remote_access(folder / "config", token="a token"), folder, form)
    ports.database.close()


@pytest.mark.one_of("form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", TALKS)
def test_what_is_shown_is_what_was_agreed_on(
    sqlite_url: str, tmp_path: Path, case: str, form: str
) -> None:
    with shell_of(sqlite_url, tmp_path, form) as shell:
        TALKS[case](shell)
    name = f"{case}.{form.removeprefix('--') or 'plain'}"
    assert shell.transcript == agreed(GOLDEN / "elsewhere" / name, shell.transcript)


def test_no_agreed_output_is_left_over() -> None:
    names = {f"{case}.{form.removeprefix('--') or 'plain'}" for case in TALKS for form in FORMS}
    assert {file.name for file in (GOLDEN / "elsewhere").iterdir()} == names


RUN_ON = {"operations", "serve", "worker"}
"""They show where they are, and end: `test_processes` has them as processes."""
WRITES_HERE = {"backup", "db revision", "restore"}
"""They write files of this machine or a whole database: `test_backup` and `test_db` run them."""
MOVE_DATA = {"export", "import file", "import platform", "import users", "user export"}
"""They read or write files and other databases: `tests/imports` runs them."""


@cases("group", cli.COMMANDS)
def test_every_command_has_an_agreed_output(group: str) -> None:
    transcript = "".join(file.read_text() for file in (GOLDEN / "elsewhere").iterdir())
    lines = [line.split()[2:] for line in transcript.splitlines() if line.startswith("$ flask ")]
    lines += [[group, *arguments] for arguments in CASES.get(group, {}).values()]
    lines += [["webhook", *arguments] for arguments in ALIKE.values()]
    for entry in entries():
        if entry.path[0] != group or isinstance(entry.command, click.Group):
            continue
        name = " ".join(entry.path)
        if name not in RUN_ON | WRITES_HERE | MOVE_DATA:
            assert any(tuple(line[: len(entry.path)]) == entry.path for line in lines), name
