"""The times of the demo shop's history, and clocks that stand at them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Select, event, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.ports import Database, NamedRow, Ports, ReadSession, Subject

DAY = 24.0
"""A day of the history, whose times are in hours."""

MAKER = replace(OPERATOR, name="flask demo")
"""Who the audit log names if no person of the shop did it."""

_OFFICE = "198.51.100.23"


@dataclass(frozen=True, slots=True)
class _StoppedClock:
    """A moment that does not pass."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def timestamp(self) -> float:
        return self.moment.timestamp()


@dataclass(frozen=True, slots=True)
class _SilentDatabase:
    """A database whose new events are closed from the start, so that no webhook receives them.

    The worker of a shop in use would deliver them to its webhooks. They are closed before they
    were issued, as no other event is: so the demo finds its own.
    """

    database: Database

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        with self.database.transaction(*subjects, signs_in=signs_in) as session:
            event.listen(session, "before_flush", self._close_events)
            yield session

    def reading(self) -> AbstractContextManager[ReadSession]:
        return self.database.reading()

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        return self.database.read(statement, parameters)

    @property
    def in_transaction(self) -> bool:
        return self.database.in_transaction

    def close(self) -> None:
        self.database.close()

    def _close_events(self, session: Session, *_details: object) -> None:
        for added in session.new:
            if isinstance(added, models.OutboxEvent):
                added.closed_at = added.issued_at - datetime.resolution


@dataclass(frozen=True, slots=True)
class Past:
    """The time before ``now``, in hours ago. What happened then is never sent to any webhook.

    ``api_url`` is the API's URL in deliveries.
    """

    ports: Ports
    now: datetime
    api_url: str

    def moment(self, hours_ago: float) -> datetime:
        return self.now - timedelta(hours=hours_ago)

    def at(self, hours_ago: float) -> Ports:
        """Return the ports as they were then: a use case that gets them writes that time down."""
        return replace(
            self.ports,
            clock=_StoppedClock(self.moment(hours_ago)),
            database=_SilentDatabase(self.ports.database),
        )

    def staff(self, email: str) -> Actor:
        """Return a staff member as the actor, ``MAKER`` if the email is unknown.

        With all permissions, whatever they hold today.
        """
        with self.ports.database.reading() as session:
            key = session.scalar(select(models.User.id).where(models.User.email == email))
        if key is None:
            return MAKER
        return replace(
            self.person(key, email), is_staff=True, permissions=ALL_PERMISSIONS, address=_OFFICE
        )

    def person(self, key: int, email: str) -> Actor:
        """Return a person who signed in over the API as the actor."""
        return Actor(ActorKind.USER, user_id=key, name=email, issuer=self.api_url)


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that is made to have happened so many ``hours_ago``, unless it has already."""

    hours_ago: float
    happen: Callable[[Past], None]
