"""The shop of the day: customers with sessions, products, and an app with webhooks."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random

from sqlalchemy import insert

from app import models
from app.composition.settings import Settings
from app.domain.authorization.actor import Actor, anonymous
from benchmarks.shop import BenchShop, subscribe
from tests.builders.people import make_user, sign_in

CUSTOMERS, SESSIONS = 5_000, 1_000
WEBHOOKS = 5
_RECENT = 200


@dataclass(slots=True)
class Session:
    """A signed-in customer's tokens."""

    refresh: str
    access: str


class Sessions:
    """Open sessions, in the order in which they were refreshed."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._open: deque[Session] = deque()

    def add(self, session: Session) -> None:
        self._open.append(session)

    def take(self) -> Session:
        """Return the session whose refresh is the longest ago; ``add`` brings it back."""
        return self._open.popleft()

    def recent(self) -> Session:
        """Return one that was refreshed not long ago: its access token hasn't expired."""
        return self._open[-self._chance.randint(1, min(_RECENT, len(self._open)))]


class DayShop:
    """A shop with ``WEBHOOKS`` webhooks for each change, and ``SESSIONS`` signed-in customers."""

    def __init__(self, folder: Path, settings: Settings, target: str) -> None:
        self.shop = BenchShop(folder, settings=settings)
        self.ports = self.shop.ports
        subscribe(self.ports, self.shop.app, WEBHOOKS, target)
        self.chance = Random(1)  # noqa: S311 - each run has the same day
        self.sessions = Sessions(self.chance)
        keys = self._add_customers()
        for key in keys[:SESSIONS]:
            pair = sign_in(self.ports, key, caller=caller(settings))
            self.sessions.add(Session(pair.refresh, pair.access))
        self.emails: Iterator[str] = cycle(map(_email, range(CUSTOMERS)))

    def _add_customers(self) -> list[int]:
        """Store customers with the same password; return their keys."""
        first = make_user(self.ports, "first@example.com")
        now = self.ports.clock.now()
        with self.ports.database.transaction() as session:
            hashed = session.get_one(models.User, first).password_hash
            added = session.scalars(
                insert(models.User).returning(models.User.id),
                [
                    {
                        "email": _email(number),
                        "password_hash": hashed,
                        "is_active": True,
                        "is_confirmed": True,
                        "date_joined": now,
                        "updated_at": now,
                    }
                    for number in range(CUSTOMERS)
                ],
            )
            return list(added)


def caller(settings: Settings) -> Actor:
    """Return who asks for tokens that the processes with these settings accept."""
    return anonymous(address="203.0.113.7", issuer=f"{settings.public_url}/graphql/")


def _email(number: int) -> str:
    return f"shopper{number}@example.com"
