"""Everyone gets an email, from the app or from us, although workers are killed meanwhile."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.accounts.password_resets import request_password_reset
from tests.builders.app_mail import LINK_EVENTS, PAGE
from tests.builders.apps import make_app
from tests.builders.people import NOBODY, make_user
from tests.builders.shop import configure_shop
from tests.builders.webhooks import make_webhook
from tests.reliability.fast_worker import FAST_WORKER, FastClock
from tests.servers.forked_commands import ForkedCommand, start_command
from tests.servers.http import HttpServer, Received, Reply, http_server
from tests.servers.run import ROOT
from tests.servers.smtp import smtp_server
from tests.spec.server import SECRET, environment

pytestmark = pytest.mark.first

PEOPLE, WORKERS = 12, 2
KILLED_AFTER = (3, 8)
PATIENCE = 300.0
"""Seconds; an email waits for its app for 90 of them (30 minutes of the fast clock)."""


@dataclass(slots=True)
class Workers:
    """Two worker processes; ``settings`` are their environment."""

    settings: dict[str, str]
    log: Path
    clock: FastClock
    _processes: list[ForkedCommand] = field(default_factory=list)

    def start(self) -> None:
        arguments = (str(self.clock.anchor),)
        for _ in range(WORKERS):
            started = start_command(arguments, ROOT, self.settings, self.log, FAST_WORKER)
            self._processes.append(started)

    def kill(self) -> None:
        """End them as a power cut would."""
        for process in self._processes:
            process.kill()
        self._processes = []


@contextmanager
def workers(settings: dict[str, str], log: Path, clock: FastClock) -> Iterator[Workers]:
    started = Workers(settings, log, clock)
    started.start()
    try:
        yield started
    finally:
        started.kill()


def is_accepted(email: str) -> bool:
    """Whether the app sends this person's email; of the others it answers 500."""
    return int(email.partition("@")[0]) % 2 == 0


def answer(received: Received) -> Reply:
    return Reply(200 if is_accepted(json.loads(received.body)["user"]["email"]) else 500)


def make_shop(ports: Ports, app: HttpServer) -> None:
    app.routes["/hook"] = answer
    listener, _ = make_app(ports, "Mailer", Permission.MANAGE_USERS)
    make_webhook(ports, listener, *LINK_EVENTS, target_url=f"{app.url}/hook")
    configure_shop(ports, password_reset_sender="APP")


def ask_and_kill(ports: Ports, running: Workers, app: HttpServer) -> list[str]:
    """Everyone asks for a link; workers are killed while the app is asked to send one."""
    emails = [f"{number}@example.com" for number in range(PEOPLE)]
    for number, email in enumerate(emails):
        make_user(ports, email, password=None)
        request_password_reset(ports, NOBODY, email=email, redirect_url=PAGE)
        if number in KILLED_AFTER:
            wait_for_call(app)
            running.kill()
            running.start()
    return emails


def wait_for_call(app: HttpServer) -> None:
    """Wait until a worker calls the app once more."""
    before, deadline = len(app.calls("/hook")), time.monotonic() + PATIENCE
    while len(app.calls("/hook")) <= before:
        assert time.monotonic() < deadline, "no worker calls the app"
        time.sleep(0.005)


def wait_until_settled(ports: Ports) -> list[models.OutboxMail]:
    """Return the mail log once nothing waits anymore."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with ports.database.reading() as session:
            asked = session.scalar(select(func.count()).select_from(models.ResetRequest))
            mails = list(session.scalars(select(models.OutboxMail)))
        waiting = [mail.recipient for mail in mails if mail.next_attempt_at is not None]
        if not asked and not waiting:
            return mails
        if time.monotonic() > deadline:
            raise TimeoutError(f"{asked} requests and {waiting} still wait")
        time.sleep(0.2)


@pytest.mark.thorough  # tests/services/mails/test_app_mail_crashes.py kills at each step
def test_everyone_gets_an_email_although_two_workers_are_killed(
    database_url: str, tmp_path: Path
) -> None:
    clock = FastClock(time.time())  # noqa: TID251 - of real processes
    connected = connect(Settings(database_url=database_url, secret_key=SECRET))
    ports = replace(connected, clock=clock, database_clock=None)
    with http_server() as app, smtp_server() as (mailbox, host):
        make_shop(ports, app)
        settings = environment(database_url, MAIL_URL=f"smtp://{host}", LOG_LEVEL="WARNING")
        with workers(settings, tmp_path / "workers.log", clock) as running:
            emails = ask_and_kill(ports, running, app)
            mails = wait_until_settled(ports)
    ports.database.close()
    offered = {json.loads(call.body)["user"]["email"] for call in app.calls("/hook")}
    ours = {mail.recipient for mail in mails if mail.sent_at is not None and not mail.sent_by}
    by_app = {mail.recipient for mail in mails if mail.sent_by == "Mailer"}
    assert sorted(mail.recipient for mail in mails) == sorted(emails)
    assert ours | by_app == set(emails)
    assert ours == set(mailbox.recipients)
    assert by_app <= {email for email in offered if is_accepted(email)}
    assert by_app, "workers that are killed don't make all emails ours"
