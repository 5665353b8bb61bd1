"""Import the dashboard extensions of the platform's apps."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.authorization.permissions import joined_names
from app.domain.imports.apps import APPS, EXTENSIONS, ImportedExtension, convert_extension
from app.domain.imports.runs import Converted, Part
from app.domain.urls.web_urls import is_web_url
from app.models import AppExtensionRecord
from app.ports.import_source import TableRow
from app.services.imports.app_references import AppOwned
from app.services.imports.bulk import insert_rows
from app.services.imports.row_updates import update_rows
from app.services.imports.sections import Row, Run, State
from app.services.imports.source_permissions import (
    EXTENSION_PERMISSIONS,
    find_codenames,
    number,
)

_COLUMNS = AppExtensionRecord.__table__.c
_STATE_COLUMNS = tuple(column for column in _COLUMNS if column.name != "id")


class AppExtensions(AppOwned):
    """Dashboard extensions."""

    part = Part.APPS
    kind = "app_extension"
    title = "App extensions"
    table = EXTENSIONS
    required = ("app_id", "label", "url", "mount", "target")
    optional = ("http_target_method", "settings", "identifier")
    record = AppExtensionRecord

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = [number(row["id"]) for row in rows]
        codenames = find_codenames(run.source, self._codenames, EXTENSION_PERMISSIONS, keys)
        urls = _app_urls(run, {number(row["app_id"]) for row in rows})
        for key, row in zip(keys, rows, strict=True):
            app_id = number(row["app_id"])
            if not self._apps.has(run, app_id):
                yield self._apps.left_out(EXTENSIONS, row)
                continue
            taken = self._identifiers.setdefault(app_id, set())
            converted = convert_extension(row, codenames.get(key, ()), urls.get(app_id, ""), taken)
            extension = converted.value
            if extension is None:
                yield Converted(None, converted.findings)
                continue
            taken.add(extension.identifier)
            yield Converted(_row(extension), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        query = select(_COLUMNS.id, *_STATE_COLUMNS).where(_COLUMNS.id.in_(keys))
        return {
            row["id"]: {column.name: row[column.name] for column in _STATE_COLUMNS}
            for row in session.execute(query).mappings()
            if self._apps.has(run, row["app_id"])
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        values = [{"id": row.key, **row.state} for row in rows]
        insert_rows(session, AppExtensionRecord, values)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        update_rows(session, AppExtensionRecord, {row.key: row.state for row in rows})

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        session.execute(delete(AppExtensionRecord).where(AppExtensionRecord.id.in_(keys)))


def _row(extension: ImportedExtension) -> Row:
    state = {
        "app_id": extension.app_id,
        "label": extension.label,
        "url": extension.url,
        "mount": extension.mount,
        "target": extension.target,
        "identifier": extension.identifier,
        "permissions": joined_names(extension.permissions),
        "settings": dict(extension.settings),
    }
    return Row(extension.id, state)


def _app_urls(run: Run, app_ids: Collection[int]) -> Mapping[int, str]:
    """Return the URLs of apps that are imported with them."""
    rows = run.source.matching(APPS, ("app_url",), "id", app_ids)
    urls = {number(row["id"]): str(row.get("app_url") or "").strip() for row in rows}
    return {key: url for key, url in urls.items() if is_web_url(url)}
