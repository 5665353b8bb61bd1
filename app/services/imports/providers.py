"""Import the platform's OpenID Connect plugin as the default provider, and its linked accounts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.imports.provider import (
    KEY_PREFIX,
    METADATA,
    PLUGIN,
    PLUGINS,
    PROVIDER_SETTINGS,
    USERS,
    DefaultGroup,
    ImportedIdentity,
    ImportedProvider,
    choose_plugin,
    convert_identity,
    convert_provider,
    default_group_name,
    has_subject,
    not_imported,
    other_subjects,
    provider_differs,
    stated_authorization_url,
    subject_key,
    subject_taken,
    user_missing,
)
from app.domain.imports.runs import Converted, Finding, Part
from app.domain.keys import PROVIDER_SECRET
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.ports import NamedRow, Ports
from app.ports.import_source import ImportSource, JsonKey, TableRow
from app.services.authorization.register import building_block
from app.services.identity.providers import client_secret_of, to_provider
from app.services.imports.groups import number
from app.services.imports.ledger import find_entries
from app.services.imports.sections import Row, Run, Section, State
from app.services.single_sign_on.provider_settings import next_settings, store_settings

KIND = "identity_provider"
_GROUPS = "account_group"
_RESTRICTED = "restricted_access_to_channels"
_SECRET = "client_secret"  # noqa: S105 - the name of a setting
_COLUMNS = ("id", "name", "active", "configuration", "identifier", "channel_id")


@building_block
def find_plugin(source: ImportSource) -> ImportedProvider | None:
    """Return the provider that the plugin becomes, if the source has the plugin."""
    rows = source.matching(PLUGINS, _COLUMNS, "identifier", [PLUGIN])
    chosen = choose_plugin(rows)
    for row in rows:
        if row["id"] == chosen:
            return convert_provider(row, is_chosen=True, group=DefaultGroup()).value
    return None


@building_block
def find_subject_key(source: ImportSource) -> str:
    """Return the key of private metadata that holds SSO subjects; empty without the plugin."""
    rows = source.matching(PLUGINS, _COLUMNS, "identifier", [PLUGIN])
    chosen = choose_plugin(rows)
    urls = [stated_authorization_url(row) for row in rows if row["id"] == chosen]
    return subject_key(urls[0]) if urls and urls[0] else ""


def _default_provider(session: Session) -> models.IdentityProvider | None:
    """Return the provider that the plugin becomes here."""
    return session.scalar(
        select(models.IdentityProvider).where(models.IdentityProvider.slug == DEFAULT_SLUG)
    )


class Providers(Section):
    """The plugin's configuration; its client secret is compared by a keyed hash."""

    part = Part.SSO
    kind = KIND
    title = "Identity providers"
    table = PLUGINS
    required = ("id", "name", "active", "configuration", "identifier")
    optional = ("channel_id",)

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        rows = run.source.matching(PLUGINS, _COLUMNS, "identifier", [PLUGIN])
        if rows:
            yield rows

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        chosen = choose_plugin(rows)
        for row in rows:
            converted = convert_provider(
                row,
                is_chosen=row["id"] == chosen,
                group=_group(run.source, default_group_name(row)),
            )
            provider = converted.value
            if provider is None:
                yield Converted(None, converted.findings)
            else:
                state = _state(run.ports, provider)
                yield Converted(Row(provider.id, state, value=provider), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        stored = _default_provider(session)
        if stored is None:
            return {}
        state = _stored_state(run.ports, stored)
        return dict.fromkeys(keys, state)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        stored = _default_provider(session)
        keys = [row.key for row in rows]
        known = find_entries(session, run.import_id, self.kind, keys) if run.import_id else {}
        if stored is None or not _is_set_up(stored):
            return {}
        state = _stored_state(run.ports, stored)
        return {
            row.key: not_imported(row.key)
            for row in rows
            if row.key not in known and row.state != state
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        self.update(run, session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        for row in rows:
            _write(run.ports, session, row.value_of(ImportedProvider))

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Disable the provider, and clear its settings so that another row can take its place."""
        stored = _default_provider(session)
        if stored is not None:
            nothing = Provider(0, "", "", active=False)
            cleared = {name: getattr(nothing, name) for name in PROVIDER_SETTINGS}
            _write(run.ports, session, ImportedProvider(0, stored.name, False, cleared))  # noqa: FBT003


def _group(source: ImportSource, name: str) -> DefaultGroup:
    if not name:
        return DefaultGroup()
    rows = source.matching(_GROUPS, ("id", _RESTRICTED), "name", [name])
    return DefaultGroup(bool(rows[0].get(_RESTRICTED)) if rows else None)


def _state(ports: Ports, provider: ImportedProvider) -> dict[str, object]:
    secret = str(provider.settings[_SECRET])
    keyed = ports.encryption.fingerprint(PROVIDER_SECRET, secret) if secret else ""
    settings = {**provider.settings, _SECRET: keyed}
    return {"name": provider.name, "active": provider.active, **settings}


def _stored_state(ports: Ports, stored: models.IdentityProvider) -> dict[str, object]:
    settings: dict[str, str | bool] = {
        name: getattr(stored, name) for name in PROVIDER_SETTINGS if name != _SECRET
    }
    settings[_SECRET] = client_secret_of(ports, to_provider(stored))
    return _state(ports, ImportedProvider(0, stored.name, stored.active, settings))


def _is_set_up(stored: models.IdentityProvider) -> bool:
    return any(
        getattr(stored, name)
        for name in PROVIDER_SETTINGS
        if name.endswith("_url") or name.startswith("client_")
    )


def _write(ports: Ports, session: Session, provider: ImportedProvider) -> None:
    stored = _default_provider(session)
    if stored is None:
        stored = models.IdentityProvider(slug=DEFAULT_SLUG, name=provider.name)
        session.add(stored)
        session.flush()
    values: dict[str, Any] = {
        **provider.settings,
        "name": provider.name,
        "active": provider.active,
    }
    if values[_SECRET]:
        values[_SECRET] = ports.encryption.encrypt(PROVIDER_SECRET, values[_SECRET])
    store_settings(session, stored, next_settings(ports, OPERATOR, to_provider(stored), values))


_identity = models.ExternalIdentity


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
        people = select(models.User.id).where(models.User.id.in_([row.key for row in rows]))
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
        provider = _present_provider(session)
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
        if plugin is None or run.is_left_out(KIND, plugin.id):
            return False
        with run.ports.database.reading() as session:
            here = _present_provider(session).oauth_authorization_url
        if run.options.dry_run and not here:
            here = plugin.authorization_url
        if self._key == subject_key(here):
            return True
        run.report(provider_differs(plugin.id))
        return False


def _imported(row: Row) -> ImportedIdentity:
    return row.value_of(ImportedIdentity)


def _present_provider(session: Session) -> Provider:
    stored = _default_provider(session)
    return Provider(0, DEFAULT_SLUG, "", active=False) if stored is None else to_provider(stored)


def _is_of(provider: Provider) -> ColumnElement[bool]:
    if provider.issuer:
        return _identity.issuer == provider.issuer
    return _identity.issuer.startswith(f"{provider.slug}|", autoescape=True)


def _issuers(run: Run) -> Sequence[str]:
    """Return what identities of the provider are stored under."""
    with run.ports.database.reading() as session:
        provider = _present_provider(session)
        stored = select(_identity.issuer).distinct().where(_is_of(provider))
        return sorted({provider.imported_issuer, *session.scalars(stored)})


def _linked(session: Session, keys: Collection[int]) -> Mapping[int, NamedRow]:
    """Return the first identity that each of these users has at the provider."""
    query = (
        select(_identity.id, _identity.user_id, _identity.subject)
        .where(_is_of(_present_provider(session)), _identity.user_id.in_(keys))
        .order_by(_identity.id.desc())
    )
    return {row.user_id: row for row in session.execute(query)}
