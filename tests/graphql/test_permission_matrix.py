"""Every operation of the schema, asked for by every kind of caller."""

import shutil
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLField, GraphQLNonNull, GraphQLObjectType, get_named_type, is_leaf_type

from app.graphql import unavailable
from app.graphql.schema import schema
from tests.builders.images import png
from tests.fakes.clock import FakeClock
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports
from tests.graphql.matrix.mutations import MUTATIONS, UNTRACED
from tests.graphql.matrix.queries import FIELDS, QUERIES
from tests.graphql.matrix.rules import DENIED, EVERYBODY, FINE, NONE, SPECIAL, Row
from tests.graphql.matrix.sample_shop import SampleShop
from tests.graphql.shop_client import ApiClient

pytestmark = pytest.mark.xdist_group("matrix")
SCHEMA = schema.graphql_schema
ROOTS = (SCHEMA.query_type, SCHEMA.mutation_type, SCHEMA.subscription_type)


@pytest.fixture(scope="module")
def shop(_migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleShop]:
    """One for all rows: whoever changes it puts it back."""
    file = Path(shutil.copy(_migrated_file, tmp_path_factory.mktemp("matrix") / "shop.sqlite3"))
    ports = fake_ports(f"sqlite:///{file}", FakeClock())
    made = SampleShop(ports, file)
    yield made
    made.close()
    ports.database.close()


def named(rows: Mapping[str, Row]) -> set[str]:
    """What the rows are about; behind the name may stand which case it is."""
    return {name.partition(" ")[0] for name in rows}


def test_every_operation_has_a_rule() -> None:
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    assert named(QUERIES) == set(SCHEMA.query_type.fields)
    assert named(MUTATIONS) == set(SCHEMA.mutation_type.fields)


def test_every_field_that_reads_the_caller_has_a_rule() -> None:
    asking = {
        f"{kind.name}.{name}"
        for kind in SCHEMA.type_map.values()
        if isinstance(kind, GraphQLObjectType) and _is_shown(kind)
        for name, shown in kind.fields.items()
        if _reads_caller(shown)
    }
    assert named(FIELDS) == asking


def with_same_callers(rows: Mapping[str, Row]) -> list[list[str]]:
    """Return the names of the rows, those together that the same callers are asked about."""
    found: dict[object, list[str]] = defaultdict(list)
    for name, row in rows.items():
        found[row.permissions, row.beside].append(name)
    return list(found.values())


@pytest.mark.parametrize("names", with_same_callers(MUTATIONS), ids=itemgetter(0))
def test_mutation_admits_exactly_its_callers(
    shop: SampleShop, names: list[str], in_turn: InTurn
) -> None:
    """Superusers ask in ``test_event_matrix``; those who are denied, in the next test."""
    for name in names:
        row = MUTATIONS[name]
        call = shop.call(row)
        is_upload = "$file" in call
        query = f"mutation{'($file: Upload!)' if is_upload else ''} {{ {mutation(shop, name)} }}"
        expected = {
            who: mark for who, mark in row.rule.outcomes.items() if is_upload or mark != DENIED
        }
        if row.rule is EVERYBODY:
            expected = dict(in_turn([*expected.items()], 3))
        is_traced = name not in UNTRACED
        found = outcomes(shop, row, query, {*expected}, is_traced=is_traced)
        assert found == expected, name


@pytest.mark.parametrize("names", with_same_callers(MUTATIONS), ids=itemgetter(0))
def test_mutation_is_denied_to_all_others_and_changes_nothing(
    shop: SampleShop, names: list[str]
) -> None:
    fields = {name: mutation(shop, name) for name in names if "$file" not in MUTATIONS[name].call}
    expected = {
        name: {who: mark for who, mark in MUTATIONS[name].rule.outcomes.items() if mark == DENIED}
        for name in fields
    }
    assert readings(shop, MUTATIONS, fields, expected) == expected


@pytest.mark.parametrize("names", with_same_callers(QUERIES), ids=itemgetter(0))
def test_query_admits_exactly_its_callers(shop: SampleShop, names: list[str]) -> None:
    assert SCHEMA.query_type is not None
    fields = {}
    for name in names:
        kind = SCHEMA.query_type.fields[name.partition(" ")[0]].type
        inner = "" if is_leaf_type(get_named_type(kind)) else "{ __typename }"
        fields[name] = f"{field(name, shop.call(QUERIES[name]))} {inner}"
    expected = {name: QUERIES[name].rule.outcomes for name in names}
    assert readings(shop, QUERIES, fields, expected) == expected


@pytest.mark.parametrize("names", with_same_callers(FIELDS), ids=itemgetter(0))
def test_field_is_visible_to_exactly_its_callers(shop: SampleShop, names: list[str]) -> None:
    expected = {name: FIELDS[name].rule.outcomes for name in names}
    fields = {name: shop.call(FIELDS[name]) for name in names}
    assert readings(shop, FIELDS, fields, expected) == expected


def field(name: str, arguments: str) -> str:
    """A field at the root with its arguments, if there are any."""
    return name.partition(" ")[0] + (f"({arguments})" if arguments else "")


def mutation(shop: SampleShop, name: str) -> str:
    return f"{field(name, shop.call(MUTATIONS[name]))} {{ errors {{ code }} }}"


def readings(
    shop: SampleShop,
    rows: Mapping[str, Row],
    fields: Mapping[str, str],
    asking: Mapping[str, Container[str]],
) -> dict[str, dict[str, str]]:
    """What becomes of each field for who is ``asking`` for it, together with the others.

    None changes anything.
    """
    callers = list(shop.callers(rows[next(iter(asking))]))
    api, before = ApiClient(shop.ports), shop.version()
    found: dict[str, dict[str, str]] = {name: {} for name in fields}
    for who, credential in callers:
        theirs = {name: field for name, field in fields.items() if who in asking[name]}
        for name, response in answers(api, credential, theirs) if theirs else ():
            mark, marks = outcome(rows[name], response), found[name].get(who, "")
            found[name][who] = marks if mark in marks else marks + mark
    assert shop.version() == before, f"something was changed: {found}"
    return found


def answers(
    api: ApiClient, credential: str | None, fields: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    """Yield the answer to each field as if it had been asked for alone."""
    together = " ".join(f"n{number}: {field}" for number, field in enumerate(fields.values()))
    kind = "mutation" if set(fields) <= set(MUTATIONS) else "query"
    response = api.ask(f"{kind} {{ {together} }}", credential)
    if response.get("data") is None and len(fields) > 1:
        for part in parts(fields, response["errors"]):
            yield from answers(api, credential, part)
        return
    for number, (name, field) in enumerate(fields.items()):
        of_field = [
            {**error, "path": [root_of(field), *error["path"][1:]]}
            for error in response.get("errors", ())
            if error["path"][0] == f"n{number}"
        ]
        data = response["data"] and {name: response["data"][f"n{number}"]}
        yield name, {"errors": of_field} if of_field else {"data": data}


def parts(fields: Mapping[str, str], errors: list[Any]) -> Iterator[dict[str, str]]:
    """Yield the fields of a request that has no data, in groups to ask for again."""
    every = list(fields.items())
    # The error of a field that is never null takes all others along.
    failed = {error["path"][0] for error in errors if "path" in error}
    alone = [
        named
        for number, named in enumerate(every)
        if f"n{number}" in failed and is_never_null(named[1])
    ]
    if alone:
        yield from ({name: field} for name, field in alone)
        if rest := dict(named for named in every if named not in alone):
            yield rest
    else:  # it asks for more than a request can
        half = len(every) // 2
        yield dict(every[:half])
        yield dict(every[half:])


def root_of(field: str) -> str:
    """Return the name of the field at the root that ``field`` begins with."""
    return field.partition("(")[0].split()[0]


def is_never_null(field: str) -> bool:
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    fields = {**SCHEMA.mutation_type.fields, **SCHEMA.query_type.fields}
    return isinstance(fields[root_of(field)].type, GraphQLNonNull)


def outcomes(
    shop: SampleShop, row: Row, query: str, asking: Container[str], *, is_traced: bool
) -> dict[str, str]:
    """What becomes of the mutation for those ``asking``; several marks where callers differ.

    Whoever is refused changes nothing, and what the others change stands in the audit trail.
    """
    callers, api = list(shop.callers(row, with_superuser=False)), ApiClient(shop.ports)
    shop.keep()
    found: dict[str, str] = {}
    for who, credential in callers:
        if who not in asking:
            continue
        before, audit_row_count = shop.version(), shop.audit_row_count()
        if "$file" in query:
            response = api.upload(query, png(), credential)
        else:
            response = api.ask(query, credential)
        mark = outcome(row, response)
        changed = shop.version() != before
        if changed:
            assert (shop.audit_row_count() > audit_row_count) is is_traced, (
                f"{who} left a trace of {query}, or none"
            )
            shop.put_back()
        assert mark == FINE or not changed, f"{who} was refused, and changed something: {query}"
        if mark not in found.get(who, ""):
            found[who] = found.get(who, "") + mark
    return found


def outcome(row: Row, response: Any) -> str:
    """The mark for an answer; where it is another than any row can hold, the answer itself."""
    if "errors" in response:
        [error] = response["errors"]
        named_there = error["extensions"].get("requiredPermissions", [])
        may_be_named = {*row.rule.kinds, *row.permissions}
        # The way to a field has a rule of its own, which another row is about.
        is_on_the_way = row.call.count("{") >= len(error["path"]) and row.call.startswith(
            error["path"][0]
        )
        is_told = bool(named_there) and (is_on_the_way or may_be_named.issuperset(named_there))
        return DENIED if is_told else str(error)
    (value,) = response["data"].values()
    problems = value.get("errors", ()) if isinstance(value, dict) else ()
    codes = tuple(problem["code"] for problem in problems)
    if codes:
        marks = {row.codes: FINE, (row.rule.code,): SPECIAL, ("NOT_FOUND",): NONE}
        return marks.get(codes, str(codes))
    return NONE if _deepest(value) is None else FINE


def _deepest(value: Any) -> Any:
    """What stands at the end of the one way through ``value``; an empty list is something."""
    while isinstance(value, (dict, list)) and value:
        if isinstance(value, list):
            value = value[0]
        elif set(value) == {"errors"}:
            return value
        else:
            [value] = value.values()
    return value


def _is_shown(kind: GraphQLObjectType) -> bool:
    """Not what stands at the root, nor what only webhooks are told."""
    is_event = any(interface.name == "Event" for interface in kind.interfaces)
    is_built_in = kind in ROOTS or kind.name.startswith("__")
    return not (is_built_in or is_event or kind.name in unavailable.TYPES)


def _reads_caller(field: GraphQLField) -> bool:
    """Whether its resolver looks at the request, or at a loader that does.

    All others show what they were given by what they are fields of.
    """
    code = getattr(field.resolve, "__code__", None)
    return code is not None and ("info" in code.co_varnames or "loader" in code.co_names)
