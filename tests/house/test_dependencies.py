"""The packages in requirements.in are those that the program imports."""

import re
import sys
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from tests.house.sources import ROOT, application

pytestmark = pytest.mark.xdist_group("sources")

IMPORTED = re.compile(
    r"^ *(?:from (?P<from>[\w.]+) import |import (?P<whole>[\w.]+)(?: as \w+)?(?:  #.*)?$)",
    re.MULTILINE,
)
"""Reading the trees of all modules for it would take a second."""

NOT_IMPORTED = {"bootstrap-flask": "its wheel holds Bootstrap's style sheet, script and icons"}
"""Packages that no module imports, and why they are needed nevertheless."""


def test_every_direct_dependency_is_imported() -> None:
    unused = _direct_dependencies() - _imported_packages() - set(NOT_IMPORTED)
    assert unused == set()


def test_every_imported_package_is_a_direct_dependency() -> None:
    undeclared = _imported_packages() - _direct_dependencies()
    assert undeclared == set()


def test_exceptions_are_direct_dependencies_that_are_not_imported() -> None:
    assert set(NOT_IMPORTED) <= _direct_dependencies() - _imported_packages()


def _direct_dependencies() -> set[str]:
    files = ("requirements.in", "requirements-otel.in")
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    names = [re.match(r"[\w.-]+", line) for line in lines if not line.startswith(("#", "-"))]
    return {_normalized(name[0]) for name in names if name}


@cache
def _imported_packages() -> set[str]:
    """Return the distributions of all third-party modules that the program imports."""
    distributions = packages_distributions()
    modules = {
        (found["from"] or found["whole"]).partition(".")[0]
        for source in application()
        for found in IMPORTED.finditer(source.text)
    }
    third_party = modules - sys.stdlib_module_names - {"app", "cli", "wsgi"}
    direct = _direct_dependencies()
    owners = [{_normalized(name) for name in distributions[module]} for module in third_party]
    # Several packages share a namespace: then those that are asked for are the imported ones.
    return {name for names in owners for name in (names & direct or names)}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
