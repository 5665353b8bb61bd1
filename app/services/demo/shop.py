"""Fill the demo shop, and tell it from a real shop."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.domain.apps.apps import TOKEN_RANDOM_LENGTH, last_four, make_app_token, token_digest
from app.domain.authorization.actor import Actor
from app.domain.values.installation import OnProgress, ignore_progress
from app.models import AppRecord, AppTokenRecord, AuditRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal
from app.services.demo.activity import (
    FORGETFUL,
    block_guesser,
    write_mails,
    write_sign_ins,
    write_traces,
)
from app.services.demo.apps import APP_NAMES, WAREHOUSE, app_made_here, installations, made_apps
from app.services.demo.apps import NAME as PARCELS
from app.services.demo.commerce import assortment, new_prices, sales
from app.services.demo.deliveries import past_deliveries, write_deliveries
from app.services.demo.people import OPENED, PEOPLE, Person, comings, made_here
from app.services.demo.timeline import MAKER, Past
from app.services.keys import ring
from app.services.outbox.base_url import issuer_of

SHOP_NAME = "Northlight Ceramics"

_UNNAMED = "Latchkey shop"
_PASSWORD_LENGTH = 16
_FILLED = "demo.fill"
_TOKEN_NAME = "Demo"  # noqa: S105


@dataclass(frozen=True, slots=True)
class SignIn:
    """A demo person's credentials; ``secret`` is shown once."""

    role: str
    name: str
    secret: str = field(repr=False)


@internal
def fill_shop(
    ports: Ports,
    actor: Actor,
    tell: Callable[[Sequence[SignIn]], None],
    on_progress: OnProgress = ignore_progress,
) -> None:
    """Create what the demo shop lacks; ``tell`` gets all sign-ins at once.

    Safe to repeat: existing people don't change, and a completed shop only gets back people and
    products. An interrupted run is completed: no sign-in works until all were passed to ``tell``.
    No webhook receives the events: the demo's own get their past deliveries, and no others any.
    """
    past = Past(ports, ports.clock.now(), issuer_of(ports, ports.configuration.issuer))
    is_new = not is_filled(ports)
    happenings = [*comings(), *assortment()]
    if is_new:
        ring(past.at(OPENED + 1))  # the next key is then old enough for a rotation
        happenings += [*made_apps(), *installations(), *new_prices(), *sales()]
    happenings.sort(key=lambda happening: happening.hours_ago, reverse=True)
    for number, happening in enumerate(happenings, 1):
        happening.happen(past)
        on_progress(number, len(happenings))
    _finish(past, tell, is_new=is_new)


@internal
def is_in_use(ports: Ports, actor: Actor) -> bool:
    """Whether the demo shop is complete, or the shop has other people or apps.

    Demo people and apps alone, none of whom has signed in, are left by an interrupted run.
    """
    emails = [person.email for person in PEOPLE]
    stranger = or_(UserRecord.email.not_in(emails), UserRecord.last_login.is_not(None))
    foreign = AppRecord.name.not_in([*APP_NAMES, PARCELS])
    with ports.database.reading() as session:
        found = (
            session.scalar(select(UserRecord.id).where(stranger).limit(1)),
            session.scalar(select(AppRecord.id).where(foreign).limit(1)),
        )
    return found != (None, None) or is_filled(ports)


@internal
def sign_in_people(ports: Ports, actor: Actor) -> tuple[Person, ...]:
    """Those who were made for the demo to sign in as, and are there still."""
    emails = [person.email for person in PEOPLE if person.role]
    with ports.database.reading() as session:
        users = made_here(session, emails)
    return tuple(person for person in PEOPLE if person.email in users)


@building_block
def is_filled(ports: Ports) -> bool:
    """Whether the demo filled this shop to the end."""
    mark = select(AuditRecord.id).where(AuditRecord.action == _FILLED).limit(1)
    with ports.database.reading() as session:
        return session.scalar(mark) is not None


def _finish(past: Past, tell: Callable[[Sequence[SignIn]], None], *, is_new: bool) -> None:
    """Pass the sign-ins to ``tell``, then store what completes the shop.

    In that order: after an interruption the next run passes new ones, whereas stored passwords
    that no one saw would be lost.
    """
    ports = past.ports
    waiting = _without_password(ports)
    passwords = {
        person: ports.randomness.token(_PASSWORD_LENGTH) for person in waiting if person.role
    }
    hashes = {person: ports.passwords.hash(password) for person, password in passwords.items()}
    # Everyone else has chosen a password too, which isn't known; one hash is enough for them.
    unknown = ports.passwords.hash(ports.randomness.token(_PASSWORD_LENGTH))
    hashes |= {person: unknown for person in waiting if not person.role and not person.subject}
    deliveries = past_deliveries(past) if is_new else ()
    app = app_made_here(past, WAREHOUSE) if is_new else None
    token = make_app_token(ports.randomness.token(TOKEN_RANDOM_LENGTH))
    sign_ins = [
        SignIn(person.role, person.email, password) for person, password in passwords.items()
    ]
    if app is not None:
        sign_ins.append(SignIn("app", WAREHOUSE, token))
    if is_new:
        block_guesser(past, _customer(waiting))
    tell(sign_ins)
    with ports.database.transaction() as session:
        for person, hashed in hashes.items():
            session.get_one(UserRecord, waiting[person]).password_hash = hashed
        if is_new:
            write_traces(past, session, app)
            write_sign_ins(past, session)
            write_mails(past, session)
            write_deliveries(past, session, deliveries)
            if app is not None:
                session.add(_token(past, app, token))
            _mark(past, session)


def _customer(people: Mapping[Person, int]) -> int | None:
    """Return the key of the customer whose sign-ins fail in the demo's log, too."""
    return next((key for person, key in people.items() if person.email == FORGETFUL), None)


def _without_password(ports: Ports) -> Mapping[Person, int]:
    """Those of the demo's own people who cannot sign in yet, in the order of their list."""
    with ports.database.reading() as session:
        users = made_here(session, [person.email for person in PEOPLE])
        query = select(UserRecord.id).where(
            UserRecord.id.in_(users.values()), UserRecord.password_hash.is_(None)
        )
        waiting = set(session.scalars(query))
    return {person: users[person.email] for person in PEOPLE if users.get(person.email) in waiting}


def _token(past: Past, app_id: int, token: str) -> AppTokenRecord:
    return AppTokenRecord(
        app_id=app_id,
        name=_TOKEN_NAME,
        digest=token_digest(token),
        last_four=last_four(token),
        created_at=past.now,
    )


def _mark(past: Past, session: Session) -> None:
    shop = session.get_one(ShopRecord, SHOP_ID)
    if shop.name == _UNNAMED:
        shop.name = SHOP_NAME
    shop.setup_dismissed = True
    record(past.ports, MAKER, session, Change(_FILLED, "Shop", SHOP_ID, shop.name))
