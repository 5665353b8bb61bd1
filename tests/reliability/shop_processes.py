"""A server and its workers as processes, changes that clients make, and SIGKILL for all."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests
from sqlalchemy import func, select

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff, sign_in
from tests.builders.webhooks import make_webhook
from tests.reliability.fast_worker import FAST_WORKER
from tests.servers.forked_commands import ForkedCommand, start_command
from tests.servers.run import ROOT
from tests.spec.server import SECRET, VENDOR, environment

_UPDATE = """
mutation ($id: ID!, $name: String) { appUpdate(id: $id, input: {name: $name}) { errors { code } } }
"""
_QUERY = "subscription { event { ...on AppUpdated { app { id name } } } }"
_PATIENCE = 90.0


@dataclass(slots=True)
class KilledShop:
    """``changes`` counts those whose success a client was told."""

    folder: Path
    settings: dict[str, str]
    port: int
    ports: Ports
    app: int
    token: str
    workers: int = 1
    changes: int = 0
    _anchor: float = field(default_factory=time.time)  # noqa: TID251 - of real processes
    _processes: list[ForkedCommand] = field(default_factory=list)

    def start(self) -> None:
        """Start the server and its workers."""
        log = self.folder / "processes.log"
        serve = ("serve", "--workers", "1", "--no-worker", "--port", str(self.port))
        self._processes = [start_command(serve, ROOT, self.settings, log)]
        self._processes += [self._start_worker(log) for _ in range(self.workers)]

    def kill(self) -> None:
        """End all of them and whatever they have started, as a power cut would."""
        for process in self._processes:
            # From the top, so that no killed process is replaced.
            for pid in (process.pid, *_descendants(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait(_PATIENCE)
        self._processes = []

    def change(self) -> None:
        """Make one change, asking again for as long as nobody answers."""
        deadline = time.monotonic() + _PATIENCE
        body = {
            "query": _UPDATE,
            "variables": {"id": to_global_id("App", self.app), "name": f"change {self.changes}"},
        }
        while True:
            try:
                answer = requests.post(
                    f"http://127.0.0.1:{self.port}/graphql/",
                    json=body,
                    headers={"Authorization": f"Bearer {self.token}"},
                    timeout=_PATIENCE,
                )
            except requests.RequestException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
                continue
            assert answer.json() == {"data": {"appUpdate": {"errors": []}}}, answer.text
            self.changes += 1
            return

    def noted(self) -> int:
        """How many changes are in the outbox."""
        with self.ports.database.reading() as session:
            return session.scalar(select(func.count()).select_from(models.OutboxEvent)) or 0

    def delivered(self) -> set[str]:
        """The ``webhook-id`` of every delivery that has succeeded."""
        query = select(models.Delivery.message_id).where(models.Delivery.status == "SUCCESS")
        with self.ports.database.reading() as session:
            return set(session.scalars(query))

    def wait_until_all_is_delivered(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while len(self.delivered()) < self.noted():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.delivered())} of {self.noted()} delivered")
            time.sleep(0.1)

    def _start_worker(self, log: Path) -> ForkedCommand:
        return start_command((str(self._anchor),), ROOT, self.settings, log, FAST_WORKER)


@contextmanager
def killed_shop(
    folder: Path, database_url: str, target: str, port: int, *, redis_url: str = "", workers: int
) -> Iterator[KilledShop]:
    """A shop with one app whose webhook hears of its changes; killed for good at the end."""
    settings = environment(
        database_url, JWT_TTL_ACCESS="86400", REDIS_URL=redis_url, LOG_LEVEL="WARNING"
    )
    chosen = Settings(
        database_url=database_url, secret_key=SECRET, vendor=VENDOR, jwt_ttl_access=86400
    )
    ports = connect(chosen)
    app, _ = make_app(ports, "listener", Permission.MANAGE_APPS)
    make_webhook(ports, app, EventType.APP_UPDATED, target_url=target, query=_QUERY)
    staff = make_staff(ports, "staff@example.com", *Permission)
    token = sign_in(ports, staff).access
    shop = KilledShop(folder, settings, port, ports, app, token, workers)
    try:
        shop.start()
        yield shop
    finally:
        shop.kill()
        ports.database.close()


def _descendants(pid: int) -> list[int]:
    """The processes below ``pid``, each before what it started."""
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in map(int, children):
            found += [child, *_descendants(child)]
    return found
