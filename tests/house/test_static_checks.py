"""Style, layers and types, each by the tool that ``make check`` runs too."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.house.sources import ROOT

# One after the other in one worker: together they would only be in each other's way.
pytestmark = [pytest.mark.first, pytest.mark.xdist_group("static")]


def test_mypy_finds_no_errors() -> None:
    _passes("mypy")


def test_import_linter_finds_no_errors() -> None:
    _passes("lint-imports", "--no-logo")


def test_ruff_finds_no_errors() -> None:
    _passes("ruff", "check", ".")


def test_source_is_formatted() -> None:
    _passes("ruff", "format", "--check", ".")


def test_templates_are_formatted() -> None:
    _passes("djlint", "--check", "--quiet", "app/templates")


def _passes(tool: str, *arguments: str) -> None:
    program = Path(sysconfig.get_path("scripts")) / tool
    done = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        output = f"{done.stdout}{done.stderr}"
        pytest.fail(f"{tool} {' '.join(arguments)}\n{output}", pytrace=False)
