"""List encrypted secrets, and encrypt them again after a change of ``SECRET_KEY``."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, cast, select, update

from app import models
from app.domain import keys
from app.domain.authorization.actor import Actor
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import internal
from app.services.outbox.publisher import ENCRYPTED_PREFIX
from app.services.webhooks.stored_webhooks import reseal_header

Attribute = Any
"""A mapped attribute; as a field of a class, type checkers would read its value."""

HEADERS = "webhooks' custom headers"
_stored: ColumnElement[str] = cast(models.Webhook.custom_headers, Text)
_HEADERS = (
    select(models.Webhook.id, models.Webhook.custom_headers, _stored.label("text"))
    .where(_stored != "{}")
    .order_by(models.Webhook.id)
)

_BATCH = 200
"""How many secrets are read and written at a time; others can write in between."""


@dataclass(frozen=True, slots=True)
class SecretColumn:
    """A column of encrypted texts, which is empty where there is no secret.

    ``key`` is the row's primary key, ``name`` what its purpose is made from. Of several purposes,
    one fits.
    """

    label: str
    key: Attribute
    column: Attribute
    purposes: Callable[[str], Sequence[str]]
    name: Attribute | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class SecretCount:
    """How many secrets of a kind there are, needed another key, and can't be read by any."""

    name: str
    checked: int
    resealed: int
    unreadable: int


def _fixed_purposes(*purposes: str) -> Callable[[str], Sequence[str]]:
    return lambda _name: purposes


SECRET_COLUMNS = (
    SecretColumn(
        "signing keys",
        models.SigningKey.kid,
        models.SigningKey.private_key,
        lambda kid: [keys.signing_key_purpose(kid)],
        models.SigningKey.kid,
    ),
    SecretColumn(
        "identity providers' client secrets",
        models.IdentityProvider.id,
        models.IdentityProvider.client_secret,
        _fixed_purposes(keys.PROVIDER_SECRET),
    ),
    SecretColumn(
        "webhook secrets",
        models.Webhook.id,
        models.Webhook.secret,
        _fixed_purposes(keys.WEBHOOK_SECRET),
    ),
    SecretColumn(
        "replaced webhook secrets",
        models.Webhook.id,
        models.Webhook.old_secret,
        _fixed_purposes(keys.WEBHOOK_SECRET),
    ),
    SecretColumn(
        "identity providers' refresh tokens",
        models.Session.id,
        models.Session.provider_refresh_token,
        lambda token: [keys.refresh_token_purpose(token)],
        models.Session.token,
    ),
    SecretColumn(
        "authenticator apps",
        models.AuthenticatorApp.user_id,
        models.AuthenticatorApp.secret,
        lambda user_id: [keys.authenticator_app_purpose(user_id)],
    ),
    SecretColumn(
        "authenticator apps being set up",
        models.AuthenticatorApp.user_id,
        models.AuthenticatorApp.pending_secret,
        lambda user_id: [keys.authenticator_app_purpose(user_id)],
    ),
    SecretColumn(
        "codes by email",
        models.EmailCode.id,
        models.EmailCode.sealed,
        _fixed_purposes(keys.EMAIL_CODE),
    ),
    SecretColumn(
        "pending SSO sign-ins",
        models.OidcState.digest,
        models.OidcState.sealed,
        _fixed_purposes(keys.PENDING_SIGN_IN),
    ),
    SecretColumn(
        "events with links",
        models.OutboxEvent.id,
        models.OutboxEvent.sealed,
        _fixed_purposes(keys.OUTBOX_EVENT),
    ),
    SecretColumn(
        "deliveries with links",
        models.Delivery.id,
        models.Delivery.payload,
        _fixed_purposes(keys.WEBHOOK_PAYLOAD),
        prefix=ENCRYPTED_PREFIX,
    ),
    SecretColumn(
        "mails", models.OutboxMail.id, models.OutboxMail.sealed, _fixed_purposes(keys.OUTBOX_MAIL)
    ),
    SecretColumn(
        "submitted forms",
        models.FormSubmission.key,
        models.FormSubmission.encrypted_secret,
        _fixed_purposes(keys.FORM_SECRET, keys.FORM_FIELDS),
    ),
    SecretColumn(
        "answers to forms",
        models.FormAnswer.key,
        models.FormAnswer.encrypted_answer,
        _fixed_purposes(keys.FORM_ANSWER),
    ),
)


@internal
def reseal_secrets(ports: Ports, actor: Actor) -> tuple[SecretCount, ...]:
    """Encrypt every secret under the current key that a former one encrypted.

    Each row changes at once and only if no one else has changed it since, so this can be
    interrupted and repeated.
    """
    columns = (_count(ports, column, writes=True) for column in SECRET_COLUMNS)
    return (*columns, _count_headers(ports, writes=True))


@internal
def count_secrets(ports: Ports, actor: Actor) -> tuple[SecretCount, ...]:
    """Count the secrets that ``reseal_secrets`` would change, and those it can't read."""
    columns = (_count(ports, column, writes=False) for column in SECRET_COLUMNS)
    return (*columns, _count_headers(ports, writes=False))


def _count(ports: Ports, column: SecretColumn, *, writes: bool) -> SecretCount:
    checked = resealed = unreadable = 0
    for rows in _batches(ports, column):
        changes: list[tuple[Row[Any], str]] = []
        for row in rows:
            checked += 1
            try:
                changed = _resealed(ports, column, row)
            except DecryptionError:
                unreadable += 1
                continue
            if changed is not None:
                changes.append((row, changed))
        resealed += len(changes)
        if writes and changes:
            _write(ports, column, changes)
    return SecretCount(column.label, checked, resealed, unreadable)


def _batches(ports: Ports, column: SecretColumn) -> Iterator[Sequence[Row[Any]]]:
    name = column.key if column.name is None else column.name
    is_secret = column.column.startswith(column.prefix) if column.prefix else column.column != ""
    query = (
        select(column.key.label("key"), column.column.label("stored"), name.label("name"))
        .where(is_secret)
        .order_by(column.key)
        .limit(_BATCH)
    )
    last: object = None
    while True:
        after = query if last is None else query.where(column.key > last)
        with ports.database.reading() as session:
            rows = session.execute(after).all()
        if not rows:
            return
        yield rows
        last = rows[-1].key


def _resealed(ports: Ports, column: SecretColumn, row: Row[Any]) -> str | None:
    """Return what to store instead, ``None`` if the current key reads it."""
    stored: str = row.stored.removeprefix(column.prefix)
    *others, last = column.purposes(row.name)
    for purpose in others:
        try:
            changed = ports.encryption.reseal(purpose, stored)
        except DecryptionError:
            continue
        return None if changed is None else column.prefix + changed
    changed = ports.encryption.reseal(last, stored)
    return None if changed is None else column.prefix + changed


def _write(ports: Ports, column: SecretColumn, changes: Sequence[tuple[Row[Any], str]]) -> None:
    with ports.database.transaction() as session:
        for row, changed in changes:
            session.execute(
                update(column.column.class_)
                .where(column.key == row.key, column.column == row.stored)
                .values({column.column: changed})
                .execution_options(synchronize_session=False)
            )


def _count_headers(ports: Ports, *, writes: bool) -> SecretCount:
    """Count the custom headers of webhooks, of which each value is encrypted."""
    checked = resealed = unreadable = 0
    with ports.database.reading() as session:
        rows = session.execute(_HEADERS).all()
    for key, headers, text in rows:
        changes: dict[str, object] = {}
        for name, value in headers.items():
            checked += 1
            try:
                changed = reseal_header(ports, value)
            except DecryptionError:
                unreadable += 1
                continue
            if changed is not None:
                changes[name] = changed
        resealed += len(changes)
        if writes and changes:
            _write_headers(ports, key, text, headers | changes)
    return SecretCount(HEADERS, checked, resealed, unreadable)


def _write_headers(ports: Ports, key: int, text: str, headers: dict[str, object]) -> None:
    with ports.database.transaction() as session:
        session.execute(
            update(models.Webhook)
            .where(models.Webhook.id == key, _stored == text)
            .values(custom_headers=headers)
            .execution_options(synchronize_session=False)
        )
