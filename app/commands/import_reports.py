"""Reports of imports: findings as they come, as CSV, and the whole as JSON or for a terminal."""

from __future__ import annotations

import csv
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import click

from app.commands.terminal.output import Column, Form, json_text, output, write
from app.domain.imports.runs import Counts, Finding, Outcome, RunReport
from app.domain.values.text_rules import safe_cell

_SHOWN = 5
"""Findings of one code that a terminal shows."""

_HEADINGS = ("table", "key", "code", "outcome", "reason")
_OUTCOMES = {
    Outcome.LEFT_OUT: "left out",
    Outcome.CHANGED: "changed",
    Outcome.IMPORTED: "imported as it is",
    Outcome.DISABLED: "disabled",
    Outcome.IMPORTED: "imported as it is, needs attention",
    Outcome.NO_EFFECT: "imported, but has no effect here",
    Outcome.MUST_RESET: "must reset the password",
    Outcome.KEPT: "kept as it is here",
}
_COUNTS = (
    Column[Counts]("kind", "Kind", lambda each: each.kind),
    Column[Counts]("title", "Imported", lambda each: each.title, short=True),
    Column[Counts]("read", "Read", lambda each: each.read, short=True),
    Column[Counts]("created", "Created", lambda each: each.created, short=True),
    Column[Counts]("updated", "Updated", lambda each: each.updated, short=True),
    Column[Counts]("unchanged", "Unchanged", lambda each: each.unchanged, short=True),
    Column[Counts]("removed", "Removed", lambda each: each.removed, short=True),
    Column[Counts]("kept", "Kept", lambda each: each.kept, short=True),
    Column[Counts]("leftOut", "Left out", lambda each: each.left_out, short=True),
)


@dataclass(slots=True)
class Findings:
    """Findings of a run: some of each code in memory, all of them in a temporary file as JSON.

    So that memory stays flat, however many there are.
    """

    lines: IO[str]
    table: Any = None
    """The CSV that gets each of them, if there is one."""
    counts: Counter[str] = field(default_factory=Counter)
    shown: dict[str, list[Finding]] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Note a finding."""
        self.counts[finding.code] += 1
        first = self.shown.setdefault(finding.code, [])
        if len(first) < _SHOWN:
            first.append(finding)
        values = (
            finding.table,
            finding.key,
            finding.code,
            finding.outcome.value,
            finding.reason,
        )
        self.lines.write(json.dumps(dict(zip(_HEADINGS, values, strict=True))) + "\n")
        if self.table is not None:
            self.table.writerow([safe_cell(str(value)) for value in values])

    def every(self) -> Iterator[Any]:
        """Yield all of them, as JSON has them."""
        self.lines.seek(0)
        return map(json.loads, self.lines)


@contextmanager
def collected_findings(csv_file: Path | None) -> Generator[Findings]:
    """Collect the findings of a run, also into ``csv_file``, which only this account can read."""
    with ExitStack() as stack:
        findings = Findings(stack.enter_context(TemporaryFile("w+", encoding="utf-8")))
        if csv_file is not None:
            findings.table = csv.writer(stack.enter_context(_private_file(csv_file)))
            findings.table.writerow(_HEADINGS)
        yield findings


def print_report(report: RunReport, findings: Findings) -> None:
    """Print what a run did."""
    out = output()
    if out.form is Form.JSON:
        _print_json(report, findings)
        return
    out.rows(report.counts, _COUNTS, empty="There was nothing to import.")
    for code, first in sorted(findings.shown.items()):
        count = findings.counts[code]
        out.say(f"\n{code} ({count:,}), {_OUTCOMES[first[0].outcome]}:")
        for (table, reason), alike in groupby(first, lambda each: (each.table, each.reason)):
            keys = ", ".join(str(finding.key) for finding in alike)
            out.say(f"  {table} {keys}: {reason}")
        if count > len(first):
            out.say(f"  and {count - len(first):,} more; --csv FILE or --json has all of them.")
    if report.dry_run:
        out.say("\nDry run: nothing was written.")


def _print_json(report: RunReport, findings: Findings) -> None:
    """Print the whole report, a finding at a time: there can be a million."""
    head = {
        "source": report.source,
        "release": report.release,
        "dryRun": report.dry_run,
        "imported": [
            {column.name: column.read(each) for column in _COUNTS} for each in report.counts
        ],
        "findingCounts": dict(sorted(findings.counts.items())),
    }
    start = json_text(head)[:-1]
    write(f'{start}, "findings": [')
    separator = ""
    for finding in findings.every():
        sys.stdout.write(separator + json_text(finding))
        separator = ",\n"
    write("]}")


def _private_file(path: Path) -> IO[str]:
    """Empty and restrict the file, which must not be a link: it can be in a shared folder."""
    with ExitStack() as stack:
        try:
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            file = stack.enter_context(os.fdopen(opened, "w", encoding="utf-8", newline=""))
            if stat.S_ISREG(os.fstat(opened).st_mode):
                os.fchmod(opened, 0o600)
                os.ftruncate(opened, 0)
        except OSError as error:
            raise click.UsageError(f"Can't write {path}: {error.strerror}.") from None
        stack.pop_all()
        return file
