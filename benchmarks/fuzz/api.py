"""Operations on the GraphQL API: documents from the schema, and variables of any shape."""

import json
import re
from collections.abc import Iterator
from typing import Any

import schemathesis
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_object_type,
)
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.graphql import nodes

from benchmarks.fuzz.client import Client, Request
from benchmarks.fuzz.values import GLOBAL_IDS, encodable, json_values, moments, numbers
from benchmarks.servers import ROOT

SCHEMA_FILE = ROOT / "docs" / "schema.graphql"
CALLERS = ("anonymous", "customer", "app", *["staff"] * 5)
API = "/graphql/"
_ID = re.compile(r'\b(ids?|\w+Ids?): (\[?)"[^"]*"')
_CODE_POINTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters='"\\\r\n'))


def headers_of(client: Client, caller: str) -> dict[str, str]:
    """Return the headers that ``caller`` sends."""
    tokens = {
        "customer": client.shop.customer,
        "staff": client.shop.access,
        "app": client.shop.app_token,
    }
    headers = {"Authorization": f"Bearer {tokens[caller]}"} if caller in tokens else {}
    return {"Content-Type": "application/json", **headers}


class Documents:
    """Valid and slightly invalid documents, as Schemathesis makes them from the schema."""

    name = "documents"

    def __init__(self, client: Client) -> None:
        self._client = client
        for scalar in ("DateTime", "Date", "JSONString", "JSON", "GenericScalar"):
            schemathesis.graphql.scalar(scalar, _CODE_POINTS.map(nodes.String))
        schemathesis.graphql.scalar("Upload", st.just(nodes.String("0")))
        schemathesis.graphql.scalar("PositiveDecimal", st.floats(0, 10**9).map(nodes.Float))
        schema = schemathesis.graphql.from_path(SCHEMA_FILE)
        operations = [
            result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)
        ]
        documents = [
            operation.as_strategy(generation_mode=mode)
            for operation in operations
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
        self.strategy = st.tuples(
            st.sampled_from(documents).flatmap(lambda strategy: strategy),
            st.sampled_from(CALLERS),
            st.sampled_from([None, *GLOBAL_IDS]),
        )

    def attempt(self, seed: int, example: tuple[Any, str, str | None]) -> None:
        case, caller, known_id = example
        document = str(case.body)
        if known_id is not None:
            document = _ID.sub(rf'\1: \2"{known_id}"', document)
        body = json.dumps({"query": document}).encode()
        request = Request("POST", API, headers_of(self._client, caller), body)
        self._client.send(self.name, seed, request)


class Variables:
    """Every operation with all of its arguments as variables, of the right shape or of any."""

    name = "variables"

    def __init__(self, client: Client) -> None:
        self._client = client
        schema = build_schema(SCHEMA_FILE.read_text())
        self.strategy = st.tuples(
            st.sampled_from([*_operations(schema)]).flatmap(_with_variables),
            st.sampled_from(CALLERS),
        )

    def attempt(self, seed: int, example: tuple[tuple[str, object], str]) -> None:
        (document, variables), caller = example
        body = json.dumps({"query": document, "variables": variables}).encode()
        request = Request("POST", API, headers_of(self._client, caller), body)
        self._client.send(self.name, seed, request)


def _operations(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLField]]:
    """A document for each root field, with its field."""
    for kind, root in (("query", schema.query_type), ("mutation", schema.mutation_type)):
        for name, field in (root.fields if root else {}).items():
            declared = ", ".join(f"${one}: {arg.type}" for one, arg in field.args.items())
            given = ", ".join(f"{one}: ${one}" for one in field.args)
            arguments = f"({given})" if given else ""
            declaration = f"({declared})" if declared else ""
            yield f"{kind} Fuzz{declaration} {{ {name}{arguments} {_selection(field)} }}", field


def _selection(field: GraphQLField) -> str:
    """Every leaf of what a field gives, and every leaf of the objects in it."""
    kind = get_named_type(field.type)
    return "" if is_leaf_type(kind) else f"{{ {_fields(kind, depth=2)} }}"


def _fields(kind: Any, depth: int) -> str:
    if not is_object_type(kind):
        return "__typename"
    names = ["__typename"]
    for name, field in kind.fields.items():
        inner = get_named_type(field.type)
        if any(isinstance(arg.type, GraphQLNonNull) for arg in field.args.values()):
            continue
        if is_leaf_type(inner):
            names.append(name)
        elif depth and "first" not in field.args:
            names.append(f"{name} {{ {_fields(inner, depth - 1)} }}")
    return " ".join(names)


def _with_variables(operation: tuple[str, GraphQLField]) -> st.SearchStrategy[Any]:
    document, field = operation
    fitting = st.fixed_dictionaries({name: _fitting(one.type) for name, one in field.args.items()})
    loose = st.fixed_dictionaries(
        {name: st.one_of(_fitting(one.type), json_values) for name, one in field.args.items()}
    )
    return st.tuples(st.just(document), st.one_of(fitting, loose))


def _fitting_later(kind: GraphQLInputType) -> st.SearchStrategy[Any]:
    """Input types can contain themselves."""
    return st.deferred(lambda: _fitting(kind))


def _fitting(kind: GraphQLInputType) -> st.SearchStrategy[Any]:
    """Values of that type, as JSON."""
    if isinstance(kind, GraphQLNonNull):
        return _fitting(kind.of_type)
    if isinstance(kind, GraphQLList):
        return st.lists(_fitting(kind.of_type), max_size=3)
    if isinstance(kind, GraphQLEnumType):
        return st.sampled_from([*kind.values])
    if isinstance(kind, GraphQLInputObjectType):
        needed = {n: f for n, f in kind.fields.items() if isinstance(f.type, GraphQLNonNull)}
        return st.fixed_dictionaries(
            {name: _fitting(field.type) for name, field in needed.items()},
            optional={
                name: _fitting_later(field.type)
                for name, field in kind.fields.items()
                if name not in needed
            },
        )
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "ID": st.one_of(st.sampled_from(GLOBAL_IDS), encodable),
        "Int": numbers,
        "Float": st.one_of(numbers, st.floats()),
        "Boolean": st.booleans(),
        "DateTime": moments,
        "Date": moments,
        "PositiveDecimal": st.one_of(numbers, st.decimals(0, 10**9).map(str)),
        "JSONString": json_values.map(json.dumps),
    }
    return scalars.get(getattr(kind, "name", ""), encodable)
