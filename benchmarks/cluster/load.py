"""Requests through nginx, with a record of what became of each change."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock, Thread

import requests

from benchmarks.deployment.load import Api

_READERS, _WRITERS = 3, 2
_REFRESHES = 5
_PAUSE = 0.05
"""Seconds before the next request after a failed one."""

_ME = "{ me { email } }"
_REFRESH = (
    "mutation ($token: String!) { tokenRefresh(refreshToken: $token) { token errors { code } } }"
)
_CREATE = """
mutation ($email: String!) {
  customerCreate(input: {email: $email}) { user { id } errors { code } }
}"""

_numbers = count(1)


@dataclass(slots=True)
class Record:
    """What became of requests.

    ``accepted`` are emails of customers whose creation was answered with success, ``uncertain``
    those whose creation failed or wasn't answered, ``twice`` those that existed already though
    they were sent once. ``failures`` have the moment of each, by the monotonic clock.
    """

    sent: int = 0
    accepted: set[str] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)
    failures: list[tuple[float, str]] = field(default_factory=list)
    slowest: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def failed(self, reason: str) -> None:
        with self.lock:
            self.failures.append((time.monotonic(), reason))


@contextmanager
def load(api: Api) -> Iterator[Record]:
    """Send requests on several connections until the block ends."""
    record, stop = Record(), Event()
    threads = [Thread(target=_repeat, args=(api, record, stop, _read)) for _ in range(_READERS)]
    threads += [Thread(target=_repeat, args=(api, record, stop, _write)) for _ in range(_WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield record
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _repeat(
    api: Api,
    record: Record,
    stop: Event,
    send: Callable[[Api, requests.Session, Record, int], bool],
) -> None:
    with api.session() as session:
        while not stop.is_set():
            started = time.monotonic()
            if not send(api, session, record, next(_numbers)):
                stop.wait(_PAUSE)
            with record.lock:
                record.sent += 1
                record.slowest = max(record.slowest, time.monotonic() - started)


def _read(api: Api, session: requests.Session, record: Record, number: int) -> bool:
    try:
        if number % _REFRESHES:
            answer = api.post(session, _ME)["me"]
        else:
            answer = api.post(session, _REFRESH, token=api.refresh_token)["tokenRefresh"]["token"]
    except (requests.RequestException, RuntimeError) as error:
        record.failed(str(error))
        return False
    if not answer:
        record.failed("an answer without the account or token")
    return bool(answer)


def _write(api: Api, session: requests.Session, record: Record, number: int) -> bool:
    email = f"customer-{number}@example.com"
    try:
        errors = api.post(session, _CREATE, email=email)["customerCreate"]["errors"]
    except (requests.RequestException, RuntimeError) as error:
        with record.lock:
            record.uncertain.add(email)
        record.failed(str(error))
        return False
    with record.lock:
        if not errors:
            record.accepted.add(email)
        elif {"code": "UNIQUE"} in errors:
            record.twice.add(email)
    if errors:
        record.failed(f"customerCreate: {errors}")
    return not errors
