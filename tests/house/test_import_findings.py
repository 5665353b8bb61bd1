"""Every finding of an import has a remedy, which the documentation prints."""

import ast
import re
from collections.abc import Iterator

import pytest

from app.domain.imports.runs import REMEDIES
from tests.house.sources import Source, application

pytestmark = pytest.mark.xdist_group("sources")

ROOMS = ("app/domain/imports/", "app/services/imports/", "app/domain/passwords/imported_hashes")
_CODE = re.compile(r"[A-Z]+(_[A-Z]+)+")


def _skipped(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what spells something else: values of enumerations, codes of refusals."""
    match node:
        case ast.ClassDef(bases=[ast.Name(id="StrEnum")]):
            yield from ast.walk(node)
        case ast.Call(func=ast.Name(id="Problem"), args=[code, *_]):
            yield code


def _codes(source: Source) -> Iterator[str]:
    nodes = list(source.nodes)
    skipped = {id(inner) for node in nodes for inner in _skipped(node)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in skipped:
                if _CODE.fullmatch(text):
                    yield text
            case ast.Call(args=args) if any(map(_is_outcome, args)):
                texts = [each.value for each in args if isinstance(each, ast.Constant)]
                yield from (str(text) for text in texts if str(text).isupper())


def _is_outcome(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("Outcome")


def test_every_finding_has_a_remedy() -> None:
    reported = {
        code
        for source in application()
        if source.path.startswith(ROOMS) and not source.path.endswith("/remedies.py")
        for code in _codes(source)
    }
    assert {"REMOVED", "TOO_LONG", "PASSWORD_WEAK", "SUBJECT_SHARED"} <= reported
    assert reported ^ REMEDIES.keys() == set()


def test_remedies_are_sentences() -> None:
    assert [code for code, text in REMEDIES.items() if not text.endswith(".")] == []
