"""The permission groups that the values of a provider's claim stand for."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.domain.accounts.users import MAX_GROUP_NAME_LENGTH
from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem

MAX_ROWS = 200
_MAX_VALUE_LENGTH = 255
_NO_TABLE = Problem(
    "INVALID",
    'Enter a JSON object of claim values and groups: {"shop-admins": "Admins"}.',
    "group_mapping",
)
_EMPTY_CELL = Problem("INVALID", "Enter a claim value and a group in each row.", "group_mapping")


@dataclass(frozen=True, slots=True)
class GroupOfClaim:
    """The permission group that a value of the claim stands for, by its name."""

    value: str
    group: str


@lru_cache(maxsize=64)
def read_group_mapping(text: str) -> tuple[GroupOfClaim, ...]:
    """Return the rows of a stored mapping; none if it is empty or damaged."""
    rows = _rows(text) if text else ()
    return () if isinstance(rows, Problem) else rows


def write_group_mapping(rows: Iterable[GroupOfClaim]) -> str:
    """Return ``rows`` as they are stored; empty for none."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        named = groups.setdefault(row.value, [])
        if row.group not in named:
            named.append(row.group)
    if not groups:
        return ""
    table = {value: named[0] if len(named) == 1 else named for value, named in groups.items()}
    return json.dumps(table, ensure_ascii=False)


def describe_group_mapping(text: object) -> str:
    """Return a stored mapping as people read it."""
    return ", ".join(f"{row.value} → {row.group}" for row in read_group_mapping(str(text or "")))


def parse_group_mapping(text: str) -> str | Problem:
    """Return a mapping that someone entered as it is stored; refuses INVALID.

    ``text`` is a JSON object: each claim value with the name of a group, or a list of names.
    """
    rows = _rows(text)
    return rows if isinstance(rows, Problem) else write_group_mapping(rows)


def groups_of_claims(
    mapping: str, claim: str, *sources: Mapping[str, object]
) -> frozenset[str] | None:
    """Return the groups that the ``claim`` stands for in the first of ``sources`` that has it.

    Without the claim there are none. ``None`` if the provider only says where the groups can be
    read (OpenID Connect Core, 5.6.2: ``_claim_names``), as Entra ID does for people in many.
    """
    found = next((_value(claim, claims) for claims in sources if has_claim(claim, claims)), None)
    if found is None and any(_is_elsewhere(claim, claims) for claims in sources):
        return None
    values = found if isinstance(found, list | tuple) else (found,)
    said = {value for value in values if isinstance(value, str)}
    return frozenset(row.group for row in read_group_mapping(mapping) if row.value in said)


def has_claim(claim: str, claims: Mapping[str, object]) -> bool:
    """Whether ``claims`` have a claim that can hold groups."""
    return _value(claim, claims) is not None


def _value(claim: str, claims: Mapping[str, object]) -> object:
    """Return a claim by its name, or by the path that its dots make (``realm_access.roles``)."""
    if claim in claims:
        return claims[claim]
    value: object = claims
    for name in claim.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_elsewhere(claim: str, claims: Mapping[str, object]) -> bool:
    names = claims.get("_claim_names")
    return isinstance(names, Mapping) and claim in names


def _rows(text: str) -> tuple[GroupOfClaim, ...] | Problem:
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return _NO_TABLE
    if not isinstance(table, dict):
        return _NO_TABLE
    rows = []
    for value, named in table.items():
        groups = named if isinstance(named, list) else [named]
        if not all(isinstance(group, str) for group in groups):
            return _NO_TABLE
        rows += [GroupOfClaim(value.strip(), group.strip()) for group in groups]
    return _rows_problem(rows) or tuple(rows)


def _rows_problem(rows: list[GroupOfClaim]) -> Problem | None:
    if len(rows) > MAX_ROWS:
        message = "Use at most {max_rows} rows."
        return Problem("INVALID", message, "group_mapping", values={"max_rows": MAX_ROWS})
    for row in rows:
        if not row.value or not row.group:
            return _EMPTY_CELL
        for text, length in ((row.value, _MAX_VALUE_LENGTH), (row.group, MAX_GROUP_NAME_LENGTH)):
            problem = line_problem(text, "group_mapping", max_length=length)
            if problem is not None:
                return problem
    return None
