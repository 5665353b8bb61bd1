"""Which apps of the source are imported: what their tokens, extensions and webhooks ask."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlalchemy import select
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.imports.apps import APPS
from app.domain.imports.runs import Converted, Finding, Outcome, Part
from app.models import AppExtensionRecord, AppRecord, ImportedRowRecord, WebhookRecord
from app.ports.import_source import TableRow
from app.services.authorization.register import part
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.source_permissions import load_codenames, number

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

    record: ClassVar[type[AppExtensionRecord] | type[WebhookRecord]]

    def __init__(self) -> None:
        self._apps = SourceApps()
        self._codenames: Mapping[int, str] = {}
        self._identifiers: dict[int, set[str]] = {}

    @override
    def prepare(self, run: Run) -> None:
        self._apps = find_source_apps(run)
        self._codenames = load_codenames(run.source)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        return identifier_conflicts(session, self.record, self.table, rows)


@part
def find_source_apps(run: Run) -> SourceApps:
    """Look up the apps of the source, and those that this run doesn't import either."""
    found = SourceApps()
    for batch in run.source.batches(APPS, ("removed_at",), _PAGE):
        found.live.update(number(row["id"]) for row in batch if row.get("removed_at") is None)
    imported = select(ImportedRowRecord.row_id).where(
        ImportedRowRecord.kind == APP_KIND, ImportedRowRecord.import_id == run.import_id
    )
    with run.ports.database.reading() as session:
        here = set(session.scalars(select(AppRecord.id)))
        expected = set(session.scalars(imported)) if Part.APPS in run.options.parts else found.live
    found.missing = expected - here
    return found


@part
def identifier_conflicts(
    session: Session,
    record: type[AppRecord] | type[AppExtensionRecord] | type[WebhookRecord],
    table: str,
    rows: Iterable[Row],
) -> Mapping[int, Finding]:
    """Return the rows whose identifier another row here has, in the same app if it has one."""
    wanted = {row.key: row.state for row in rows if row.state["identifier"]}
    scope = None if record is AppRecord else record.__table__.c.app_id
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
