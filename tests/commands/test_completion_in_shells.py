"""TAB in the shells themselves, each with the script that it is given by ``flask completion``."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.apps import make_app
from tests.commands.real_installation import ROOT, TIMEOUT_SECONDS
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.first

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
PROMPT = "what now? "
NAME = "Parcel Post $HOME"


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed here")


def environment(home: Path) -> dict[str, str]:
    return {"PATH": PATH, "HOME": str(home), "DATABASE_URL": "sqlite://", "TERM": "dumb"}


def shell_output(home: Path, *command: str) -> str:
    """What ``command`` says, where ``flask`` finds the shop."""
    shown = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
    assert shown.stderr == ""
    return shown.stdout


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> str:
    """The address of a database with an app whose name has blanks and a dollar sign."""
    file = tmp_path_factory.mktemp("shop") / "shop.sqlite3"
    shutil.copy(_migrated_file, file)
    ports = fake_ports(f"sqlite:///{file}", FakeClock())
    make_app(ports, NAME)
    ports.database.close()
    return f"sqlite:///{file}"


@needs("bash")
def test_bash_completes_commands_and_quotes_names(tmp_path: Path, shop: str) -> None:
    script = (
        f"export DATABASE_URL={shop}; "
        'eval "$(flask completion bash)"; COMP_WORDS=(flask sho); COMP_CWORD=1; '
        '_flask_completion flask; echo "${COMPREPLY[*]}"; '
        "unset COMPREPLY; COMP_WORDS=(flask app show Par); COMP_CWORD=3; "  # as bash does
        '_flask_completion flask; echo "${COMPREPLY[*]}"'
    )
    shown = shell_output(tmp_path, "bash", "-c", script)
    assert shown == "shop\nParcel\\ Post\\ \\$HOME\n"


FISH = {
    "flask web": "webhook\tCreate, update, test and follow webhooks.\n",
    "flask user sign": "sign-out\tEnd all sessions of a person, in every...\n",
    "flask user list --inac": "--inactive\tOnly active or only inactive people.\n",
    "flask group create x --permission manage-ord": "MANAGE_ORDERS\nMANAGE_ORDERS_IMPORT\n",
    "flask webhook verify ./wsgi": "./wsgi.py\n",
}


@needs("fish")
def test_fish_completes_commands_with_descriptions(tmp_path: Path) -> None:
    completions = "; ".join(f"complete -C '{line}'" for line in FISH)
    assert shell_output(
        tmp_path, "fish", "-c", f"flask completion fish | source; {completions}"
    ) == "".join(FISH.values())


class Zsh:
    """Somebody at zsh, with no settings but the script."""

    def __init__(self, home: Path) -> None:
        self._process, self._terminal = pty.fork()
        if not self._process:
            os.chdir(ROOT)
            program = shutil.which("zsh") or "zsh"
            os.execve(program, [("zsh"), "-f", "-i"], environment(home))  # noqa: S606 - no shell in between
        self._shown = ""

    def type(self, keys: str) -> None:
        self._shown = ""
        os.write(self._terminal, keys.encode())

    def sees(self, text: str) -> None:
        """Return once ``text`` stands there; fail the test when it takes too long."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while text not in self._shown:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._terminal], [], [], left)[0]
            assert ready, f"{text!r} does not come: {self._shown!r}"
            new = os.read(self._terminal, 4096).decode(errors="replace")
            self._shown += re.sub(r"\x1b\[[\d;?]*\w|[\r\x07\x08]", "", new)

    def leave(self) -> None:
        os.close(self._terminal)
        os.waitpid(self._process, 0)


@pytest.fixture
def zsh(tmp_path: Path) -> Iterator[Zsh]:
    shell = Zsh(tmp_path)
    shell.type(
        f"autoload -U compinit; compinit -u -d {tmp_path}/dump; PS1='{PROMPT[:4]}''{PROMPT[4:]}'; "
        'eval "$(flask completion zsh)"\n'
    )
    shell.sees(PROMPT)
    yield shell
    shell.leave()


@needs("zsh")
def test_zsh_completes_commands_with_descriptions(zsh: Zsh) -> None:
    for stdin, completed in {
        "flask web": "flask webhook ",
        "flask user sign": "flask user sign-out ",
        "flask user list --inac": "flask user list --inactive ",
        "flask webhook create --event order-pai": "ORDER_PAID ",
        "flask webhook verify ./wsgi": "flask webhook verify ./wsgi.py ",
        "flask user s": "-- End all sessions of a person, in every...",
    }.items():
        zsh.type(f"{stdin}\t")
        zsh.sees(completed)
        zsh.type("\x15")
