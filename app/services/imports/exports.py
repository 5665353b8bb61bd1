"""Write people, groups, apps, webhooks and settings as JSON Lines.

Also all that is stored about one person, for a request for access to personal data.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    String,
    collate,
    func,
    inspect,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS
from app.domain.imports import exports
from app.domain.sign_in.sign_in_log import EMAIL_PURPOSE
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.installation import VERSION, ExportFailed, OnProgress, ignore_progress
from app.domain.values.text_rules import is_storable
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, internal, requires_person
from app.services.identity.users import stored_email
from app.services.imports.export_tables import TABLES, ExportedTable, ListOf, tables_of
from app.services.outbox.publisher import holds_secret, redacted_payload
from app.services.people.erasure import (
    addresses_of_person,
    audit_values_of,
    require_all_permissions,
)
from app.services.webhooks.stored_webhooks import decrypted_headers

_ALL = frozenset(exports.Section)
_COLLATIONS = {"sqlite": "BINARY", "postgresql": "C"}
"""By code points on both, so that exports of both databases have the same order."""

_UNREADABLE = (
    "The {field} of {type} {key} can't be read: it was encrypted with another SECRET_KEY. "
    "Add that key to SECRET_KEY_FALLBACKS, or set a new {field}."
)


@internal
def export_installation(
    ports: Ports,
    actor: Actor,
    sections: Collection[exports.Section] = _ALL,
    *,
    with_secrets: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Iterator[str]:
    """Yield the lines of an export of this moment, while others work; memory stays flat.

    Secrets are password hashes, tokens of apps, secrets of webhooks and providers, and headers
    of webhooks that look like credentials. Raises ``ExportFailed`` for one that can't be read.
    """
    chosen = frozenset(sections)
    tables = [table for table in tables_of(chosen) if with_secrets or not table.is_secret]
    _record(ports, actor, chosen, with_secrets=with_secrets)
    header = exports.ExportHeader(
        VERSION,
        ports.clock.now(),
        tuple(section for section in exports.Section if section in chosen),
        with_secrets,
    )
    yield header.as_line()
    done = 0
    with ports.snapshots.snapshot() as session:
        total = sum(_count(session, table) for table in tables)
        for table in tables:
            for rows in _batches(session, table):
                yield from _lines(ports, session, table, rows, with_secrets=with_secrets)
                done += len(rows)
                on_progress(done, total)
    yield exports.line_of(exports.END, {"lines": done})


def _record(
    ports: Ports, actor: Actor, sections: frozenset[exports.Section], *, with_secrets: bool
) -> None:
    after = {"sections": sorted(sections), "with_secrets": with_secrets}
    with ports.database.transaction() as session:
        record(ports, actor, session, Change("export.create", "Export", "", after=after))


def _count(session: Session, table: ExportedTable) -> int:
    return session.scalar(select(func.count()).select_from(table.record)) or 0


def _batches(session: Session, table: ExportedTable) -> Iterator[Sequence[Row[Any]]]:
    columns = [getattr(table.record, name) for name in table.fields]
    places = [table.fields.index(name) for name in table.order]
    collation = _COLLATIONS[session.get_bind().dialect.name]
    keys = [_ordered(columns[place], collation) for place in places]
    query: Select[Any] = select(*columns).order_by(*keys).limit(table.batch)
    last: tuple[object, ...] | None = None
    while True:
        after = query if last is None else query.where(tuple_(*keys) > tuple_(*last))
        rows = session.execute(after).all()
        if rows:
            yield rows
        if len(rows) < table.batch:
            return
        last = tuple(rows[-1][place] for place in places)


def _ordered(column: Any, collation: str) -> Any:
    return collate(column, collation) if isinstance(column.type, String) else column


def _lines(
    ports: Ports,
    session: Session,
    table: ExportedTable,
    rows: Sequence[Row[Any]],
    *,
    with_secrets: bool,
) -> Iterator[str]:
    lists = {list_.name: _lists(session, list_, rows) for list_ in table.lists}
    for row in rows:
        fields = dict(zip(table.names, row, strict=True))
        lists_of_row = {name: values.get(row.id, []) for name, values in lists.items()}
        if with_secrets:
            fields |= _decrypted(ports, table, fields)
        else:
            fields = _without_secrets(ports, table, fields)
        yield exports.line_of(table.name, fields | lists_of_row)


def _lists(session: Session, list_: ListOf, rows: Sequence[Row[Any]]) -> dict[int, list[str]]:
    query = (
        select(list_.owner, list_.value)
        .where(list_.owner.between(rows[0].id, rows[-1].id))
        .order_by(list_.owner)
    )
    found: dict[int, list[str]] = {}
    for owner, value in session.execute(query):
        found.setdefault(owner, []).append(value)
    # Not by the database: its order of texts depends on its locale.
    return {owner: sorted(values) for owner, values in found.items()}


def _decrypted(ports: Ports, table: ExportedTable, fields: Mapping[str, Any]) -> dict[str, object]:
    opened: dict[str, object] = {}
    for name, purpose in table.encrypted.items():
        if fields[name]:
            try:
                opened[name] = ports.encryption.decrypt(purpose, fields[name])
            except DecryptionError as error:
                message = _UNREADABLE.format(field=name, type=table.name, key=fields["id"])
                raise ExportFailed(message) from error
    if table.headers:
        opened[table.headers] = _headers(ports, table, fields["id"], fields[table.headers])
    return opened


def _headers(
    ports: Ports, table: ExportedTable, key: int, headers: Mapping[str, object]
) -> Mapping[str, str]:
    try:
        return decrypted_headers(ports, headers)
    except DecryptionError as error:
        message = _UNREADABLE.format(field=table.headers, type=table.name, key=key)
        raise ExportFailed(message) from error


def _without_secrets(
    ports: Ports, table: ExportedTable, fields: Mapping[str, Any]
) -> dict[str, object]:
    kept = {name: fields[name] for name in fields if name not in table.secrets}
    withheld = [name for name in table.secrets if fields[name]]
    if table.headers:
        headers, names = exports.without_secret_headers(fields[table.headers])
        try:
            kept[table.headers] = decrypted_headers(ports, headers)
        except DecryptionError:
            kept[table.headers], names = {}, tuple(sorted(fields[table.headers]))
        withheld += [f"{table.headers}.{name}" for name in names]
    return kept | {exports.WITHHELD: withheld} if withheld else kept


Values = dict[str, object]

_MISSING = Problem("NOT_FOUND", "There is no person with this email.", "email")
_EXPORTED = {table.record: table for table in TABLES}
_SESSION = ("created_at", "last_used_at", "expires_at", "origin", "amr", "address", "user_agent")
_SIGN_IN = (
    "at",
    "first_at",
    "attempts",
    "method",
    "reason",
    "name",
    "provider",
    "address",
    "device",
    "in_console",
    "second_factor",
    "detail",
)
_AUDIT = (
    "at",
    "actor_kind",
    "actor_user_id",
    "actor_name",
    "address",
    "action",
    "subject_type",
    "subject_id",
    "subject_name",
    "before",
    "after",
)
_MAIL = (
    "kind",
    "recipient",
    "created_at",
    "attempts",
    "attempted_at",
    "sent_at",
    "sent_by",
    "last_error",
)
_ORDER = ("id", "status", "is_paid", "user_email", "total", "currency", "created_at", "updated_at")
_CART = ("id", "email", "created_at", "updated_at", "completed_at")
_PASSKEY = ("name", "device", "is_synced", "created_at", "last_used_at")
_AUTHENTICATOR_APP = ("created_at", "confirmed_at", "last_used_at")
_RECOVERY_CODE = ("created_at", "used_at")
_CONSENT = ("client_id", "scope", "created_at", "updated_at")
_DEVICE = ("device", "network", "first_used_at", "last_used_at")
_LINK = ("purpose", "new_email", "notice", "created_at", "expires_at")
_LINE = ("product_name", "quantity", "unit_price", "currency")


@fresh_proof("You're about to export everything that is stored about a person.")
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def export_person(ports: Ports, actor: Actor, email: str) -> Mapping[str, object]:
    """Return everything that is stored about a person, by sections, without secrets.

    For holders of all permissions. Refuses NOT_FOUND on ``email``. The export is in the audit log,
    under the person's ID.
    """
    require_all_permissions(actor)
    # No database can be asked for what it cannot hold.
    with ports.snapshots.snapshot() as session:
        wanted = stored_email(session, email) if is_storable(email) else ""
        key = session.scalar(select(models.User.id).where(models.User.email == wanted))
        if key is None:
            raise Refused(_MISSING)
        sections = {
            name: exports.plain(value) for name, value in _sections(ports, session, key).items()
        }
    with ports.database.transaction() as session:
        record(ports, actor, session, Change("user.export", "User", key))
    header = {
        "format": exports.FORMAT,
        "version": VERSION,
        "created_at": exports.plain(ports.clock.now()),
    }
    return {**header, **sections}


def _sections(ports: Ports, session: Session, key: int) -> dict[str, object]:
    account = _account(session, key)
    orders = _with_lines(session, models.Order, _ORDER, models.OrderLine, "order_id", key)
    carts = _with_lines(session, models.Checkout, _CART, models.CheckoutLine, "checkout_id", key)
    return {
        "account": account,
        "groups": _texts(
            session,
            select(models.Group.name)
            .join(models.GroupMember, models.GroupMember.group_id == models.Group.id)
            .where(models.GroupMember.user_id == key),
        ),
        "permissions": _texts(
            session,
            select(models.UserPermission.permission).where(models.UserPermission.user_id == key),
        ),
        "avatars": _rows_of_user(session, models.Avatar, ("size", "data"), key),
        "addresses": _rows_of_user(session, models.Address, _fields(models.Address), key),
        "linked_accounts": _rows_of_user(
            session, models.ExternalIdentity, _fields(models.ExternalIdentity), key
        ),
        "sessions": _rows_of_user(session, models.Session, _SESSION, key),
        "links": _rows_of_user(session, models.AccountLink, _LINK, key),
        "passkeys": _rows_of_user(session, models.Passkey, _PASSKEY, key),
        "authenticator_apps": _rows_of_user(
            session, models.AuthenticatorApp, _AUTHENTICATOR_APP, key
        ),
        "recovery_codes": _rows_of_user(session, models.RecoveryCode, _RECOVERY_CODE, key),
        "known_devices": _rows_of_user(session, models.KnownDevice, _DEVICE, key),
        "connected_programs": _rows_of_user(session, models.OAuthConsent, _CONSENT, key),
        "used_programs": _rows_of_user(session, models.OAuthUse, ("client_id", "used_at"), key),
        "imported_from": _imports(session, key),
        "saved_filters": _rows_of_user(
            session, models.SavedFilter, ("list_name", "name", "query"), key
        ),
        "sign_ins": _sign_ins(ports, session, key, str(account["email"])),
        "audit_log": _audit_entries(session, key),
        "orders": orders,
        "carts": carts,
        "emails": _rows(
            session,
            models.OutboxMail,
            _MAIL,
            or_(models.OutboxMail.user_id == key, models.OutboxMail.recipient == account["email"]),
        ),
        "deliveries": [*_deliveries(ports, session, key, orders, carts)],
    }


def _imports(session: Session, key: int) -> list[Values]:
    """Return where the account came from, and whether its imported password was replaced."""
    query = (
        select(
            models.Import.source,
            models.Import.started_at,
            models.ImportedPassword.state,
            models.ImportedPassword.replaced_at,
        )
        .join(models.Import, models.Import.id == models.ImportedPassword.import_id)
        .where(models.ImportedPassword.user_id == key)
    )
    names = ("source", "started_at", "password", "password_replaced_at")
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def _fields(of: type[models.Record]) -> tuple[str, ...]:
    return _EXPORTED[of].fields


def _account(session: Session, key: int) -> Values:
    names = _fields(models.User)
    [account] = _rows(session, models.User, names, models.User.id == key)
    has_password = account.pop("password_hash") is not None
    return {"global_id": to_global_id("User", key), **account, "has_password": has_password}


def _rows(
    session: Session, of: type[models.Record], names: Sequence[str], condition: ColumnElement[bool]
) -> list[Values]:
    columns = [getattr(of, name) for name in names]
    query = select(*columns).where(condition).order_by(*inspect(of).primary_key)
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


def _rows_of_user(session: Session, of: Any, names: Sequence[str], key: int) -> list[Values]:
    return _rows(session, of, names, of.user_id == key)


def _texts(session: Session, query: Any) -> list[str]:
    return sorted(session.scalars(query))


def _sign_ins(ports: Ports, session: Session, key: int, email: str) -> list[Values]:
    """Return their attempts, and those with their email before they had an account."""
    digests = ports.encryption.known_fingerprints(EMAIL_PURPOSE, email)
    is_theirs = or_(
        models.SignInEvent.user_id == key, models.SignInEvent.email_digest.in_(digests)
    )
    return _rows(session, models.SignInEvent, _SIGN_IN, is_theirs)


def _audit_entries(session: Session, key: int) -> list[Values]:
    about = (models.AuditEntry.subject_type == "User") & (models.AuditEntry.subject_id == str(key))
    return _rows(
        session, models.AuditEntry, _AUDIT, about | (models.AuditEntry.actor_user_id == key)
    )


def _with_lines(
    session: Session, of: Any, names: Sequence[str], lines: Any, owner: str, key: int
) -> list[Values]:
    found = _rows_of_user(session, of, names, key)
    in_order = getattr(lines, owner)
    for one in found:
        one["lines"] = _rows(session, lines, _LINE, in_order == one["id"])
    return found


def _deliveries(
    ports: Ports, session: Session, key: int, orders: Collection[Values], carts: Collection[Values]
) -> Iterator[Values]:
    """Yield what apps were sent about them, and by which webhook; links without their secrets."""
    stored = session.scalars(select(models.Address.id).where(models.Address.user_id == key)).all()
    keys: dict[str, list[object]] = {
        "User": [key],
        "Order": [one["id"] for one in orders],
        "Checkout": [one["id"] for one in carts],
        "Address": [*addresses_of_person(stored, audit_values_of(session, key))],
    }
    for subject, subject_keys in keys.items():
        events = [event.value for event, type_ in EVENTS.items() if type_.subject.type == subject]
        query = (
            select(models.Delivery, models.Webhook.name, models.Webhook.target_url)
            .join(models.Webhook, models.Webhook.id == models.Delivery.webhook_id)
            .where(models.Delivery.event.in_(events), models.Delivery.subject_id.in_(subject_keys))
            .order_by(models.Delivery.id)
        )
        for delivery, name, url in session.execute(query):
            yield {
                "event": delivery.event,
                "created_at": delivery.created_at,
                "status": delivery.status,
                "webhook": name,
                "target_url": masked_url(url),
                "payload": redacted_payload(
                    ports, delivery.payload, "" if holds_secret(delivery.event) else None
                ),
            }
