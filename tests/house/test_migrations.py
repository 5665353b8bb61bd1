"""Migrations leave the previous release working: they add first and take away a release later.

A migration that takes something away is marked ``contract = True``, which says that no server of
the previous release is left when it runs.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.fixtures.cases import cases
from tests.house.sources import ROOT

PREVIOUS_RELEASE = "0021_delivery_searches"
"""The newest revision of version 1.0."""

NEW = [
    path
    for path in sorted((ROOT / "migrations/versions").glob("[0-9]*.py"))
    if path.stem > PREVIOUS_RELEASE
]
TAKES_AWAY = {
    "drop_column",
    "drop_table",
    "rename_table",
    "alter_column",
    "create_unique_constraint",
    "create_check_constraint",
    "create_foreign_key",
}


def breaks(source: str) -> list[str]:
    """Return what the migration does that servers of the previous release trip over."""
    tree = ast.parse(source)
    if any(
        isinstance(node, ast.Assign) and ast.unparse(node) == "contract = True"
        for node in tree.body
    ):
        return []
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and node.name == "downgrade")
    ]
    calls = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Call)]
    created = {ast.unparse(call.args[0]) for call in calls if _name(call) == "create_table"}
    return [*_faults(calls, created)]


def _faults(calls: list[ast.Call], created: set[str]) -> Iterator[str]:
    for call in calls:
        name = _name(call)
        if name in TAKES_AWAY:
            yield f"{name} in line {call.lineno}"
        elif name == "add_column" and _is_required(call):
            yield f"required column without server_default in line {call.lineno}"
        elif (
            ast.unparse(call.func) == "op.create_index"
            and ast.unparse(call.args[1]) not in created
        ):
            module = "app.adapters.database.migrations"
            yield f"index in line {call.lineno}: use create_index of {module}"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_required(call: ast.Call) -> bool:
    keywords = {
        keyword.arg: ast.unparse(keyword.value)
        for node in ast.walk(call)
        if isinstance(node, ast.Call) and _name(node) == "Column"
        for keyword in node.keywords
    }
    return keywords.get("nullable") == "False" and "server_default" not in keywords


@cases("path", NEW)
def test_new_migration_leaves_the_previous_release_working(path: Path) -> None:
    assert breaks(path.read_text()) == []


@cases(
    ("change", "fault"),
    [
        ("op.drop_column('users', 'email')", "drop_column in line 2"),
        ("op.alter_column('users', 'email', new_column_name='mail')", "alter_column in line 2"),
        (
            "op.add_column('users', sa.Column('age', sa.Integer(), nullable=False))",
            "required column without server_default in line 2",
        ),
        (
            "op.create_index('ix', 'users', ['age'])",
            "index in line 2: use create_index of app.adapters.database.migrations",
        ),
    ],
)
def test_change_that_breaks_the_previous_release_is_found(change: str, fault: str) -> None:
    source = f"def upgrade():\n    {change}\ndef downgrade():\n    op.drop_table('users')\n"
    assert breaks(source) == [fault]
    assert breaks(f"contract = True\n{source}") == []
