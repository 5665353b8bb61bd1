"""The installation that is attacked: a demo shop, served by real processes on this machine."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, update

from app import models
from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.demo.shop import fill_shop
from benchmarks.servers import ROOT, Server, free_port
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.servers.smtp import smtp_server

EMAIL = "fuzz@example.com"
CUSTOMER = "fuzz-customer@example.com"
SECRET = "a secret of the installation that random input is sent to"
_START_SECONDS = 60
_TRACEBACKS = ("Traceback (most recent call last)", '"exception":')
_OFFLINE = Path(__file__).parent / "offline"


@dataclass(slots=True)
class FuzzedShop:
    """A shop that is served on ``port``, and everything that it logs."""

    port: int
    ports: Ports
    settings: Settings
    process: "subprocess.Popen[bytes]"
    log: Path
    app_token: str
    password_hash: str
    access: str = ""
    customer: str = ""
    _read: int = 0

    def restore(self) -> None:
        """Undo what random input has done to the switches and to those who send it."""
        switches = {"password_login_mode": "ENABLED", "allow_storefront_traffic": True}
        with self.ports.database.transaction() as session:
            session.execute(update(models.Shop).values(**switches))
        self.access = self._token_of(EMAIL, is_superuser=True)
        self.customer = self._token_of(CUSTOMER, is_superuser=False)

    def restore_password(self) -> None:
        """Give the superuser the password that is typed into the console again."""
        self._change(EMAIL, password_hash=self.password_hash)

    def _token_of(self, email: str, *, is_superuser: bool) -> str:
        with self.ports.database.reading() as session:
            key = session.scalar(select(models.User.id).where(models.User.email == email))
        if key is None:
            key = make_user(self.ports, email)
        self._change(email, is_active=True, is_staff=is_superuser, is_superuser=is_superuser)
        return sign_in(self.ports, key).access

    def _change(self, email: str, **values: object) -> None:
        with self.ports.database.transaction() as session:
            session.execute(update(models.User).where(models.User.email == email).values(**values))

    def new_traceback(self) -> str:
        """What the log has gained since the last call, if there is a traceback in it."""
        if self.log.stat().st_size == self._read:
            return ""
        fresh = self.log.read_bytes()[self._read :]
        self._read += len(fresh)
        text = fresh.decode(errors="replace")
        return text if any(marker in text for marker in _TRACEBACKS) else ""

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def memory(self) -> float:
        """MiB that the largest of its processes keeps in memory."""
        return Server(self.port, 0, self.process.pid).memory()


@contextmanager
def fuzzed_shop(folder: Path) -> Iterator[FuzzedShop]:
    """A demo shop in ``folder``, served by one server process and the background worker."""
    url = f"sqlite:///{folder / 'shop.sqlite3'}"
    upgrade(url)
    settings = Settings(database_url=url, secret_key=SECRET, jwt_ttl_access=86_400)
    ports = connect(settings)
    fill_shop(ports, OPERATOR, lambda _made: None)
    _, app_token = make_app(ports, "fuzz", *(set(Permission) - {Permission.MANAGE_APPS}))
    logging.getLogger("mail.log").setLevel(logging.ERROR)
    log, port = folder / "server.log", free_port()
    with smtp_server() as (_mailbox, mail), log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "flask", "serve", "--workers", "1", "--port", str(port)],
            cwd=folder,
            env=environment(url, MAIL_URL=f"smtp://{mail}"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        hashed = ports.passwords.hash(PASSWORD)
        shop = FuzzedShop(port, ports, settings, process, log, app_token, hashed)
        try:
            _wait(shop)
            shop.restore()
            yield shop
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)
            ports.database.close()


def environment(database_url: str, **settings: str) -> dict[str, str]:
    """What a process of the shop sees: none of this machine's settings, and no other machine."""
    return {
        "PATH": os.environ["PATH"],
        "APP_ENV": "development",
        "DATABASE_URL": database_url,
        "SECRET_KEY": SECRET,
        "JWT_TTL_ACCESS": "86400",
        "TRUSTED_PROXIES": "127.0.0.0/8",
        "LOG_LEVEL": "WARNING",
        "FLASK_APP": str(ROOT / "wsgi.py"),
        "FLASK_SKIP_DOTENV": "1",
        "PYTHONPATH": f"{_OFFLINE}{os.pathsep}{ROOT}",
        "PYTHONUNBUFFERED": "1",
        **settings,
    }


def _wait(shop: FuzzedShop) -> None:
    end = time.monotonic() + _START_SECONDS
    while b"/graphql/" not in shop.log.read_bytes():
        if not shop.is_running or time.monotonic() > end:
            raise RuntimeError(f"The server does not come up:\n{shop.log.read_text()}")
        time.sleep(0.05)
    time.sleep(1)
