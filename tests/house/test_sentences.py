"""A sentence is written whole, with named places for its values: so it can be translated."""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from tests.fixtures.cases import cases
from tests.house.sources import Source, application

pytestmark = pytest.mark.xdist_group("sources")

_WORD = re.compile(r"(?:^|\s)[A-Za-z']{2,}[.,:?!]?(?:\s|$)")
"""A word of a sentence: at a space, unlike an option (``--provider``) or a header (``a; b=``)."""


_SAYS = re.compile(r"\b(?:Problem|refuse)\(")
"""What a message is given to; spares most modules the search in their tree."""


def test_console_pastes_no_sentences() -> None:
    console = [source for source in application() if source.path.startswith("app/console/")]
    assert [
        f"{source.path}:{node.lineno}"
        for source in console
        for node in pasted_sentences(source.nodes)
    ] == []


@cases(
    "code",
    [
        'f"{name} was deleted."',
        'f"in {words}"',
        'text(f"{name} is on.")',
        '"Deleted " + name',
        'name + " was deleted."',
        '"%s was deleted." % name',
        '"{} was deleted.".format(name)',
        '" and ".join(names)',
    ],
)
def test_pasted_sentence_is_found(code: str) -> None:
    assert len(list(pasted_sentences(ast.walk(ast.parse(code))))) == 1


@cases(
    "code",
    [
        'text("{name} was deleted.", name=name)',
        '"It was deleted."',
        'f"{base}/console/{path}"',
        'f"mailto:{email}?subject={subject}"',
        'f"{command} --provider {slug}"',
        'f"flask webhook edit {key}"',
        'f"Authorization: Bearer {secret}"',
        "f'attachment; filename=\"audit.{form}\"'",
        'f"subscription {{\\n  event {{ {fields} }}\\n}}\\n"',
        '", ".join(names)',
        'Markup("<time title={}>{} now</time>").format(at, words)',
        "1 + number",
    ],
)
def test_other_text_is_no_sentence(code: str) -> None:
    assert not list(pasted_sentences(ast.walk(ast.parse(code))))


def test_problems_carry_values_and_a_message() -> None:
    pasted = [place for source in application() for place in _pasted_problems(source)]
    assert pasted == []


@cases(
    "body",
    [
        'return Problem("X", f"No {name}.")',
        'message = f"No {name}."; return Problem("X", message)',
        'return Problem("X", "No " + name)',
        'self.refuse("name", "X", f"No {name}.")',
        'message = f"No {name}."; part.refuse("name", "X", message)',
    ],
)
def test_pasted_problem_is_found(body: str) -> None:
    code = f"def f(name): {body}"
    assert list(_pasted_problems(Source("app/x.py", code))) == ["app/x.py:1"]


def _pasted_problems(source: Source) -> Iterator[str]:
    if not _SAYS.search(source.text):
        return
    for function in source.nodes:
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
            sentence = _problem_template(node)
            if sentence is None:
                continue
            named = isinstance(sentence, ast.Name) and sentence.id in pasted
            if named or _is_pasted(sentence):
                yield f"{source.path}:{sentence.lineno}"


def _problem_template(node: ast.AST) -> ast.expr | None:
    """Return the message of ``Problem(code, message)`` or ``part.refuse(name, code, message)``."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "Problem":
        return node.args[1]
    is_refuse = isinstance(node.func, ast.Attribute) and node.func.attr == "refuse"
    return node.args[2] if is_refuse and len(node.args) > 2 else None


def _is_pasted(value: ast.expr) -> bool:
    return isinstance(value, (ast.JoinedStr, ast.BinOp))


def pasted_sentences(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield where words and values are put together without ``text``."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            if _is_code(node.values[0]):
                continue
            if len(node.values) > 1 and any(_has_words(part) for part in node.values):
                yield node
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
            if _has_words(node.left) or _has_words(node.right):
                yield node
        elif isinstance(node, ast.Call) and _is_method_of_words(node.func):
            yield node


def _is_code(begin: ast.expr) -> bool:
    """Return whether what begins so is a command or a header, the same in every language."""
    if not isinstance(begin, ast.Constant):
        return False
    return str(begin.value).startswith(("flask ", "Authorization: "))


def _is_method_of_words(method: ast.expr) -> bool:
    if not isinstance(method, ast.Attribute) or method.attr not in ("format", "join"):
        return False
    return _has_words(method.value)


def _has_words(node: ast.expr) -> bool:
    """Return whether ``node`` is a text with words, and no code of several lines."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    value = node.value
    return " " in value and "\n" not in value and _WORD.search(value) is not None
