"""Stored reasons: every sentence that a failed call or delivery can leave is found again."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from app.domain.values.json_values import NoJsonObject, read_json_object
from app.domain.values.text import REASONS, WHOLE_REASONS, find_reason
from tests.fixtures.cases import cases

APP = Path(__file__).parents[3] / "app"
FAILING = (
    "adapters/http/guarded_http.py",
    "adapters/http/identity_provider.py",
    "ports/http.py",
    "services/apps/installation_worker.py",
    "services/deliveries/attempt_results.py",
    "services/deliveries/fanout.py",
    "services/deliveries/sending.py",
    "services/identity/provider_calls.py",
)
"""The modules whose texts are stored as the reason of a failure, or shown as one."""


@cases(
    ("reason", "sentence", "values"),
    [
        (
            "hooks.example.com:8443 didn't respond within 20 seconds.",
            "{host} didn't respond within {seconds} seconds.",
            {"host": "hooks.example.com:8443", "seconds": "20"},
        ),
        (
            "The token endpoint answered with HTTP 503.",
            "{endpoint} answered with HTTP {status}.",
            {"endpoint": "The token endpoint", "status": "503"},
        ),
        ("The webhook is disabled.", "The webhook is disabled.", {}),
        ("Your plan has ended.", "Your plan has ended.", {}),
        ("Can't connect to the database {0}.", "Can't connect to the database {0}.", {}),
        ("", "", {}),
    ],
)
def test_reason_is_a_sentence_with_values(
    reason: str, sentence: str, values: dict[str, str]
) -> None:
    assert find_reason(reason) == (sentence, values)


@cases("path", FAILING)
def test_every_reason_of_a_failure_is_listed(path: str) -> None:
    texts = set(texts_of(path))
    assert texts
    assert [text for text in texts if not is_listed(text)] == []


@cases("body", [b"", b"\xff\xfe{\0}\0", b'{"a": 1, "a": 2}', b"[]", b"x"])
def test_every_fault_of_a_json_response_is_listed(body: bytes) -> None:
    with pytest.raises(NoJsonObject) as refused:
        read_json_object(body)
    assert is_listed(refused.value.sentence("The app"))


@cases("sentence", REASONS)
def test_each_sentence_is_found_with_its_values(sentence: str) -> None:
    names = [name for _, name, _, _ in Formatter().parse(sentence) if name]
    values = {name: f"value-of-{name}" for name in names}
    assert find_reason(sentence.format_map(values)) == (sentence, values)


def is_listed(text: str) -> bool:
    return text in WHOLE_REASONS or find_reason(text)[0] in REASONS


def texts_of(path: str) -> Iterator[str]:
    """Yield what reads like a sentence in a module, with "x" for its values."""
    tree = ast.parse((APP / path).read_text())
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {
        part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if node in docstrings or node in inner:
            continue
        text = _text(node)
        if " " in text and text.endswith("."):
            yield text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "x" for part in node.values)
    return ""
