"""Run ``flask import platform`` in tests and read its report."""

from dataclasses import dataclass
from typing import Any

from app.ports import Ports
from tests.commands.shell import run, run_json
from tests.imports.platform import PlatformDatabase


@dataclass(frozen=True, slots=True)
class Report:
    """What ``flask import platform --json`` printed."""

    printed: dict[str, Any]

    def counts(self, kind: str) -> dict[str, int]:
        """Return the counts of one kind that aren't 0."""
        found = next(each for each in self.printed["imported"] if each["kind"] == kind)
        return {name: value for name, value in found.items() if isinstance(value, int) and value}

    @property
    def findings(self) -> list[tuple[str, object, str, str]]:
        """Return table, key, code and outcome of each finding, sorted."""
        return sorted(
            (each["table"], each["key"], each["code"], each["outcome"])
            for each in self.printed["findings"]
        )

    def reasons(self, code: str) -> list[str]:
        """Return the sentences of the findings with that code."""
        return [each["reason"] for each in self.printed["findings"] if each["code"] == code]


def import_platform(target: Ports, platform: PlatformDatabase, *options: str) -> Report:
    """Import ``platform``, which must succeed."""
    return Report(run_json(target, "import", "platform", "--database", platform.url, *options))


def refusal(target: Ports, platform: PlatformDatabase, *options: str) -> str:
    """Return what an import says that is refused."""
    result = run(target, "import", "platform", "--database", platform.url, *options)
    assert result.exit_code == 3, result.output
    return result.stderr
