"""A sentence is written whole, with named places for its values: so it can be translated."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.sources import Source, application


def test_problems_carry_values_and_a_message() -> None:
    pasted = [place for source in application() for place in _pasted_problems(source)]
    assert pasted == []


@pytest.mark.parametrize(
    "body",
    [
        'return Problem("X", f"No {name}.")',
        'message = f"No {name}."; return Problem("X", message)',
        'return Problem("X", "No " + name)',
    ],
)
def test_pasted_problem_is_found(body: str) -> None:
    code = f"def f(name): {body}"
    assert list(_pasted_problems(Source("app/x.py", code, ast.parse(code)))) == ["app/x.py:1"]


def _pasted_problems(source: Source) -> Iterator[str]:
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        pasted = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _is_pasted(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem"):
                continue
            sentence = node.args[1]
            named = isinstance(sentence, ast.Name) and sentence.id in pasted
            if named or _is_pasted(sentence):
                yield f"{source.path}:{node.lineno}"


def _is_pasted(value: ast.expr) -> bool:
    return isinstance(value, (ast.JoinedStr, ast.BinOp))
