"""Import the SSO subjects that the platform keeps in private metadata, as linked accounts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.imports.provider import (
    KEY_PREFIX,
    METADATA,
    USERS,
    ImportedIdentity,
    convert_identity,
    has_subject,
    other_subjects,
    provider_differs,
    subject_key,
    subject_taken,
    user_missing,
)
from app.domain.imports.runs import Converted, Finding, Part
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.models import ExternalIdentityRecord, UserRecord
from app.ports.import_source import JsonKey, TableRow
from app.services.identity.providers import to_provider
from app.services.imports.providers import KIND as PROVIDER
from app.services.imports.providers import default_provider, find_plugin, find_subject_key
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.source_permissions import number

_identity = ExternalIdentityRecord


@dataclass(frozen=True, slots=True)
class _Linked:
    """An identity here that is of the imported provider."""

    id: int
    subject: str


class LinkedAccounts(Section):
    """Identities of the imported provider, by the ID of their user.

    The issuer isn't compared, because a sign-in adds it (``Provider.imported_issuer``).
    """

    part = Part.SSO
    kind = "external_identity"
    title = "Linked SSO accounts"
    table = USERS
    required = ("id", METADATA)
    optional = ("is_confirmed", "is_staff")

    def __init__(self) -> None:
        self._key = ""
        self._counts: Mapping[str, int] = {}
        self._shared: frozenset[str] = frozenset()
        self._issuers: Sequence[str] = ()

    @override
    def prepare(self, run: Run) -> None:
        self._key = find_subject_key(run.source)
        self._counts = run.source.json_keys(USERS, METADATA, KEY_PREFIX)
        if self._key:
            self._shared = run.source.repeated_json_texts(USERS, self._json)

    @override
    def count(self, run: Run) -> int:
        return self._counts.get(self._key, 0)

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        for key, count in self._counts.items():
            if key != self._key:
                run.report(other_subjects(key, count))
        if self._key and self._is_imported(run):
            self._issuers = _issuers(run)
            columns = (*self.required, *self.optional)
            size = run.options.batch
            yield from run.source.batches_with_json_key(USERS, columns, size, self._json)

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        for row in rows:
            converted = convert_identity(row, self._key, self._shared)
            identity = converted.value
            if identity is None or run.is_left_out("user", identity.user_id):
                run.leave_out(self.kind, number(row["id"]))
                yield Converted(None, converted.findings)
            else:
                state = {"subject": identity.subject}
                extra = {"is_verified": identity.is_verified}
                yield Converted(Row(identity.user_id, state, extra, identity), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        return {key: {"subject": each.subject} for key, each in _linked(session, keys).items()}

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        subjects = [_imported(row).subject for row in rows]
        held = select(_identity.subject, _identity.user_id).where(
            _identity.issuer.in_(self._issuers), _identity.subject.in_(subjects)
        )
        holders = {row.subject: row.user_id for row in session.execute(held)}
        people = select(UserRecord.id).where(UserRecord.id.in_([row.key for row in rows]))
        here = set(session.scalars(people))
        found = {}
        for row in rows:
            holder = holders.get(_imported(row).subject, row.key)
            if holder != row.key:
                found[row.key] = subject_taken(row.key, holder)
            elif row.key not in here and not run.options.dry_run:
                found[row.key] = user_missing(row.key)
        return found

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Link the accounts, except those that a sign-in has linked to the subject already."""
        provider = _provider(session)
        known = select(_identity.user_id, _identity.subject).where(
            _is_of(provider), _identity.user_id.in_([row.key for row in rows])
        )
        linked = {(row.user_id, row.subject) for row in session.execute(known)}
        values = [
            {
                "user_id": identity.user_id,
                "issuer": provider.imported_issuer,
                "subject": identity.subject,
                "is_verified": identity.is_verified,
                "created_at": run.ports.clock.now(),
            }
            for identity in map(_imported, rows)
            if (identity.user_id, identity.subject) not in linked
        ]
        if values:
            session.execute(insert(_identity), values)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Link another subject, which ends the old one's sessions, or verify the same one."""
        linked = _linked(session, [row.key for row in rows])
        others = [row for row in rows if linked[row.key].subject != _imported(row).subject]
        verified = [
            linked[row.key].id
            for row in rows
            if linked[row.key].subject == _imported(row).subject and _imported(row).is_verified
        ]
        if verified:
            same = _identity.id.in_(verified)
            session.execute(update(_identity).where(same).values(is_verified=True))
        self.remove(run, session, [row.key for row in others])
        self.insert(run, session, others)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        gone = [each.id for each in _linked(session, keys).values()]
        session.execute(delete(_identity).where(_identity.id.in_(gone)))

    @override
    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        """Return who still has a subject; without the plugin, the links stay as they are."""
        if not self._key:
            return set(keys)
        found = run.source.matching(USERS, ("id", METADATA), "id", keys)
        having = {row["id"] for row in found if has_subject(row[METADATA], self._key)}
        return {key for key in keys if key in having}

    @property
    def _json(self) -> JsonKey:
        return JsonKey(METADATA, self._key)

    def _is_imported(self, run: Run) -> bool:
        """Whether the default provider here is the one whose subjects the source has.

        Another provider's people with the same subjects would get into these accounts.
        """
        plugin = find_plugin(run.source)
        if plugin is None or run.is_left_out(PROVIDER, plugin.id):
            return False
        with run.ports.database.reading() as session:
            here = _provider(session).oauth_authorization_url
        if run.options.dry_run and not here:
            here = plugin.authorization_url
        if self._key == subject_key(here):
            return True
        run.report(provider_differs(plugin.id))
        return False


def _imported(row: Row) -> ImportedIdentity:
    if not isinstance(row.value, ImportedIdentity):
        raise TypeError("a linked account's row holds an ImportedIdentity")
    return row.value


def _provider(session: Session) -> Provider:
    stored = default_provider(session)
    return Provider(0, DEFAULT_SLUG, "", active=False) if stored is None else to_provider(stored)


def _is_of(provider: Provider) -> ColumnElement[bool]:
    if provider.issuer:
        return _identity.issuer == provider.issuer
    return _identity.issuer.startswith(f"{provider.slug}|", autoescape=True)


def _issuers(run: Run) -> Sequence[str]:
    """Return what identities of the provider are stored under."""
    with run.ports.database.reading() as session:
        provider = _provider(session)
        stored = select(_identity.issuer).distinct().where(_is_of(provider))
        return sorted({provider.imported_issuer, *session.scalars(stored)})


def _linked(session: Session, keys: Collection[int]) -> Mapping[int, _Linked]:
    """Return the first identity that each of these users has at the provider."""
    query = (
        select(_identity.id, _identity.user_id, _identity.subject)
        .where(_is_of(_provider(session)), _identity.user_id.in_(keys))
        .order_by(_identity.id.desc())
    )
    return {row.user_id: _Linked(row.id, row.subject) for row in session.execute(query)}
