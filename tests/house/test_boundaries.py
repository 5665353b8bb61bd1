"""Time, chance and the environment come in by one door each; imports stand where one sees them.

The style check says the same, but can be told to look away on a line; this cannot.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache

import pytest

from tests.fixtures.cases import cases
from tests.house.sources import ROOT, application

pytestmark = pytest.mark.xdist_group("sources")

READS_THE_CLOCK = {
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "time.time",
    "time.time_ns",
    "time.localtime",
    "time.gmtime",
}
ROLLS_DICE = {"random", "secrets", "uuid.uuid1", "uuid.uuid4", "os.urandom"}
INDENTED_IMPORT = re.compile(r"(?:^ +|[:;] *)(?:from +[\w.]+ +import|import)\s", re.MULTILINE)
READS_THE_ENVIRONMENT = {"os.environ", "os.getenv", "os.environb", "os.putenv"}


def test_only_the_clock_reads_the_time() -> None:
    assert _uses(READS_THE_CLOCK, outside=("app/adapters/system.py",)) == []


def test_randomness_comes_from_an_adapter() -> None:
    assert _uses(ROLLS_DICE, outside=("app/adapters/", "app/composition/settings.py")) == []


def test_only_the_settings_read_the_environment() -> None:
    assert _uses(READS_THE_ENVIRONMENT, outside=("app/composition/settings.py",)) == []


def test_import_contracts_name_rooms() -> None:
    """A new file needs no line in pyproject.toml, unless it is a subject of one module."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    rooms = {
        f"{container}.{room}"
        for contract in tools["importlinter"]["contracts"]
        for container in contract.get("containers", ())
        for layer in contract["layers"]
        for room in layer.split(" | ")
    }
    files = [room for room in rooms if not (ROOT / room.replace(".", "/")).is_dir()]
    assert {room.rpartition(".")[0] for room in files} == {"app.services", "app.domain"}


def test_imports_are_at_the_top_of_modules() -> None:
    hidden = [
        f"{source.path}:{inner.lineno}"
        for source in application()
        if INDENTED_IMPORT.search(source.text)  # spares most modules the search in their tree
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert hidden == []


@cases(
    ("text", "name"),
    [
        ("from datetime import datetime as d\nd.now()", "datetime.datetime.now"),
        ("import datetime\nfield(default_factory=datetime.datetime.now)", "datetime.datetime.now"),
        ("import time as t\nt.time()", "time.time"),
        ("from os import environ\nenviron['X']", "os.environ"),
        ("import os.path\nos.environ['X']", "os.environ"),
    ],
)
def test_aliased_calls_are_found(text: str, name: str) -> None:
    assert name in {used for _, used in _names_used(tuple(ast.walk(ast.parse(text))))}


def _uses(names: set[str], *, outside: tuple[str, ...]) -> list[str]:
    packages = "|".join({name.partition(".")[0] for name in names})
    imports = re.compile(rf"\b(?:import|from)\s.*\b(?:{packages})\b")
    return [
        f"{source.path}:{line} {name}"
        for source in application()
        if not source.path.startswith(outside)
        if imports.search(source.text)  # spares most modules the search in their tree
        for line, name in _names_of(source.nodes)
        if any(name == forbidden or name.startswith(f"{forbidden}.") for forbidden in names)
    ]


@cache
def _names_of(nodes: tuple[ast.AST, ...]) -> tuple[tuple[int, str], ...]:
    return tuple(_names_used(nodes))


def _names_used(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[int, str]]:
    """Yield each dotted name in the nodes of a module, with its line, as its imports mean it."""
    meant: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                meant[alias.asname or package] = alias.name if alias.asname else package
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                meant[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and (name := _dotted(node)):
            first, dot, rest = name.partition(".")
            if first in meant:
                yield node.lineno, f"{meant[first]}{dot}{rest}"


def _dotted(node: ast.expr) -> str:
    """Return ``time.time``; nothing for what doesn't begin with a name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if begin := _dotted(value):
            return f"{begin}.{name}"
    return ""
