"""Import the platform's OpenID Connect plugin as the default identity provider."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.authorization.actor import OPERATOR
from app.domain.imports.provider import (
    PLUGIN,
    PLUGINS,
    PROVIDER_SETTINGS,
    DefaultGroup,
    ImportedProvider,
    choose_plugin,
    convert_provider,
    default_group_name,
    not_imported,
    stated_authorization_url,
    subject_key,
)
from app.domain.imports.runs import Converted, Finding, Part
from app.domain.keys import PROVIDER_SECRET
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.models import IdentityProviderRecord
from app.ports import Ports
from app.ports.import_source import ImportSource, TableRow
from app.services.authorization.register import part
from app.services.identity.providers import client_secret_of, to_provider
from app.services.imports.ledger import find_entries
from app.services.imports.sections import Row, Run, Section, State
from app.services.single_sign_on.provider_changes import next_settings, store_settings

KIND = "identity_provider"
_GROUPS = "account_group"
_RESTRICTED = "restricted_access_to_channels"
_SECRET = "client_secret"  # noqa: S105 - the name of a setting
_COLUMNS = ("id", "name", "active", "configuration", "identifier", "channel_id")


@part
def find_plugin(source: ImportSource) -> ImportedProvider | None:
    """Return the provider that the plugin becomes, if the source has the plugin."""
    rows = source.matching(PLUGINS, _COLUMNS, "identifier", [PLUGIN])
    chosen = choose_plugin(rows)
    for row in rows:
        if row["id"] == chosen:
            return convert_provider(row, is_chosen=True, group=DefaultGroup()).value
    return None


@part
def find_subject_key(source: ImportSource) -> str:
    """Return the key of private metadata that holds SSO subjects; empty without the plugin."""
    rows = source.matching(PLUGINS, _COLUMNS, "identifier", [PLUGIN])
    chosen = choose_plugin(rows)
    urls = [stated_authorization_url(row) for row in rows if row["id"] == chosen]
    return subject_key(urls[0]) if urls and urls[0] else ""


@part
def default_provider(session: Session) -> IdentityProviderRecord | None:
    """Return the provider that the plugin becomes here."""
    return session.scalar(
        select(IdentityProviderRecord).where(IdentityProviderRecord.slug == DEFAULT_SLUG)
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
        stored = default_provider(session)
        if stored is None:
            return {}
        state = _state_here(run.ports, stored)
        return dict.fromkeys(keys, state)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        stored = default_provider(session)
        keys = [row.key for row in rows]
        known = find_entries(session, run.import_id, self.kind, keys) if run.import_id else {}
        if stored is None or not _is_set_up(stored):
            return {}
        state = _state_here(run.ports, stored)
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
            _write(run.ports, session, _provider(row))

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Disable the provider, and clear its settings so that another row can take its place."""
        stored = default_provider(session)
        if stored is not None:
            nothing = Provider(0, "", "", active=False)
            cleared = {name: getattr(nothing, name) for name in PROVIDER_SETTINGS}
            _write(run.ports, session, ImportedProvider(0, stored.name, False, cleared))  # noqa: FBT003


def _group(source: ImportSource, name: str) -> DefaultGroup:
    if not name:
        return DefaultGroup()
    rows = source.matching(_GROUPS, ("id", _RESTRICTED), "name", [name])
    return DefaultGroup(bool(rows[0].get(_RESTRICTED)) if rows else None)


def _provider(row: Row) -> ImportedProvider:
    if not isinstance(row.value, ImportedProvider):
        raise TypeError("a provider's row holds an ImportedProvider")
    return row.value


def _state(ports: Ports, provider: ImportedProvider) -> dict[str, object]:
    secret = str(provider.settings[_SECRET])
    keyed = ports.encryption.fingerprint(PROVIDER_SECRET, secret) if secret else ""
    settings = {**provider.settings, _SECRET: keyed}
    return {"name": provider.name, "active": provider.active, **settings}


def _state_here(ports: Ports, stored: IdentityProviderRecord) -> dict[str, object]:
    settings: dict[str, str | bool] = {
        name: getattr(stored, name) for name in PROVIDER_SETTINGS if name != _SECRET
    }
    settings[_SECRET] = client_secret_of(ports, to_provider(stored))
    return _state(ports, ImportedProvider(0, stored.name, stored.active, settings))


def _is_set_up(stored: IdentityProviderRecord) -> bool:
    return any(
        getattr(stored, name)
        for name in PROVIDER_SETTINGS
        if name.endswith("_url") or name.startswith("client_")
    )


def _write(ports: Ports, session: Session, provider: ImportedProvider) -> None:
    stored = default_provider(session)
    if stored is None:
        stored = IdentityProviderRecord(slug=DEFAULT_SLUG, name=provider.name)
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
