"""Run them 20 times beside 8 busy processes: ``make flakes ARGS="--times 3 barrier"``."""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

from tests.flakes.timed import timed_tests
from tests.house.sources import ROOT

BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Ends with the process that started it, however that ends."""


def main() -> int:
    """Print which tests failed, how often; return 1 if any did."""
    parser = argparse.ArgumentParser(prog="make flakes", description=__doc__)
    parser.add_argument("words", nargs="*", help="only tests whose path or name contains a word")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--busy", type=int, default=8, metavar="PROCESSES")
    parser.add_argument("--workers", default="2", help="processes that run tests")
    parser.add_argument(
        "--both", action="store_true", help="run each test on both databases and in every language"
    )
    options = parser.parse_args()
    chosen = [
        test
        for test in timed_tests()
        if not options.words or any(word in test for word in options.words)
    ]
    print(f"{len(chosen)} tests, {options.times} times beside {options.busy} busy processes")
    failed: Counter[str] = Counter()
    with _load(options.busy):
        for time in range(options.times):
            names = _failures(chosen, options.workers, both=options.both)
            failed.update(names)
            print(f"run {time + 1}: {len(names)} failed", *names, sep="\n  ", flush=True)
    for name, times in failed.most_common():
        print(f"{times} of {options.times}: {name}")
    return 1 if failed else 0


@contextmanager
def _load(processes: int) -> Iterator[None]:
    """Keep as many processes busy in the block."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait(180)


def _failures(tests: list[str], workers: str, *, both: bool) -> list[str]:
    """Run ``tests`` once and return the names of those that failed."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-n", workers, f"--junit-xml={report}"]
        which = [] if both else ["--one-of-each"]
        run = subprocess.run(
            [*command, *which, *tests], cwd=ROOT, capture_output=True, text=True, check=False
        )
        # Other codes say that not all tests ran, for instance because one isn't found.
        if run.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise SystemExit(run.stdout + run.stderr)
        return [
            f"{case.get('classname')}::{case.get('name')}"
            for case in ET.parse(report).iter("testcase")  # noqa: S314 - written by pytest
            if case.find("failure") is not None or case.find("error") is not None
        ]


if __name__ == "__main__":
    sys.exit(main())
