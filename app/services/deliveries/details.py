"""One delivery with every attempt, as sent and answered; and the names of deliveries' objects."""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy import (
    Boolean,
    Select,
    SQLColumnExpression,
    String,
    cast,
    literal,
    select,
    true,
    union_all,
)

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import Attempt
from app.domain.deliveries.signatures import hex_signature
from app.domain.events import EVENTS, EventType
from app.domain.keys import WEBHOOK_SECRET, PublicKey
from app.domain.sign_in.jws import decode, read_members
from app.domain.values.errors import TokenRejected
from app.domain.values.ids import parse_global_id, parse_key
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import requires_person
from app.services.commerce.checkouts import token_in
from app.services.deliveries.lists import (
    ATTEMPT_COLUMNS,
    DeliveryLine,
    select_lines,
    to_attempt,
    to_line,
)
from app.services.keys import published_keys
from app.services.lists.filters import is_reached
from app.services.outbox.publisher import holds_secret, redacted_payload
from app.services.webhooks.event_subjects import CHANNEL_OF, SUBJECTS
from app.services.webhooks.subscribers import sent_links

SHOWN_ATTEMPTS = 50
"""Attempts that are shown, the newest: a delivery that is made again by hand may have many."""

_ATTEMPTS = (
    select(*ATTEMPT_COLUMNS).order_by(models.DeliveryAttempt.id.desc()).limit(SHOWN_ATTEMPTS)
)
_SECRETS = (models.Webhook.secret, models.Webhook.old_secret, models.Webhook.old_secret_until)


class Signed(StrEnum):
    """Whether the signature of an attempt still verifies."""

    VERIFIED = "VERIFIED"
    """A receiver that checks it now accepts it."""
    KEY_GONE = "KEY_GONE"
    """Can't verify: the key or secret has been replaced since."""
    WRONG = "WRONG"
    """The signature doesn't match the payload."""


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """An attempt and whether its signature still verifies; unknown if it is withheld."""

    attempt: Attempt
    signed: Signed | None = None


@dataclass(frozen=True, slots=True)
class DeliveryDetails:
    """A delivery, what it carries, and its attempts, the newest first."""

    line: DeliveryLine
    payload: str = field(repr=False)
    api_url: str
    attempts: tuple[ShownAttempt, ...] = ()


@requires_person(Permission.MANAGE_APPS)
def show_delivery_details(ports: Ports, actor: Actor, delivery_id: int) -> DeliveryDetails | None:
    """Return everything known about a delivery; ``None`` if it doesn't exist any more.

    People who lack a permission of the app, or of the event, see that it was sent and whether it
    arrived (``line.lacking``).

    Custom headers' values aren't stored (``signing.Endpoint.shown``), and a link's secret is
    redacted in the payload.
    """
    keys = {key.kid: key for key in published_keys(ports)}
    with ports.database.reading() as session:
        row = session.execute(
            select_lines()
            .add_columns(models.Delivery.payload, models.Delivery.issuer, *_SECRETS)
            .where(models.Delivery.id == delivery_id)
        ).one_or_none()
        if row is None:
            return None
        line = to_line(actor, row)
        secrets = [row.secret]
        links = sent_links(ports, session, [line.id]) if holds_secret(line.event) else {}
        query = _ATTEMPTS.where(models.DeliveryAttempt.delivery_id == line.id)
        attempts = [to_attempt(row) for row in session.execute(query)]
    if line.lacking:
        withheld = (attempt.withheld(line.lacking) for attempt in attempts)
        unjudged = tuple(ShownAttempt(attempt) for attempt in withheld)
        return DeliveryDetails(line, "", row.issuer, unjudged)
    if row.old_secret_until is not None and row.old_secret_until > ports.clock.now():
        secrets.append(row.old_secret)
    signing = tuple(_decrypted(ports, secret) for secret in secrets if secret)
    check = _Check(ports, keys, signing, redacted_payload(ports, row.payload, None))
    link = links.get(line.id)
    shown = redacted_payload(ports, row.payload, None if link is None else link.secret or "")
    judged = tuple(ShownAttempt(attempt, check.signature_of(attempt)) for attempt in attempts)
    return DeliveryDetails(line, shown, row.issuer, judged)


@requires_person(Permission.MANAGE_APPS)
def show_latest_delivery(
    ports: Ports, actor: Actor, webhook_id: int, event: EventType
) -> DeliveryDetails | None:
    """Return the newest delivery of something that really happened: to hold a dry run against."""
    query = select(models.Delivery.id).where(
        models.Delivery.webhook_id == webhook_id,
        models.Delivery.event == event.value,
        models.Delivery.note_id.is_not(None),
        models.Delivery.payload != "",
    )
    with ports.database.reading() as session:
        key = session.scalar(query.order_by(models.Delivery.id.desc()).limit(1))
    return None if key is None else show_delivery_details(ports, actor, key)


@dataclass(frozen=True, slots=True)
class _Check:
    """The current keys and secrets to check signatures with."""

    ports: Ports
    keys: Mapping[str, PublicKey]
    secrets: tuple[str, ...] = field(repr=False)
    payload: str = field(repr=False)

    def signature_of(self, attempt: Attempt) -> Signed:
        headers = {key.lower(): str(value) for key, value in attempt.request_headers.items()}
        names = self.ports.configuration.header_names.name_headers({"Signature": ""})
        signature = next(filter(None, (headers.get(name.lower()) for name in names)), "")
        body = self.payload.encode()
        if "." in signature:
            return self._of_key(signature, body)
        signatures = [hex_signature(secret, body) for secret in self.secrets]
        is_known = any(
            hmac.compare_digest(signature.encode(), expected.encode()) for expected in signatures
        )
        return Signed.VERIFIED if is_known else Signed.KEY_GONE

    def _of_key(self, signature: str, body: bytes) -> Signed:
        kid = ""
        try:
            kid = str(read_members(decode(signature.partition(".")[0])).get("kid"))
            self.ports.signatures.verify_detached(self.keys, signature, body)
        except TokenRejected:
            return Signed.WRONG if kid in self.keys else Signed.KEY_GONE
        return Signed.VERIFIED


def _decrypted(ports: Ports, encrypted: str) -> str:
    try:
        return ports.encryption.decrypt(WEBHOOK_SECRET, encrypted)
    except DecryptionError:
        return ""  # nothing is signed with it


@dataclass(frozen=True, slots=True)
class ObjectName:
    """A name; a cart's is its customer's email, an order's its number."""

    name: str
    is_deleted: bool = False


@requires_person(Permission.MANAGE_APPS)
def name_objects(
    ports: Ports, actor: Actor, lines: Iterable[DeliveryLine]
) -> Mapping[str, ObjectName]:
    """Return the names of the deliveries' objects by global ID; one statement.

    Names are those of now, or the last ones of deleted objects. Left out are objects of events
    whose permission the caller lacks, orders and carts of channels that they don't reach, and
    carts without an email.
    """
    ids: dict[str, dict[str, str]] = {}
    for line in lines:
        subject, key = _parsed(line.object_id)
        if key and actor.holds(EVENTS[line.event].permission):
            ids.setdefault(subject, {})[key] = line.object_id
    named_by_key = [
        subject
        for subject in ids
        if SUBJECTS[subject].name is None
        and (actor.reaches_all_channels or subject not in CHANNEL_OF)
    ]
    names = {
        object_id: ObjectName(key)
        for subject in named_by_key
        for key, object_id in ids.pop(subject).items()
    }
    parts = [part for subject, keys in ids.items() for part in _parts(actor, subject, list(keys))]
    if not parts:
        return names
    with ports.database.reading() as session:
        rows = session.execute(union_all(*parts)).all()
    # A former staff member can still be a customer.
    for row in sorted(rows, key=lambda row: not row.is_deleted):
        if row.name:
            names[ids[row.subject][row.id]] = ObjectName(row.name, bool(row.is_deleted))
    return names


def _parsed(object_id: str) -> tuple[str, str]:
    """Return the type and the stored key of an object; the key is empty if it isn't valid."""
    subject, key = parse_global_id(object_id) or ("", "")
    if subject not in SUBJECTS:
        return subject, ""
    if SUBJECTS[subject].token is not None:
        return subject, token_in(object_id)
    return subject, "" if parse_key(key) is None else str(parse_key(key))


def _parts(actor: Actor, subject: str, keys: list[str]) -> Iterator[Select[str, str, str, bool]]:
    stored = SUBJECTS[subject]
    id_: SQLColumnExpression[str]
    if stored.token is None:
        id_, is_listed = cast(stored.key, String), stored.key.in_([int(key) for key in keys])
    else:
        id_, is_listed = stored.token, stored.token.in_(keys)
    channel = CHANNEL_OF.get(subject)
    is_seen = true() if channel is None else is_reached(actor, channel)
    yield select(
        literal(subject).label("subject"),
        id_.label("id"),
        (id_ if stored.name is None else stored.name).label("name"),
        literal(value=False, type_=Boolean).label("is_deleted"),
    ).where(is_listed, is_seen)
    if stored.deletion is not None:
        yield select(
            literal(subject),
            models.AuditEntry.subject_id,
            models.AuditEntry.subject_name,
            literal(value=True, type_=Boolean),
        ).where(
            models.AuditEntry.subject_type == subject,
            models.AuditEntry.subject_id.in_(keys),
            models.AuditEntry.action.in_(stored.deletion.actions),
        )
