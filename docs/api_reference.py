"""The GraphQL reference, printed from the schema: a page for each subject."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    Undefined,
    ast_from_value,
    get_named_type,
    print_ast,
)

from app.graphql.schema import schema
from docs.api_subjects import SUBJECTS, TYPES
from docs.parts import table
from tests.graphql.matrix.mutations import EVENT_HOLDERS, MUTATIONS
from tests.graphql.matrix.queries import QUERIES
from tests.graphql.matrix.rules import FINE, Row

Input = GraphQLArgument | GraphQLInputField

_SCHEMA = schema.graphql_schema
_KINDS: Mapping[type[GraphQLNamedType], str] = {
    GraphQLEnumType: "enum",
    GraphQLInputObjectType: "input",
    GraphQLInterfaceType: "interface",
    GraphQLObjectType: "object",
    GraphQLScalarType: "scalar",
    GraphQLUnionType: "union",
}
_MANY = 100
"""Enums with more values, such as languages, are listed without the meaning of each."""

_HOLDERS = (("staff", "staff"), ("apps", "app"), ("extensions", "extension"))
_MADE = "Printed from the schema; `make docs` regenerates it."


def printed_subject(name: str) -> str:
    """The page of a subject."""
    subject = SUBJECTS[name]
    parts = [f"# {subject.title}\n\n{subject.intro} {_MADE}\n"]
    for title, root in _roots():
        operations = [one for one in subject.operations if one in root]
        if operations:
            parts.append(f"## {title}\n")
            parts += [_operation(one, root[one], name) for one in operations]
    types = [kind for kind, home in _homes().items() if home == name]
    if types:
        parts.append("## Types\n")
        parts += [_type(_SCHEMA.type_map[kind], name) for kind in sorted(types)]
    return "\n".join(parts)


def printed_index() -> str:
    """The start page: how to read the reference, and its subjects."""
    rows = (
        (f"[{subject.title}]({name}.md)", _operations_of(name, subject.operations))
        for name, subject in SUBJECTS.items()
    )
    return f"""\
# GraphQL reference

Look up every operation of the API: its arguments, who can call it, what it returns. {_MADE}
[schema.graphql](../../schema.graphql) is the same as one file.

- Requests are sent to `/graphql/`. [Errors](../errors.md) lists the error codes.
- `!` after a type means "never null", brackets mean a list. An argument with `!` and without a
  default is required.
- "Extensions" are apps that act for a staff member in the dashboard, with an
  [extension token](../../guides/apps.md); they need the permission on both sides.
- A query for an object that the caller can't see returns `null`, not an error.

{table(("subject", "operations"), rows)}"""


def _operations_of(page: str, names: Iterable[str]) -> str:
    return ", ".join(f"[`{name}`]({page}.md#{name.lower()})" for name in names)


def _roots() -> Iterator[tuple[str, Mapping[str, GraphQLField]]]:
    roots = (_SCHEMA.query_type, _SCHEMA.mutation_type, _SCHEMA.subscription_type)
    for title, root in zip(("Queries", "Mutations", "Subscription"), roots, strict=True):
        if root is None:
            raise LookupError(f"the schema has no {title.lower()}")
        yield title, root.fields


@cache
def _all_operations() -> Mapping[str, GraphQLField]:
    return {name: field for _, root in _roots() for name, field in root.items()}


@cache
def _payloads() -> Mapping[str, str]:
    """Return the types that only one mutation returns: they are described with it."""
    returned: defaultdict[str, set[str]] = defaultdict(set)
    mutations = dict(_roots())["Mutations"]
    for name, field in mutations.items():
        returned[get_named_type(field.type).name].add(name)
    named = {
        kind.name
        for one in _SCHEMA.type_map.values()
        if one is not _SCHEMA.mutation_type
        for kind in _used_by(one)
    }
    return {
        kind: names.pop()
        for kind, names in returned.items()
        if len(names) == 1 and kind not in named
    }


def _used_by(kind: GraphQLNamedType) -> Iterator[GraphQLNamedType]:
    """Yield the types that ``kind`` names in its fields, arguments and interfaces."""
    if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        yield from kind.interfaces
        for field in kind.fields.values():
            yield from _used_by_field(field)
    elif isinstance(kind, GraphQLInputObjectType):
        yield from (get_named_type(entry.type) for entry in kind.fields.values())
    elif isinstance(kind, GraphQLUnionType):
        yield from kind.types
    if isinstance(kind, GraphQLInterfaceType):
        yield from _SCHEMA.get_possible_types(kind)


def _used_by_field(field: GraphQLField) -> Iterator[GraphQLNamedType]:
    yield get_named_type(field.type)
    yield from (get_named_type(argument.type) for argument in field.args.values())


@cache
def _homes() -> Mapping[str, str]:
    """Return the page of each type: its own, that of all its users, or the shared one."""
    homes = {kind: name for name, subject in SUBJECTS.items() for kind in subject.types}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for name, subject in SUBJECTS.items():
        waiting = [
            kind for one in subject.operations for kind in _used_by_field(_all_operations()[one])
        ]
        waiting += [kind for one in subject.types for kind in _used_by(_SCHEMA.type_map[one])]
        while waiting:
            kind = waiting.pop()
            if name not in users[kind.name] and kind.name not in homes:
                users[kind.name].add(name)
                waiting += _used_by(kind)
    for kind_name, names in users.items():
        if kind_name not in homes and kind_name not in _payloads():
            homes[kind_name] = names.pop() if len(names) == 1 else TYPES
    return homes


def _operation(name: str, field: GraphQLField, page: str) -> str:
    payload = get_named_type(field.type)
    parts = [f"### {name}\n", f"{field.description}\n", *_callers(name)]
    if field.deprecation_reason:
        parts.append(f"**Deprecated:** {field.deprecation_reason}\n")
    if field.args:
        parts.append(_inputs("argument", field.args, page))
    if payload.name in _payloads() and isinstance(payload, GraphQLObjectType):
        parts.append(f"Returns `{payload.name}`:\n\n{_fields(payload, page)}")
    else:
        parts.append(f"Returns {_link(field.type, page)}.\n")
    return "\n".join(parts)


def _callers(name: str) -> Iterator[str]:
    """Yield who can call an operation, from the tests that call it as everyone."""
    rows = {**QUERIES, **MUTATIONS}
    found = [key for key in rows if key == name or key.startswith(f"{name} ")]
    lines = []
    for key in found:
        case = key.removeprefix(name).strip()
        called = _callers_of(rows[key])
        lines.append(f"{called}, for `{name}` {case}" if case and len(found) > 1 else called)
    if len(lines) == 1:
        yield f"**Who:** {lines[0]}.\n"
    elif lines:
        yield "**Who:**\n"
        yield "".join(f"- {line}\n" for line in lines)


def _callers_of(row: Row) -> str:
    fine = {caller for caller, mark in row.rule.outcomes.items() if mark == FINE}
    if "anonymous" in fine:
        return "everyone"
    plain = ["customers"] * ("customer" in fine)
    plain += [many for many, one in _HOLDERS if f"{one} without" in fine]
    holders = [
        many for many, one in _HOLDERS if f"{one} with" in fine and f"{one} without" not in fine
    ]
    permissions = " or ".join(f"`{one.value}`" for one in row.permissions)
    if row.rule is EVENT_HOLDERS:
        permissions = "the permission of the event"
    parts = [_joined(plain)] * bool(plain)
    parts += [f"{_joined(holders)} with {permissions}"] * bool(holders and permissions)
    parts += [_joined(holders)] * bool(holders and not permissions)
    return "; ".join(parts) or "people, for what is their own"


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _type(kind: GraphQLNamedType, page: str) -> str:
    parts = [f"### {_heading(kind)}\n"]
    if kind.description:
        parts.append(f"{kind.description}\n")
    if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        if kind.interfaces:
            names = ", ".join(_link(one, page) for one in kind.interfaces)
            parts.append(f"Implements {names}.\n")
        parts.append(_fields(kind, page))
    elif isinstance(kind, GraphQLInputObjectType):
        parts.append(_inputs("field", kind.fields, page))
    elif isinstance(kind, GraphQLEnumType):
        parts.append(_values(kind))
    elif isinstance(kind, GraphQLUnionType):
        parts.append(f"One of {', '.join(_link(one, page) for one in kind.types)}.\n")
    return "\n".join(parts)


def _values(kind: GraphQLEnumType) -> str:
    if len(kind.values) <= _MANY and any(
        value.description or value.deprecation_reason for value in kind.values.values()
    ):
        rows = (
            (f"`{name}`", _described(value.description, value.deprecation_reason))
            for name, value in kind.values.items()
        )
        return table(("value", "meaning"), rows)
    return f"{', '.join(f'`{name}`' for name in kind.values)}.\n"


def _fields(kind: GraphQLObjectType | GraphQLInterfaceType, page: str) -> str:
    rows = (
        (
            f"`{name}`",
            _link(field.type, page),
            _described(field.description, field.deprecation_reason) + _arguments(field, page),
        )
        for name, field in kind.fields.items()
    )
    return table(("field", "type", "meaning"), rows)


def _arguments(field: GraphQLField, page: str) -> str:
    texts = (
        f"<br>`{name}` {_link(argument.type, page)}: "
        f"{_described(argument.description, argument.deprecation_reason)}{_default(argument)}"
        for name, argument in field.args.items()
    )
    return "".join(texts)


def _inputs(head: str, entries: Mapping[str, Input], page: str) -> str:
    rows = (
        (
            f"`{name}`",
            _link(entry.type, page),
            _described(entry.description, entry.deprecation_reason) + _default(entry),
        )
        for name, entry in entries.items()
    )
    return table((head, "type", "meaning"), rows)


def _default(entry: Input) -> str:
    if entry.default_value in (Undefined, None):
        return ""
    node = ast_from_value(entry.default_value, entry.type)
    return f" Default: `{print_ast(node)}`." if node else ""


def _described(description: str | None, deprecated: str | None) -> str:
    text = " ".join((description or "").split()).replace("|", "\\|")
    return f"{text} **Deprecated:** {deprecated}".strip() if deprecated else text


def _kind(of: GraphQLNamedType) -> str:
    return next(name for kind, name in _KINDS.items() if isinstance(of, kind))


def _heading(kind: GraphQLNamedType) -> str:
    return f"{kind.name} ({_kind(kind)})"


def _link(kind: object, page: str) -> str:
    """Return a type as it is written in the schema, linked to where it is described."""
    named = get_named_type(kind)  # type: ignore[call-overload]
    text = f"`{kind}`"
    home = _homes().get(named.name)
    if home is None:
        return text
    anchor = f"#{named.name}-{_kind(named)}".lower()
    return f"[{text}]({anchor})" if home == page else f"[{text}]({home}.md{anchor})"
