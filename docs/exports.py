"""The lines of an export, and the columns of a file of people."""

from pathlib import Path

from app.domain.imports.user_files import COLUMNS
from app.services.imports.export_tables import TABLES, ExportedTable
from docs.parts import table, with_printed_parts

PAGE = Path(__file__).parent / "operations/export.md"


def printed_exports() -> str:
    """Return the page with its table of lines."""
    rows = [(f"`{one.section}`", f"`{one.name}`", _fields(one)) for one in TABLES]
    columns = [(f"`{name}`", what) for name, what in COLUMNS.items()]
    return with_printed_parts(
        PAGE,
        {
            "lines": table(("section", "`type`", "fields; secrets in italics"), rows),
            "columns": table(("column", "what it holds"), columns),
        },
    )


def _fields(exported: ExportedTable) -> str:
    fields = [
        f"*`{name}`*" if name in exported.secrets or exported.is_secret else f"`{name}`"
        for name in (*exported.names, *(list_.name for list_ in exported.lists))
    ]
    return ", ".join(fields)
