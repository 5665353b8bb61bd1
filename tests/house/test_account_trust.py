"""An existing account becomes trusted in one place, which drops unverified identities."""

import ast

import pytest

from tests.house.sources import application

pytestmark = pytest.mark.xdist_group("sources")

COLUMNS = {"is_confirmed", "is_staff", "is_superuser"}
ALLOWED = "app/services/identity/users.py"


def _makes_trusted(node: ast.AST) -> bool:
    """Whether ``node`` assigns one of the columns, or writes it by ``values(…)``."""
    if isinstance(node, ast.Assign):
        names = {target.attr for target in node.targets if isinstance(target, ast.Attribute)}
        takes_away = isinstance(node.value, ast.Constant) and node.value.value is False
        return bool(names & COLUMNS) and not takes_away
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "values" and any(
            keyword.arg in COLUMNS for keyword in node.keywords
        )
    return False


def test_accounts_become_trusted_in_one_module() -> None:
    second_process = [
        f"{source.path}:{getattr(node, 'lineno', 0)}"
        for source in application()
        if source.path != ALLOWED
        and any(column in source.text for column in COLUMNS)  # spares most modules the search
        for node in source.nodes
        if _makes_trusted(node)
    ]
    assert second_process == []
