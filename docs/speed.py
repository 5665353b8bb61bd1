"""The table of docs/speed.md, from what ``make bench ARGS=--record`` stored."""

from pathlib import Path

from benchmarks.report import read_recorded, write_table
from docs.parts import with_printed_parts

PAGE = Path(__file__).parent / "speed.md"


def printed_speed() -> str:
    """Return the page with the recorded figures."""
    return with_printed_parts(PAGE, {"figures": write_table(read_recorded())})
