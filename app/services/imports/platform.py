"""Import a database of the platform, once or again: the whole run, and its end.

``SECTIONS`` lists what is imported, in the order in which rows refer to each other.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.imports.runs import NEEDS, Finding, ImportKind, Part, RunOptions, RunReport
from app.domain.values.errors import Problem, Refused, refuse_any
from app.models import ImportedRowRecord
from app.ports import Ports
from app.ports.import_source import ImportSource
from app.services.authorization.register import internal, part
from app.services.imports.addresses import Addresses
from app.services.imports.app_extensions import AppExtensions
from app.services.imports.app_tokens import AppTokens
from app.services.imports.apps import Apps
from app.services.imports.avatars import Avatars
from app.services.imports.groups import Groups
from app.services.imports.id_ranges import require_free_ids, reserve_ids
from app.services.imports.linked_accounts import LinkedAccounts
from app.services.imports.providers import Providers, find_subject_key
from app.services.imports.removal_guard import require_few_removals
from app.services.imports.runs import begin_run, end_run, find_import
from app.services.imports.section_runs import run_section
from app.services.imports.sections import OnFinding, OnRows, Run, Section
from app.services.imports.shop_settings import ShopSettings
from app.services.imports.users import Users
from app.services.imports.webhooks import Webhooks

MakeSections = Callable[[], Sequence[Section]]


@part
def platform_sections() -> tuple[Section, ...]:
    """Return everything that is imported from the platform, in order."""
    return (
        Groups(),
        Users(),
        Addresses(),
        Avatars(),
        Apps(),
        AppTokens(),
        AppExtensions(),
        Webhooks(),
        Providers(),
        LinkedAccounts(),
        ShopSettings(),
    )


@internal
def import_platform(
    ports: Ports,
    actor: Actor,
    url: str,
    options: RunOptions,
    on_finding: OnFinding,
    on_rows: OnRows,
) -> RunReport:
    """Import the platform's database at ``url``; what was imported before is brought up to date.

    Refuses ID_TAKEN for rows here that have the source's IDs, REQUIRED for a part without the one
    that it needs, MISSING for tables or columns that the source lacks, MANY_REMOVED if most rows
    are gone from the source, UNIQUE for the name of a file's import, and FINISHED after
    ``finish_import``, before anything is written. Raises ``UnreadableSource``.
    """
    findings: Counter[str] = Counter()

    def report(finding: Finding) -> None:
        findings[finding.code] += 1
        on_finding(finding)

    with ports.import_sources.open_platform(url) as source:
        sections = [each for each in platform_sections() if each.is_wanted(options.parts)]
        name = options.source or source.name
        run = Run(ports, source, options, name, _import_id(ports, name), report, on_rows)
        _require_columns(source, sections)
        _require_parts(run)
        require_few_removals(run, sections)
        require_free_ids(run, sections)
        run.import_id = begin_run(
            ports, ImportKind.PLATFORM, name, dry_run=options.dry_run, reserved_ids=options.reserve
        )
        run.hidden_metadata |= {find_subject_key(source)} - {""}
        for section in sections:
            section.prepare(run)
        reserve_ids(run, sections)
        counts = tuple(run_section(run, section) for section in sections)
        reserve_ids(run, sections)
        result = RunReport(name, source.release, options.dry_run, counts, dict(findings))
    end_run(ports, actor, run.import_id, result)
    return result


def _import_id(ports: Ports, name: str) -> int:
    """Return the ID of the source's import, 0 if it is new; refuses FINISHED."""
    with ports.database.reading() as session:
        found = find_import(session, ImportKind.PLATFORM, name)
        if found is None:
            return 0
        if found.finished_at is not None:
            message = "The import from {source} was finished. It can't be continued."
            raise Refused(Problem("FINISHED", message, values={"source": name}))
        return found.id


def _require_columns(source: ImportSource, sections: Sequence[Section]) -> None:
    refuse_any(*(_missing(source, section) for section in sections))


def _missing(source: ImportSource, section: Section) -> Problem | None:
    present = source.columns(section.table)
    values: dict[str, object] = {"table": section.table}
    if not present:
        return Problem("MISSING", "The source has no table {table}.", values=values)
    lacking = [name for name in section.required if name not in present]
    if not lacking:
        return None
    values["columns"] = ", ".join(lacking)
    message = "The source's table {table} lacks columns: {columns}."
    return Problem("MISSING", message, values=values)


def _require_parts(run: Run) -> None:
    parts = run.options.parts
    refuse_any(
        *(_lacking(run, each) for each in sorted(parts) if NEEDS.get(each, each) not in parts)
    )


def _lacking(run: Run, wanted: Part) -> Problem | None:
    needed = NEEDS[wanted]
    kinds = [section.kind for section in platform_sections() if section.part is needed]
    query = select(ImportedRowRecord.row_id).where(
        ImportedRowRecord.import_id == run.import_id, ImportedRowRecord.kind.in_(kinds)
    )
    with run.ports.database.reading() as session:
        if session.scalar(query.limit(1)) is not None:
            return None
    message = "To import {wanted}, import {needed} first, or pass --only {needed},{wanted}."
    values = {"wanted": wanted.value, "needed": needed.value}
    return Problem("REQUIRED", message, "--only", values=values)
