"""``python -m tests.mutations [WORD …]``: break each rule in a copy, and expect a red test.

Words choose the mutants whose rule or file holds one of them. There are no options: each mutant's
tests run on SQLite. Exits with 1 when a mutant survives, with 2 when nothing was tried.
"""

import os
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.house.sources import ROOT, project_files
from tests.mutations.mutant import Mutant
from tests.mutations.mutants import MUTANTS

SECONDS = 300
"""How long the tests of one mutant may take; one that makes them hang is noticed, too."""

_GREEN, _RED = 0, 1
_moments = count(1_000_000_000)


def main(words: list[str]) -> int:
    chosen = [
        mutant for mutant in MUTANTS if not words or any(_names(mutant, word) for word in words)
    ]
    if not chosen:
        print(f"No rule or file of a mutant holds one of these words: {' '.join(words)}")
        return 2
    with TemporaryDirectory(prefix="latchkey-mutants-") as folder:
        copy = Path(folder)
        _copy(copy)
        tests = sorted({path for mutant in chosen for path in mutant.tests.split()})
        if _run(copy, *tests) != _GREEN:
            print("The tests fail without any mutant: mend them first.")
            return 2
        survivors = [mutant for mutant in chosen if not _is_noticed(copy, mutant)]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants noticed")
    for mutant in survivors:
        print(
            f"survived: {mutant.file}: {mutant.rule}\n  - {mutant.original}\n  + {mutant.mutated}"
        )
    return 1 if survivors else 0


def _names(mutant: Mutant, word: str) -> bool:
    return word.lower() in f"{mutant.rule} {mutant.file}".lower()


def _copy(copy: Path) -> None:
    for path in project_files():
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def _is_noticed(copy: Path, mutant: Mutant) -> bool:
    file = copy / mutant.file
    original = file.read_text()
    _write(file, original.replace(mutant.original, mutant.mutated))
    began = time.monotonic()
    try:
        code = _run(copy, *mutant.tests.split())
    finally:
        _write(file, original)
    noticed = code == _RED
    result = "noticed" if noticed else "SURVIVED" if code == _GREEN else f"BROKEN ({code})"
    print(f"{result:9} {time.monotonic() - began:5.1f} s  {mutant.rule}", flush=True)
    return noticed


def _write(file: Path, text: str) -> None:
    """Write at a made-up time: bytecode of the same second would be taken for current."""
    file.write_text(text)
    moment = next(_moments)
    os.utime(file, (moment, moment))


def _run(copy: Path, *tests: str) -> int:
    """The exit code of pytest; without PostgreSQL, which most rules don't depend on."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    chosen = ["-k", "not postgresql", *(f"tests/{path}" for path in tests)]
    try:
        done = subprocess.run(
            [*command, *chosen],
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return _RED
    if done.returncode not in (_GREEN, _RED):
        print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
