"""Find the tests whose result could depend on how quickly things happen."""

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tests.house.sources import python_sources

TIMING = {
    "Barrier",
    "HTTPConnection",
    "Popen",
    "Process",
    "Thread",
    "ThreadPoolExecutor",
    "create_connection",
    "family_seconds",
    "fork",
    "monotonic",
    "perf_counter",
    "process_time",
    "sleep",
    "slowest",
    "thread_time",
}
"""What a test that depends on time uses, itself or in a function that it calls."""


@dataclass(slots=True)
class _Module:
    imported: dict[str, str] = field(default_factory=dict)
    """Where a name is from: ``tests.servers.apps.app_server``."""

    used: dict[str, set[str]] = field(default_factory=dict)
    """The names in each function and class."""


def timed_tests() -> list[str]:
    """Return the node IDs, without parameters, of all of ``make test`` that use ``TIMING``.

    Fixtures aren't followed: those of databases and servers would add nearly all tests.
    """
    modules = _modules(TIMING)
    itself = {
        f"{name}.{function}"
        for name, module in modules.items()
        for function, used in module.used.items()
        if used & TIMING
    }
    modules |= _modules({function.rpartition(".")[0] for function in itself})
    return [
        f"{name.replace('.', '/')}.py::{function}"
        for name, module in modules.items()
        for function in sorted(_timed(name, module, itself))
        if ".test_" in name and function.startswith("test_")
    ]


def _modules(names: AbstractSet[str]) -> dict[str, _Module]:
    """Read the modules that have one of the names in their text: parsing all takes seconds."""
    return {
        _name(source.path): _read(source.tree)
        for source in python_sources()
        if source.path.startswith("tests/") and any(name in source.text for name in names)
    }


def _timed(name: str, module: _Module, itself: set[str]) -> set[str]:
    """Return the functions of a module that use ``TIMING``, or call one that does."""
    calls = {one for one, source in module.imported.items() if source in itself}
    timed = {function for function in module.used if f"{name}.{function}" in itself}
    while True:
        more = {function for function, used in module.used.items() if used & (timed | calls)}
        if more <= timed:
            return timed
        timed |= more


def _name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _read(tree: ast.Module) -> _Module:
    module = _Module()
    for node in tree.body:
        match node:
            case ast.ImportFrom(module=str(source), names=names) if source.startswith("tests."):
                for alias in names:
                    module.imported[alias.asname or alias.name] = f"{source}.{alias.name}"
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                module.used[name] = set(_names(node))
    return module


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
