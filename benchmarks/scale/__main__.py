"""``make scale``: a day of the whole deployment on this machine, and ten million rows.

Without names it measures all parts in turn. A part that misses a goal says so.
"""

import argparse
import importlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from benchmarks.scale.curve import MINUTES
from benchmarks.scale.rows import FEW, MANY

PARTS = ("day", "processes", "rows")
"""The modules with a ``main``, which takes the options and returns 1 when a goal is missed."""


def main(arguments: list[str]) -> int:
    """Measure the parts that are asked for; return 1 if any of them misses a goal."""
    options = _parser().parse_args(arguments)
    # Interrupting the run stops its servers.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    missed = 0
    for part in options.part or PARTS:
        measure: Callable[[argparse.Namespace], int] = _module(part).main
        missed |= measure(options)
    return missed


def _parser() -> argparse.ArgumentParser:
    parts = "\n".join(f"  {name:12} {_summary(name)}" for name in PARTS)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description=__doc__,
        epilog=f"parts:\n{parts}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", nargs="*", choices=(*PARTS, []), metavar="PART")
    parser.add_argument(
        "--minutes",
        type=_whole_minutes,
        default=MINUTES,
        metavar="N",
        help="how long the day takes; %(default)s if not given",
    )
    parser.add_argument(
        "--rows",
        type=_thousands,
        default=MANY,
        metavar="N",
        help="how many users, sessions and deliveries there are at most; %(default)s if not given",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIRECTORY",
        help="where the filled databases stay for the next run; deleted if not given",
    )
    return parser


def _thousands(text: str) -> int:
    rows = int(text)
    if rows <= FEW or rows % 1000:
        raise argparse.ArgumentTypeError(f"must be a multiple of 1,000 above {FEW:,}")
    return rows


def _whole_minutes(text: str) -> int:
    minutes = int(text)
    if minutes < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return minutes


def _summary(name: str) -> str:
    return (_module(name).__doc__ or "").partition("\n")[0].rstrip(".")


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.scale.{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
