"""``make bench``: how fast the service is, beside yardsticks on the same machine.

Without names it measures the parts of the table, which take about five minutes. Others take
minutes each and print figures of their own.
"""

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

from benchmarks import burst, servers
from benchmarks.neighbours import LIMIT, BusyMachine
from benchmarks.report import (
    ALLOWED_FALL,
    Figures,
    Report,
    Row,
    falls,
    read_recorded,
    record,
    unsteady,
    write_table,
)

TABLE = ("requests", "single_sign_on", "deliveries", "change_cost", "sizes")
"""The modules whose ``measure`` adds rows to the table."""

LONG = (
    *("burst", "console", "fanout", "imports", "latency", "lists"),
    *("memory", "tails", "threads", "timing"),
)
"""The modules with a ``main``, which only run by name."""

_SLOWER, _BUSY = 1, 2


def _parser() -> argparse.ArgumentParser:
    parts = "\n".join(f"  {name:15} {_summary(name)}" for name in (*TABLE, *LONG))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"parts:\n{parts}\n\nThe table: {', '.join(TABLE)}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", nargs="*", choices=(*TABLE, *LONG, []), metavar="PART")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with benchmarks/recorded.json: exit 1 if a row's share of its yardstick "
        f"fell by more than {ALLOWED_FALL * 100:.0f}%% or a limit is exceeded",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="store the table in benchmarks/recorded.json; `make docs` prints docs/speed.md",
    )
    parser.add_argument(
        "--changes",
        type=int,
        default=burst.CHANGES,
        metavar="N",
        help="how many changes the burst is of; %(default)s if not given",
    )
    parser.add_argument(
        "--busy",
        action="store_true",
        help=f"measure although other processes take more than {LIMIT} of a core",
    )
    return parser


def _summary(name: str) -> str:
    module = importlib.import_module(f"benchmarks.{name}")
    return (module.__doc__ or "").partition("\n")[0].rstrip(".")


def main(arguments: list[str]) -> int:
    """Measure; return the exit code: 1 slower than recorded or over a limit, 2 a busy machine."""
    parser = _parser()
    options = parser.parse_args(arguments)
    table = [part for part in TABLE if not options.part or part in options.part]
    if options.record and (options.busy or len(table) < len(TABLE)):
        parser.error("--record takes the whole table, measured on a quiet machine")
    if not options.part or any(part in TABLE for part in options.part):
        try:
            report = _measure(table, busy=options.busy)
        except BusyMachine as busy:
            sys.stderr.write(f"{busy}\n")
            return _BUSY
        figures = report.figures()
        sys.stdout.write(f"\n{write_table(figures)}")
        reason = unsteady(figures)
        if reason is not None and (options.record or (options.check and not options.busy)):
            sys.stderr.write(f"{reason}\n")
            return _BUSY
        if options.record:
            record(figures)
        if options.check and not _holds(figures, report.exceeded):
            return _SLOWER
    for part in options.part:
        if part == "burst":
            burst.main(options.changes, busy=options.busy)
        elif part in LONG:
            importlib.import_module(f"benchmarks.{part}").main()
    return 0


def _measure(parts: list[str], *, busy: bool) -> Report:
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    report = Report(_show, busy=busy)
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            importlib.import_module(f"benchmarks.{part}").measure(report, Path(folder))
    return report


def _show(row: Row) -> None:
    sys.stderr.write(f"{row.name}: {row.share:.0%} of the yardstick\n")


def _holds(figures: Figures, exceeded: list[str]) -> bool:
    slower = [*falls(figures, read_recorded()), *(f"over its limit: {text}" for text in exceeded)]
    for sentence in slower:
        sys.stderr.write(f"{sentence}\n")
    if not slower:
        sys.stderr.write(
            f"No row fell by more than {ALLOWED_FALL:.0%} against the recorded figures.\n"
        )
    return not slower


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
