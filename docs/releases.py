"""The page about upgrades, with the releases that there are."""

from pathlib import Path

from docs.parts import table, with_printed_parts
from release.record import releases

PAGE = Path(__file__).parent / "operations/upgrade.md"


def printed_releases() -> str:
    """Return the page with its table of releases."""
    rows = [(made.version, made.date.isoformat(), f"`{made.commit[:12]}`") for made in releases()]
    shown = table(("Version", "Date", "Commit"), rows) if rows else "Nothing was released yet.\n"
    return with_printed_parts(PAGE, {"releases": shown})
