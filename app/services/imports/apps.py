"""Import the platform's apps with their permissions."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import ClassVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.imports.apps import APPS, TOKENS, AppSurroundings, ImportedApp, convert_app
from app.domain.imports.runs import Converted, Finding, Part
from app.domain.imports.webhooks import WEBHOOKS
from app.models import AppPermissionRecord, AppRecord, AppWordRecord, ImportedRowRecord
from app.models.app_words import app_word_rows
from app.models.record import Record
from app.ports.import_source import TableRow
from app.services.imports.app_references import (
    APP_KIND,
    SourceApps,
    find_source_apps,
    identifier_conflicts,
)
from app.services.imports.bulk import insert_rows
from app.services.imports.row_updates import update_rows
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.source_permissions import (
    APP_PERMISSIONS,
    find_codenames,
    load_codenames,
    number,
)

_PAGE = 5_000
_COLUMNS = AppRecord.__table__.c
_STATE_COLUMNS = tuple(column for column in _COLUMNS if column.name != "id")


class Apps(Section):
    """The apps of the source, without those that were removed there."""

    part = Part.APPS
    kind = APP_KIND
    title = "Apps"
    table = APPS
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
    record: ClassVar[type[Record] | None] = AppRecord

    def __init__(self) -> None:
        self._apps = SourceApps()
        self._codenames: Mapping[int, str] = {}
        self._holders: dict[str, int] = {}

    @override
    def prepare(self, run: Run) -> None:
        self._apps = find_source_apps(run)
        self._codenames = load_codenames(run.source)
        for batch in run.source.batches(APPS, ("identifier",), _PAGE):
            for row in batch:
                if (key := number(row["id"])) in self._apps.live:
                    self._holders.setdefault(_identifier(row), key)
        self._holders.update(_local_identifiers(run))

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = [number(row["id"]) for row in rows]
        removed = [number(row["id"]) for row in rows if row.get("removed_at") is not None]
        codenames = find_codenames(run.source, self._codenames, APP_PERMISSIONS, keys)
        tokens, webhooks = (_counts(run, table, removed) for table in (TOKENS, WEBHOOKS))
        for key, row in zip(keys, rows, strict=True):
            around = AppSurroundings(
                codenames=codenames.get(key, ()),
                tokens=tokens[key],
                webhooks=webhooks[key],
                identifier_holder=self._holders.get(_identifier(row)),
            )
            converted = convert_app({"is_installed": True, **row}, around)
            if converted.value is None:
                run.leave_out(APP_KIND, key)
                yield Converted(None, converted.findings)
            else:
                yield Converted(_row(converted.value), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        permissions: dict[int, list[str]] = {}
        held = select(AppPermissionRecord.app_id, AppPermissionRecord.permission).where(
            AppPermissionRecord.app_id.in_(keys)
        )
        for app_id, permission in session.execute(held):
            permissions.setdefault(app_id, []).append(permission)
        query = select(_COLUMNS.id, *_STATE_COLUMNS).where(_COLUMNS.id.in_(keys))
        return {
            row["id"]: {
                **{column.name: row[column.name] for column in _STATE_COLUMNS},
                "permissions": sorted(permissions.get(row["id"], ())),
            }
            for row in session.execute(query).mappings()
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        values = [{"id": row.key, **_columns(row)} for row in rows]
        insert_rows(session, AppRecord, values)
        _add_parts(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        update_rows(session, AppRecord, {row.key: _columns(row) for row in rows})
        keys = [row.key for row in rows]
        for record in (AppPermissionRecord, AppWordRecord):
            session.execute(delete(record).where(record.app_id.in_(keys)))
        _add_parts(session, rows)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Delete apps with their tokens, extensions, webhooks and deliveries."""
        session.execute(delete(AppRecord).where(AppRecord.id.in_(keys)))

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        return identifier_conflicts(session, AppRecord, APPS, rows)


def _row(app: ImportedApp) -> Row:
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
        for name in _names(row.state["permissions"])
    ]
    words = [
        word
        for row in rows
        for word in app_word_rows(row.key, str(row.state["name"]), str(row.state["identifier"]))
    ]
    insert_rows(session, AppPermissionRecord, permissions)
    insert_rows(session, AppWordRecord, words)


def _names(value: object) -> Iterator[str]:
    return map(str, value) if isinstance(value, list) else iter(())


def _identifier(row: TableRow) -> str:
    return str(row.get("identifier") or "").strip()


def _local_identifiers(run: Run) -> dict[str, int]:
    """Return the identifiers of apps that were created here."""
    imported = select(ImportedRowRecord.row_id).where(
        ImportedRowRecord.kind == APP_KIND, ImportedRowRecord.import_id == run.import_id
    )
    query = select(AppRecord.identifier, AppRecord.id).where(
        AppRecord.identifier != "", AppRecord.id.not_in(imported)
    )
    with run.ports.database.reading() as session:
        return {row.identifier: row.id for row in session.execute(query)}


def _counts(run: Run, table: str, app_ids: Collection[object]) -> Counter[object]:
    return Counter(
        row["app_id"] for row in run.source.matching(table, ("app_id",), "app_id", app_ids)
    )
