"""The folder and account of a test server, which never runs as root."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 180.0
"""Seconds that a server can take to start on a busy machine."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    process: subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Lodging:
    """A server's private folder, and the account that owns the folder and the server.

    ``account`` is ``None`` where the tests run as an ordinary user, who then owns all of it. For
    root it is ``nobody``: PostgreSQL refuses to run as root, and Valkey has no reason to.
    ``log`` is the open file that servers write to; by default it is standard error.
    """

    folder: Path
    account: pwd.struct_passwd | None
    log: int = 2

    @classmethod
    def under(cls, run: Path, name: str) -> "Lodging":
        folder = run / name
        folder.mkdir(mode=0o700)
        if os.geteuid() != 0:
            return cls(folder, None)
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        return cls(folder, nobody)

    def programs(self, package: str, *parts: str) -> Path:
        """Return the folder of ``package``, or a copy of ``parts`` of it.

        The account may not be able to look into the environment (a clone in root's home), and
        opening that up to everybody is not for a test run to decide.
        """
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"{package} is not installed: see requirements-dev.txt")
        installed = Path(spec.origin).parents[1]
        if self.account is None:
            return installed
        for part in parts:
            _copy(installed / part, self.folder / "programs" / part)
        return self.folder / "programs"

    def start(self, *command: str | Path) -> subprocess.Popen[bytes]:
        """Run ``command`` in the folder as the account; what it says goes to ``log``."""
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,  # the keeper's own standard output carries the URL alone
            stderr=self.log,
            user=self.account and self.account.pw_uid,
            group=self.account and self.account.pw_gid,
            extra_groups=self.account and [],
        )


def _copy(source: Path, target: Path) -> None:
    """Libraries beside a package exist on some platforms only; what is missing is not copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.exists():
        shutil.copy2(source, target)


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    """Return whether ``process`` started; false if it ended, an error if it does neither."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if ready():
            return True
        time.sleep(0.01)
    process.kill()
    raise TimeoutError(f"{process.args!r} is not ready after {PATIENCE} s.")
