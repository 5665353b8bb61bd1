"""Files stay small, their names say what they hold, and each begins by saying it."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.house.sources import application, python_sources

pytestmark = pytest.mark.xdist_group("sources")

LONGEST = 600
LONG_FUNCTION = 40
VAGUE_NAMES = {
    *("utils", "util", "helpers", "helper", "common", "base", "core"),
    *("manager", "managers", "handler", "handlers", "misc"),
}
ENDLESS = re.compile(r"\.(join|wait|communicate|result|exception|get)\(\)")
DOCSTRING = re.compile(r'(?:#.*\n)*r?"""\\?\S')
PATIENT = re.compile(r"(Barrier|ContextVar)\(")
GENERATED = "migrations/versions/"
"""A migration is as long as what it changes, and is never touched again."""


def test_no_file_is_longer_than_600_lines() -> None:
    too_long = {
        source.path: source.length
        for source in python_sources()
        if source.length > LONGEST and not source.path.startswith(GENERATED)
    }
    assert too_long == {}


@pytest.mark.first  # it reads the trees of all modules
def test_nine_functions_in_ten_are_shorter_than_40_lines() -> None:
    lengths = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for source in application()
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = sum(length >= LONG_FUNCTION for length in lengths)
    assert long * 10 <= len(lengths)


def test_module_names_are_specific() -> None:
    nameless = [
        source.path
        for source in python_sources()
        if VAGUE_NAMES & set(PurePosixPath(source.path).with_suffix("").parts)
    ]
    assert nameless == []


def test_every_module_has_a_docstring() -> None:
    silent = [source.path for source in python_sources() if not DOCSTRING.match(source.text)]
    assert silent == []


def test_threads_that_meet_do_not_wait_for_ever() -> None:
    """If one fails before it comes to the barrier, the others would hold up the whole run."""
    patient = [
        f"{source.path}:{node.lineno}"
        for source in python_sources()
        if "Barrier" in source.text
        for node in source.nodes
        if isinstance(node, ast.Call)
        and _last_name(node.func).endswith("Barrier")
        and "timeout" not in {keyword.arg for keyword in node.keywords}
    ]
    assert patient == []


def _last_name(function: ast.expr) -> str:
    """Return ``Barrier`` of ``threading.Barrier``."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def test_no_test_waits_for_ever() -> None:
    """What doesn't end, or never happens, fails one test instead of holding up the whole run."""
    endless = [
        f"{source.path}:{call.lineno}"
        for source in python_sources()
        if source.path.startswith("tests/") and ENDLESS.search(source.text)
        for call in _endless_waits(source.tree)
    ]
    assert endless == []


def test_endless_waits_are_found() -> None:
    """Barriers have their own timeout, coroutines end with their loop, texts are joined."""
    patient = (
        "m = Barrier(2, timeout=9); m.wait(); t.join(9); await e.wait(); ', '.join(names)"
        "; v = ContextVar('v'); v.get(); f.result(9); q.get(timeout=9); names.get('x')"
    )
    endless = (
        "thread.join(); process.wait(); process.communicate(); future.result()"
        "; future.exception(); queue.get()"
    )
    calls = [*_endless_waits(ast.parse(patient)), *_endless_waits(ast.parse(endless))]
    assert [ast.unparse(call) for call in calls] == endless.split("; ")


def _endless_waits(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls without a timeout that wait for a thread, process, event or future."""
    nodes = list(ast.walk(tree))
    awaited = [node.value for node in nodes if isinstance(node, ast.Await)]
    patient = {name for node in nodes for name in _patient_names(node)}
    for node in nodes:
        match node:
            case ast.Call(
                ast.Attribute(
                    value, "join" | "wait" | "communicate" | "result" | "exception" | "get"
                ),
                [],
                [],
            ):
                if node not in awaited and ast.unparse(value) not in patient:
                    yield node


def _patient_names(node: ast.AST) -> list[str]:
    """Return the names that ``node`` gives to a barrier or a context variable."""
    match node:
        case ast.Assign(targets=[target], value=value) if PATIENT.search(ast.unparse(value)):
            return ast.unparse(target).strip("()").split(", ")
        case ast.arg(arg=name, annotation=ast.expr() as kind) if "Barrier" in ast.unparse(kind):
            return [name]
    return []
