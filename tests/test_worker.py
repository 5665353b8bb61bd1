"""The worker keeps every duty going, whatever becomes of the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

from app.domain.actor import Actor
from app.domain.mail import Letter, Mail, MailKind
from app.ports import Ports
from app.services.outbox import put_mail
from app.worker import DUTIES, Duty, run

_PATIENCE = 20.0


@contextmanager
def _running(ports: Ports, *duties: Duty) -> Iterator[None]:
    stop = Event()
    worker = Thread(target=run, args=(ports, stop, duties))
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join(_PATIENCE)
        assert not worker.is_alive(), "the worker did not stop"


def test_a_running_worker_sends_what_was_promised(ports: Ports) -> None:
    sent = Event()

    class Post:
        def send(self, letter: Letter) -> None:
            sent.set()

        def check(self) -> bool:
            return False

    posting = replace(ports, post=Post())
    with _running(posting, *DUTIES):
        with ports.database.transaction() as session:
            put_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))

        assert sent.wait(_PATIENCE)


def test_a_duty_that_fails_is_tried_again_and_stops_no_other(ports: Ports) -> None:
    again, other = Event(), Event()
    rounds = []

    def fail(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) > 1:
            again.set()
        raise ArithmeticError("this duty never works")

    def succeed(_ports: Ports, _actor: Actor) -> int:
        other.set()
        return 0

    with _running(ports, Duty("failing", fail, 0.01), Duty("other", succeed, 60.0)):
        assert again.wait(_PATIENCE)
        assert other.wait(_PATIENCE)


def test_a_round_that_did_something_is_followed_by_another_at_once(ports: Ports) -> None:
    done = Event()
    rounds = []

    def work(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) == 3:
            done.set()
            return 0
        return 1

    with _running(ports, Duty("busy", work, 60.0)):
        assert done.wait(_PATIENCE)
