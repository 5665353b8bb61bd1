"""Upgrading graphql-core: which of its undocumented parts changed, and where we use them."""

import hashlib
import inspect
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from graphql import ExecutionContext, OverlappingFieldsCanBeMergedRule, Source
from graphql.execution.collect_fields import collect_fields
from graphql.execution.execute import CollectedErrors, assume_not_awaitable
from graphql.language.parser import Parser
from graphql.pyutils import print_path_list
from graphql.validation.rules.overlapping_fields_can_be_merged import spend_complexity_budget
from graphql.validation.validate import ValidationAbortedError, validate

Part = Callable[..., Any]

CHECKED_VERSION = "3.2.14"
EXECUTOR = "app/graphql/server/execution/executor.py"
VALIDATION = "app/graphql/server/execution/validation.py"
VARIABLES = "app/graphql/server/execution/variables.py"

PARTS: dict[Part, tuple[str, str]] = {
    ExecutionContext.__init__: (EXECUTOR, "passes its arguments by position"),
    ExecutionContext.execute_operation: (EXECUTOR, "does the same with kept selections"),
    ExecutionContext.execute_fields_serially: (EXECUTOR, "does the same with kept selections"),
    ExecutionContext.execute_field: (EXECUTOR, "does the same with kept selections"),
    ExecutionContext.complete_value: (EXECUTOR, "overrides it, calls it for what isn't plain"),
    ExecutionContext.complete_leaf_value: (EXECUTOR, "calls it, or what it calls"),
    ExecutionContext.complete_object_value: (EXECUTOR, "overrides it"),
    ExecutionContext.complete_list_value: (EXECUTOR, "calls it"),
    ExecutionContext.collect_subfields: (EXECUTOR, "calls it"),
    ExecutionContext.handle_field_error: (EXECUTOR, "calls it"),
    ExecutionContext.build_resolve_info: (EXECUTOR, "calls it"),
    CollectedErrors.add: (EXECUTOR, "gives it to ExecutionContext and reads its errors"),
    assume_not_awaitable: (EXECUTOR, "gives it to ExecutionContext"),
    collect_fields: (EXECUTOR, "finds the fields at the root of an operation"),
    Parser.__init__: (VALIDATION, "gives it max_tokens and reads token_count"),
    Parser.advance_lexer: (VALIDATION, "knows the end of its message about tokens"),
    Source.get_location: (VALIDATION, "overrides it"),
    validate: (VALIDATION, "names its own limit where this one is aborted"),
    ValidationAbortedError: (VALIDATION, "recognises it"),
    OverlappingFieldsCanBeMergedRule.__init__: (VALIDATION, "sets the budget of rule_context"),
    spend_complexity_budget: (VALIDATION, "reads what is left of the budget"),
    print_path_list: (VARIABLES, "calls it"),
}
"""Each part of graphql-core, with the file that uses it and how."""

DIGESTS = {
    "ExecutionContext.__init__": "f0165b456fa2",
    "ExecutionContext.execute_operation": "4173ce5856aa",
    "ExecutionContext.execute_fields_serially": "9f5d8075284a",
    "ExecutionContext.execute_field": "249c0f575f30",
    "ExecutionContext.complete_value": "d5c824cacf1f",
    "ExecutionContext.complete_leaf_value": "f71b0d57ca5a",
    "ExecutionContext.complete_object_value": "fc76342515a7",
    "ExecutionContext.complete_list_value": "a6becd1eca69",
    "ExecutionContext.collect_subfields": "483eeb64eae9",
    "ExecutionContext.handle_field_error": "01781013e387",
    "ExecutionContext.build_resolve_info": "60e2e8c33512",
    "CollectedErrors.add": "6caa93a8e531",
    "assume_not_awaitable": "59481115a8c3",
    "collect_fields": "fe477988e576",
    "Parser.__init__": "15902fd79733",
    "Parser.advance_lexer": "503155d4c143",
    "Source.get_location": "867b3a745487",
    "validate": "65487b4ac624",
    "ValidationAbortedError": "91f888e7f532",
    "OverlappingFieldsCanBeMergedRule.__init__": "24661901b1bb",
    "spend_complexity_budget": "85d75b962b34",
    "print_path_list": "73731026a2ce",
}
"""The parts' source code in that version: the first digits of its SHA-256."""


def test_graphql_core_is_the_version_that_was_checked() -> None:
    changed = [
        f"  {part.__qualname__}: {file} {use}"
        for part, (file, use) in PARTS.items()
        if _digest(part) != DIGESTS[part.__qualname__]
    ]
    installed = version("graphql-core")
    advice = "\n".join(
        (
            f"graphql-core {installed} is installed, {CHECKED_VERSION} was checked.",
            "Read what changed in these parts and how we use them:",
            *(changed or ["  none of them changed"]),
            "Run tests/graphql and tests/hostile, then write version and digests here.",
        )
    )
    assert installed == CHECKED_VERSION, advice
    assert changed == [], advice


def _digest(part: Part) -> str:
    return hashlib.sha256(inspect.getsource(part).encode()).hexdigest()[:12]
