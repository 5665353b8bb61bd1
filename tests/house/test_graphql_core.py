"""One package uses more of graphql-core than its documented top level."""

import ast
from collections.abc import Iterable, Iterator

import graphql
import pytest

from tests.fixtures.cases import cases
from tests.house.sources import application

pytestmark = pytest.mark.xdist_group("sources")

ALLOWED = "app/graphql/server/execution/"
EXECUTOR = "ExecutionContext"
"""Public by name, but its methods are not: graphql-core says so in its description."""


def test_private_parts_of_graphql_core_are_used_in_one_package() -> None:
    private = [
        f"{source.path}: {name}"
        for source in application()
        if not source.path.startswith(ALLOWED)
        and "graphql" in source.text  # spares most modules the search in their tree
        for name in _private_names(source.nodes)
    ]
    assert private == []


def test_execution_package_uses_private_parts() -> None:
    used = {
        name
        for source in application()
        if source.path.startswith(ALLOWED)
        for name in _private_names(source.nodes)
    }
    assert used >= {"graphql.ExecutionContext", "graphql.execution.execute.CollectedErrors"}


@cases(
    "text",
    [
        "import graphql",
        "import graphql.execution",
        "import graphql as library",
        "from graphql import execution",
        "from graphql import _private",
        "from graphql import ExecutionContext",
        "from graphql.pyutils import Path",
        "from graphql.language.parser import Parser",
    ],
)
def test_private_import_is_found(text: str) -> None:
    assert list(_private_names(ast.walk(ast.parse(text))))


@cases("text", ["from graphql import GraphQLError, parse", "from app.graphql import view"])
def test_public_import_is_allowed(text: str) -> None:
    assert list(_private_names(ast.walk(ast.parse(text)))) == []


def _private_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.split(".")[0] == "graphql"
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if node.module == "graphql":
                yield from (name for name in names if not _is_public(name.partition(".")[2]))
            elif node.module.startswith("graphql."):
                yield from names


def _is_public(name: str) -> bool:
    return name in graphql.__all__ and name != EXECUTOR
