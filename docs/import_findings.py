"""What to do about the findings of an import, printed from the list in the code."""

from pathlib import Path

from app.domain.imports.runs import REMEDIES
from docs.parts import table, with_printed_parts

PAGE = Path(__file__).parent / "moving-in.md"


def printed_findings() -> str:
    """Return the page with its table of findings."""
    rows = [(f"`{code}`", remedy) for code, remedy in REMEDIES.items()]
    return with_printed_parts(PAGE, {"findings": table(("Code", "What to do"), rows)})
