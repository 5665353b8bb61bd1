"""Import the platform's apps with their permissions, tokens and dashboard extensions."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import ClassVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.authorization.permissions import joined_names
from app.domain.imports import apps
from app.domain.imports.runs import Converted, Finding, Outcome, Part
from app.domain.imports.webhooks import WEBHOOKS
from app.domain.passwords.imported_hashes import ImportedPasswordState, classify
from app.domain.urls.web_urls import is_web_url
from app.models.record import Record
from app.models.search_words import app_word_rows
from app.ports.import_source import TableRow
from app.services.imports.bulk import insert_rows, update_rows
from app.services.imports.groups import (
    APP_PERMISSIONS,
    EXTENSION_PERMISSIONS,
    find_codenames,
    load_codenames,
    number,
)
from app.services.imports.sections import Row, Run, Section, State

APP_KIND = "app"
_PAGE = 5_000


@dataclass(slots=True)
class SourceApps:
    """The source's apps: ``live`` weren't removed there; ``missing`` aren't here."""

    live: set[int] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)

    def has(self, run: Run, app_id: int) -> bool:
        """Whether that app is imported."""
        return (
            app_id in self.live
            and app_id not in self.missing
            and not run.is_left_out(APP_KIND, app_id)
        )

    def left_out(self, table: str, source: TableRow) -> Converted[Row]:
        """Return a row whose app isn't imported: with a finding, unless the app has one."""
        app_id, key = number(source["app_id"]), number(source["id"])
        if app_id not in self.missing:
            return Converted(None)
        template = "Its app {app} was deleted here, or hasn't been imported."
        values: dict[str, object] = {"app": app_id}
        finding = Finding(table, key, "APP_MISSING", template, Outcome.LEFT_OUT, values)
        return Converted(None, (finding,))


class AppOwned(Section):
    """Rows that belong to an app and have an identifier in it."""

    record: ClassVar[type[models.AppExtension] | type[models.Webhook]]

    def __init__(self) -> None:
        self._apps = SourceApps()
        self._codenames: Mapping[int, str] = {}
        self._identifiers: dict[int, set[str]] = {}

    @override
    def prepare(self, run: Run) -> None:
        self._apps = _find_source_apps(run)
        self._codenames = load_codenames(run.source)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        return _identifier_conflicts(session, self.record, self.table, rows)


def _find_source_apps(run: Run) -> SourceApps:
    """Look up the apps of the source, and those that this run doesn't import either."""
    found = SourceApps()
    for batch in run.source.batches(apps.APPS, ("removed_at",), _PAGE):
        found.live.update(number(row["id"]) for row in batch if row.get("removed_at") is None)
    imported = select(models.ImportedRow.row_id).where(
        models.ImportedRow.kind == APP_KIND, models.ImportedRow.import_id == run.import_id
    )
    with run.ports.database.reading() as session:
        here = set(session.scalars(select(models.App.id)))
        expected = set(session.scalars(imported)) if Part.APPS in run.options.parts else found.live
    found.missing = expected - here
    return found


def _identifier_conflicts(
    session: Session,
    record: type[models.App] | type[models.AppExtension] | type[models.Webhook],
    table: str,
    rows: Iterable[Row],
) -> Mapping[int, Finding]:
    """Return the rows whose identifier another row here has, in the same app if it has one."""
    wanted = {row.key: row.state for row in rows if row.state["identifier"]}
    scope = None if record is models.App else record.__table__.c.app_id
    columns = record.__table__.c
    query = select(columns.id, columns.identifier, *([] if scope is None else [scope])).where(
        columns.identifier.in_({str(state["identifier"]) for state in wanted.values()})
    )
    holders = {tuple(row[1:]): row.id for row in session.execute(query)}
    found: dict[int, Finding] = {}
    for key, state in wanted.items():
        holder = holders.setdefault(_scoped(state, has_scope=scope is not None), key)
        if holder != key:
            found[key] = _conflict(table, key, holder, state)
    return found


def _scoped(state: State, *, has_scope: bool) -> tuple[object, ...]:
    return (state["identifier"], state["app_id"]) if has_scope else (state["identifier"],)


def _conflict(table: str, key: int, holder: int, state: State) -> Finding:
    template = "Row {holder} here already has the identifier {identifier}."
    values = {"holder": holder, "identifier": state["identifier"]}
    return Finding(table, key, "IDENTIFIER_TAKEN", template, Outcome.LEFT_OUT, values)


_APP = models.App.__table__.c
_IMPORTED = {"is_installed", *(field.name for field in fields(apps.ImportedApp))} - {"id"}
_APP_STATE = tuple(column for column in _APP if column.name in _IMPORTED)
"""The columns that an import writes and compares."""


class Apps(Section):
    """The apps of the source, without those that were removed there."""

    part = Part.APPS
    kind = APP_KIND
    title = "Apps"
    table = apps.APPS
    required = ("name", "created_at", "is_active", "type")
    optional = (
        "is_installed",
        "identifier",
        "about_app",
        "author",
        "version",
        "audience",
        "app_url",
        "configuration_url",
        "data_privacy",
        "data_privacy_url",
        "homepage_url",
        "manifest_url",
        "support_url",
        "brand_logo_default",
        "removed_at",
        "metadata",
        "private_metadata",
    )
    record: ClassVar[type[Record] | None] = models.App

    def __init__(self) -> None:
        self._apps = SourceApps()
        self._codenames: Mapping[int, str] = {}
        self._holders: dict[str, int] = {}

    @override
    def prepare(self, run: Run) -> None:
        self._apps = _find_source_apps(run)
        self._codenames = load_codenames(run.source)
        for batch in run.source.batches(apps.APPS, ("identifier",), _PAGE):
            for row in batch:
                if (key := number(row["id"])) in self._apps.live:
                    self._holders.setdefault(_identifier(row), key)
        self._holders.update(_local_identifiers(run))

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = [number(row["id"]) for row in rows]
        removed = [number(row["id"]) for row in rows if row.get("removed_at") is not None]
        codenames = find_codenames(run.source, self._codenames, APP_PERMISSIONS, keys)
        tokens, webhooks = (_counts(run, table, removed) for table in (apps.TOKENS, WEBHOOKS))
        for key, row in zip(keys, rows, strict=True):
            around = apps.AppSurroundings(
                codenames=codenames.get(key, ()),
                tokens=tokens[key],
                webhooks=webhooks[key],
                identifier_holder=self._holders.get(_identifier(row)),
            )
            converted = apps.convert_app({"is_installed": True, **row}, around)
            if converted.value is None:
                run.leave_out(APP_KIND, key)
                yield Converted(None, converted.findings)
            else:
                yield Converted(_app_row(converted.value), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        permissions: dict[int, list[str]] = {}
        held = select(models.AppPermission.app_id, models.AppPermission.permission).where(
            models.AppPermission.app_id.in_(keys)
        )
        for app_id, permission in session.execute(held):
            permissions.setdefault(app_id, []).append(permission)
        query = select(_APP.id, *_APP_STATE).where(_APP.id.in_(keys))
        return {
            row["id"]: {
                **{column.name: row[column.name] for column in _APP_STATE},
                "permissions": sorted(permissions.get(row["id"], ())),
            }
            for row in session.execute(query).mappings()
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        values = [{"id": row.key, **_columns(row)} for row in rows]
        insert_rows(session, models.App, values)
        _add_parts(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        update_rows(session, models.App, {row.key: _columns(row) for row in rows})
        keys = [row.key for row in rows]
        for record in (models.AppPermission, models.AppWord):
            session.execute(delete(record).where(record.app_id.in_(keys)))
        _add_parts(session, rows)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        return _identifier_conflicts(session, models.App, apps.APPS, rows)


def _app_row(app: apps.ImportedApp) -> Row:
    state = {**asdict(app), "type": app.type.value, "is_installed": True}
    del state["id"]
    state["permissions"] = sorted(permission.value for permission in app.permissions)
    return Row(app.id, state)


def _columns(row: Row) -> dict[str, object]:
    return {name: value for name, value in row.state.items() if name != "permissions"}


def _add_parts(session: Session, rows: Sequence[Row]) -> None:
    permissions = [
        {"app_id": row.key, "permission": name}
        for row in rows
        for name in row.texts("permissions")
    ]
    words = [
        word
        for row in rows
        for word in app_word_rows(row.key, str(row.state["name"]), str(row.state["identifier"]))
    ]
    insert_rows(session, models.AppPermission, permissions)
    insert_rows(session, models.AppWord, words)


def _identifier(row: TableRow) -> str:
    return str(row.get("identifier") or "").strip()


def _local_identifiers(run: Run) -> dict[str, int]:
    """Return the identifiers of apps that were created here."""
    imported = select(models.ImportedRow.row_id).where(
        models.ImportedRow.kind == APP_KIND, models.ImportedRow.import_id == run.import_id
    )
    query = select(models.App.identifier, models.App.id).where(
        models.App.identifier != "", models.App.id.not_in(imported)
    )
    with run.ports.database.reading() as session:
        return {row.identifier: row.id for row in session.execute(query)}


def _counts(run: Run, table: str, app_ids: Collection[object]) -> Counter[object]:
    return Counter(
        row["app_id"] for row in run.source.matching(table, ("app_id",), "app_id", app_ids)
    )


_MAX_HASH_LENGTH = 255
_VERIFIABLE = (ImportedPasswordState.IMPORTED, ImportedPasswordState.REPLACED)


class AppTokens(Section):
    """Tokens by their password hashes; the first use of one here replaces its hash.

    The source doesn't know when a token was created, so it counts as created when it is imported.
    """

    part = Part.APPS
    kind = "app_token"
    title = "App tokens"
    table = apps.TOKENS
    required = ("app_id", "auth_token", "token_last_4")
    optional = ("name",)
    record = models.AppToken

    def __init__(self) -> None:
        self._apps = SourceApps()

    @override
    def prepare(self, run: Run) -> None:
        self._apps = _find_source_apps(run)

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        for row in rows:
            if not self._apps.has(run, number(row["app_id"])):
                yield self._apps.left_out(apps.TOKENS, row)
                continue
            converted = apps.convert_token(row, _is_verifiable)
            token = converted.value
            if token is None:
                yield Converted(None, converted.findings)
                continue
            state = {"app_id": token.app_id, "name": token.name, "last_four": token.last_four}
            extra = {"imported_hash": token.imported_hash}
            yield Converted(Row(token.id, state, extra), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        """Return tokens as they are here; that one was used doesn't count as a change."""
        columns = (models.AppToken.app_id, models.AppToken.name, models.AppToken.last_four)
        query = select(models.AppToken.id, *columns).where(models.AppToken.id.in_(keys))
        return {
            row.id: {"app_id": row.app_id, "name": row.name, "last_four": row.last_four}
            for row in session.execute(query)
            if self._apps.has(run, row.app_id)
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        now = run.ports.clock.now()
        values = [
            {
                "id": row.key,
                "digest": f"imported-{row.key}",
                "created_at": now,
                **row.state,
                **row.extra,
            }
            for row in rows
        ]
        insert_rows(session, models.AppToken, values)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Write names; a token keeps its hash, or the SHA-256 that replaced it."""
        names: dict[int, State] = {row.key: {"name": row.state["name"]} for row in rows}
        update_rows(session, models.AppToken, names)


def _is_verifiable(encoded: str) -> bool:
    return len(encoded) <= _MAX_HASH_LENGTH and classify(encoded).state in _VERIFIABLE


_EXTENSION = models.AppExtension.__table__.c
_EXTENSION_STATE = tuple(column for column in _EXTENSION if column.name != "id")


class AppExtensions(AppOwned):
    """Dashboard extensions."""

    part = Part.APPS
    kind = "app_extension"
    title = "App extensions"
    table = apps.EXTENSIONS
    required = ("app_id", "label", "url", "mount", "target")
    optional = ("http_target_method", "settings", "identifier")
    record = models.AppExtension

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = [number(row["id"]) for row in rows]
        codenames = find_codenames(run.source, self._codenames, EXTENSION_PERMISSIONS, keys)
        urls = _app_urls(run, {number(row["app_id"]) for row in rows})
        for key, row in zip(keys, rows, strict=True):
            app_id = number(row["app_id"])
            if not self._apps.has(run, app_id):
                yield self._apps.left_out(apps.EXTENSIONS, row)
                continue
            taken = self._identifiers.setdefault(app_id, set())
            converted = apps.convert_extension(
                row, codenames.get(key, ()), urls.get(app_id, ""), taken
            )
            extension = converted.value
            if extension is None:
                yield Converted(None, converted.findings)
                continue
            taken.add(extension.identifier)
            yield Converted(_extension_row(extension), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        query = select(_EXTENSION.id, *_EXTENSION_STATE).where(_EXTENSION.id.in_(keys))
        return {
            row["id"]: {column.name: row[column.name] for column in _EXTENSION_STATE}
            for row in session.execute(query).mappings()
            if self._apps.has(run, row["app_id"])
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        values = [{"id": row.key, **row.state} for row in rows]
        insert_rows(session, models.AppExtension, values)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        update_rows(session, models.AppExtension, {row.key: row.state for row in rows})


def _extension_row(extension: apps.ImportedExtension) -> Row:
    state = {**asdict(extension), "permissions": joined_names(extension.permissions)}
    del state["id"]
    return Row(extension.id, state)


def _app_urls(run: Run, app_ids: Collection[int]) -> Mapping[int, str]:
    """Return the URLs of apps that are imported with them."""
    rows = run.source.matching(apps.APPS, ("app_url",), "id", app_ids)
    urls = {number(row["id"]): str(row.get("app_url") or "").strip() for row in rows}
    return {key: url for key, url in urls.items() if is_web_url(url)}
