"""``python -m benchmarks timing``: whether an answer's time tells who has an account.

Every operation that takes an email without a token is asked about several kinds of address in
turn, 200 times each and more, each time from another internet address and for another person. The
medians of one operation must lie within 5 % of one another. It takes some six minutes, most of
them spent on hashing passwords: imported ones are waiting for their first sign-in. Other kinds of
accounts (without a password, mailed a moment ago) are compared statement by statement in
``tests/services/accounts/test_equal_work``.
"""

import json
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
from sqlalchemy.orm import Session

from app import models
from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.shop.settings import update_shop
from benchmarks import load_client, servers
from tests.builders.people import PASSWORD, sign_in
from tests.servers.run import server_url, shared_directory

RUNS = 200
QUICK_RUNS = 600
"""Where no password is hashed an answer takes few milliseconds, and chance weighs more."""
ROUNDS = 3
"""Medians that are too far apart are taken over more runs: chance goes, a difference stays."""
MAX_DIFFERENCE = 0.05
_IMPORTED = (
    "pbkdf2_sha256$300000$xJH98skw1epKCIsjygb1c1$cla6Mw0TEQehFqrI01erJeQOS05QV/JpNj6737pztvM="
)
"""Takes its own time to check, unlike a hash of ours."""
_WARM_UP = 10
_DAY = 24 * 3600
_CLIENT = "http://localhost:3000/"
_HOST = "shop.example"
_LOGIN = "mutation($e:String,$p:String){tokenCreate(email:$e,password:$p){token errors{code}}}"
_RESET = (
    "mutation($e:String!,$u:String!){requestPasswordReset(email:$e,redirectUrl:$u){errors{code}}}"
)
_REGISTER = (
    "mutation($i:AccountRegisterInput!){accountRegister(input:$i)"
    "{requiresConfirmation errors{code}}}"
)
_SET = (
    "mutation($e:String!,$p:String!)"
    '{setPassword(email:$e,password:$p,token:"bad"){token errors{code}}}'
)
_CONFIRM = (
    "mutation($e:String!,$p:String!)"
    '{confirmAccount(email:$e,password:$p,token:"bad"){user{email}errors{code}}}'
)
_MOVE = (
    "mutation($e:String!,$p:String!,$u:String!)"
    "{requestEmailChange(newEmail:$e,password:$p,redirectUrl:$u){user{email}errors{code}}}"
)

Ask = Callable[[str], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What is asked, about which kinds of address; ``body`` makes a request of an email."""

    name: str
    kinds: tuple[str, ...]
    body: Ask
    runs: int = RUNS
    signed_in: bool = False


def _operations() -> tuple[Operation, ...]:
    def ask(document: str, **values: object) -> Ask:
        return lambda email: {"query": document, "variables": {"e": email, **values}}

    def register(email: str) -> dict[str, object]:
        new = {"email": email, "password": PASSWORD, "redirectUrl": _CLIENT}
        return {"query": _REGISTER, "variables": {"i": new}}

    some, all_ = ("known", "unknown"), ("known", "unknown", "inactive", "locked")
    hashed = (*some, "imported")
    return (
        Operation("tokenCreate, wrong password", hashed, ask(_LOGIN, p="wrong")),
        Operation("accountRegister", hashed, register),
        Operation("requestEmailChange", some, ask(_MOVE, p=PASSWORD, u=_CLIENT), signed_in=True),
        Operation("requestPasswordReset", all_, ask(_RESET, u=_CLIENT), QUICK_RUNS),
        Operation("setPassword, bad link", all_, ask(_SET, p=PASSWORD), QUICK_RUNS),
        Operation("confirmAccount, bad link", all_, ask(_CONFIRM, p=PASSWORD), QUICK_RUNS),
    )


class SampleShop:
    """A shop with enough users of each kind that each is used once."""

    def __init__(self, url: str) -> None:
        upgrade(url)
        settings = Settings(database_url=url, jwt_ttl_access=_DAY, jwt_ttl_refresh=_DAY)
        self.ports: Ports = connect(settings)
        update_shop(self.ports, OPERATOR, ShopUpdate(enable_account_confirmation_by_email=True))
        hashed = self.ports.passwords.hash(PASSWORD)
        now = self.ports.clock.now()
        each = sum(one.runs * ROUNDS + _WARM_UP for one in _operations())
        with self.ports.database.transaction() as session:
            me = models.User(
                email=f"me@{_HOST}", password_hash=hashed, date_joined=now, updated_at=now
            )
            session.add(me)
            session.add_all(
                models.User(
                    email=f"{kind}{number}@{_HOST}",
                    password_hash=hashed,
                    is_active=kind != "inactive",
                    reset_requested_at=now if kind == "locked" else None,
                    date_joined=now,
                    updated_at=now,
                )
                for kind in ("known", "inactive", "locked")
                for number in range(each)
            )
            session.flush()
            mine = me.id
            self._add_imported(session, each)
        self.access = sign_in(self.ports, mine).access
        self.ports.database.close()

    def _add_imported(self, session: Session, number_of: int) -> None:
        now = self.ports.clock.now()
        source = models.Import(kind="PLATFORM", source="timing", started_at=now, last_run_at=now)
        people = [
            models.User(
                email=f"imported{number}@{_HOST}",
                password_hash=_IMPORTED,
                date_joined=now,
                updated_at=now,
            )
            for number in range(number_of)
        ]
        session.add_all((source, *people))
        session.flush()
        session.add_all(
            models.ImportedPassword(
                user_id=person.id,
                import_id=source.id,
                state=ImportedPasswordState.IMPORTED.value,
                source_digest="",
                written_digest="",
            )
            for person in people
        )


def measure(
    port: int, sample: SampleShop, operation: Operation, people: Iterator[int]
) -> list[float]:
    """The median of each kind, in milliseconds; the kinds take turns, so that all drift alike."""
    times: dict[str, list[float]] = {kind: [] for kind in operation.kinds}
    answers: set[bytes] = set()
    for _ in range(_WARM_UP):
        deque(_ask_of_each(port, sample, operation, next(people)), maxlen=0)
    for run in range(operation.runs * ROUNDS):
        if run % operation.runs == 0 and run and apart(_medians(times)) <= MAX_DIFFERENCE:
            break
        for kind, answer, milliseconds in _ask_of_each(port, sample, operation, next(people)):
            times[kind].append(milliseconds)
            answers.add(answer)
    if len(answers) != 1:
        raise RuntimeError(f"{operation.name} answers differently: {answers}")
    return _medians(times)


def apart(medians: list[float]) -> float:
    """How much longer the slowest takes than the quickest."""
    return max(medians) / min(medians) - 1


def _ask_of_each(
    port: int, sample: SampleShop, operation: Operation, number: int
) -> Iterator[tuple[str, bytes, float]]:
    # Each round starts with another kind, so that the order doesn't matter.
    turn = number % len(operation.kinds)
    for kind in (*operation.kinds[turn:], *operation.kinds[:turn]):
        # Clients are counted by their /64 networks.
        headers = {"X-Forwarded-For": f"2001:db8:{len(kind):x}:{number:x}::1"}
        if operation.signed_in:
            headers["Authorization"] = f"Bearer {sample.access}"
        body = json.dumps(operation.body(f"{kind}{number}@{_HOST}")).encode()
        request = load_client.request_bytes("/graphql/", body, headers, port=port)
        started = time.perf_counter()
        answer = load_client.one(port, request)
        yield kind, answer, (time.perf_counter() - started) * 1000


def _medians(times: dict[str, list[float]]) -> list[float]:
    return [statistics.median(each) for each in times.values()]


@contextmanager
def _databases() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = server_url(stack.enter_context(shared_directory()), "postgresql")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE timing")
        yield {
            "SQLite": f"sqlite:///{folder / 'timing.sqlite3'}",
            "PostgreSQL": server.replace("/postgres?", "/timing?"),
        }


def main() -> None:
    """Print the medians, and exit with 1 if two of one operation differ too much."""
    failed = False
    with _databases() as urls:
        for database, url in urls.items():
            sample = SampleShop(url)
            people = count()
            with servers.latchkey(url) as server:
                for operation in _operations():
                    medians = measure(server.port, sample, operation, people)
                    difference = apart(medians)
                    failed |= difference > MAX_DIFFERENCE
                    summary = ", ".join(
                        f"{kind} {median:.2f} ms"
                        for kind, median in zip(operation.kinds, medians, strict=True)
                    )
                    line = f"{database}, {operation.name}: {summary}; {difference:.1%} apart\n"
                    sys.stdout.write(line)
                    sys.stdout.flush()
    sys.exit(int(failed))
