"""Every code that a rule refuses with is one that the API's clients know."""

import ast
import re
from collections.abc import Iterator

import pytest
from graphql import GraphQLEnumType

from app.graphql.schema import schema
from tests.house.sources import Source, application

pytestmark = pytest.mark.xdist_group("sources")

ROOMS = ("app/domain/", "app/services/", "app/ports/")
OPERATORS_ALONE = (
    "app/services/keys.py",
    "app/services/imports/",
    "app/services/operations/holds.py",
    "app/services/shop/lockout_guard.py",
)
"""Keys are rotated in the console and on the command line, imports run there, and so does what is
held; the console alone guards against a lockout. No mutation does any of it."""

SAYS_CODE = re.compile(r"\bProblem\(|\bcode\b|\b_CODES\b")


def _api_enums() -> list[GraphQLEnumType]:
    found = schema.graphql_schema.type_map.items()
    enums = [of for name, of in found if name.endswith("ErrorCode")]
    return [of for of in enums if isinstance(of, GraphQLEnumType)]


def _spelled(node: ast.AST) -> Iterator[ast.expr | None]:
    """The expressions of ``node`` that say a problem's code."""
    match node:
        case ast.Call(func=ast.Name(id="Problem"), args=[code, *_]):
            yield code
        case ast.keyword(arg="code", value=code):
            yield code
        case ast.arguments():
            named = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(reversed(named), reversed(node.defaults), strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            yield from (default for argument, default in pairs if argument.arg == "code")
        case ast.Assign(targets=[ast.Name(id="code")], value=code):
            yield code
        case ast.Assign(targets=[ast.Name(id="_CODES")], value=ast.Dict(values=codes)):
            yield from codes


def _codes(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes:
        for code in _spelled(node):
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value, f"{source.path}:{code.lineno}: {code.value}"


def test_every_code_of_a_rule_is_declared_for_the_api() -> None:
    declared = {code for of in _api_enums() for code in of.values}
    spelled = [
        found
        for source in application()
        if source.path.startswith(ROOMS) and not source.path.startswith(OPERATORS_ALONE)
        if SAYS_CODE.search(source.text)  # spares most modules the search in their tree
        for found in _codes(source)
    ]
    assert {"INVALID", "NOT_FOUND", "JWT_DECODE_ERROR"} <= {code for code, _ in spelled}
    assert [where for code, where in spelled if code not in declared] == []


def test_enums_of_codes_are_declared_in_one_file() -> None:
    declared = [
        source.path
        for source in application()
        if "ErrorCode" in source.text
        for node in source.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.endswith("ErrorCode")
    ]
    assert declared == ["app/graphql/types/error_codes.py"] * len(_api_enums())
