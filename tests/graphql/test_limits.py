"""How much one request may ask for, each limit with an error of its own (contract, "HTTP")."""

from dataclasses import replace
from itertools import chain, cycle, islice

import pytest
from graphql import get_introspection_query

from app.graphql.server.query_cost import PAGE
from app.web.installation import Installation
from tests.builders.limits import default_limits
from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient
from tests.graphql.fake_identity import Callers

LIMITS = default_limits()
PAGES = (
    "{ books(first: 100) { edges { node { author {"
    " books(first: 60) { edges { node { title } } } } } } } }"
)
BOOKS = "query($n: Int) { books(first: $n) { totalCount } }"


def limit_of(
    client: EndpointClient, query: str, variables: object = None
) -> dict[str, object] | None:
    """Which limit refused the operation, by its extension; ``None`` when it was executed."""
    response = client.run(query, variables)
    if response.status_code == 200:
        return None
    assert response.status_code == 400
    assert response.json.keys() == {"errors"}
    (error,) = response.json["errors"]
    assert error["extensions"]["exception"] == {"code": "GraphQLError"}
    limit: dict[str, object] = error["extensions"]["limit"]
    assert str(limit["limit"]) in error["message"]
    assert str(limit.get("actual", "")) in error["message"]
    return limit


def nested(depth: int) -> str:
    """A query that nests ``depth`` levels."""
    fields = list(islice(chain(["book"], cycle(["author", "favourite"])), depth - 1))
    return " { ".join(["", *fields, "__typename"]) + " }" * depth


def test_query_of_maximum_depth_runs(client: EndpointClient) -> None:
    assert limit_of(client, nested(LIMITS.depth)) is None


@pytest.mark.parametrize("depth", [LIMITS.depth + 1, 100])
def test_deeper_query_is_refused(client: EndpointClient, depth: int) -> None:
    assert limit_of(client, nested(depth)) == {
        "name": "depth",
        "limit": LIMITS.depth,
        "actual": depth,
    }


def test_depth_is_counted_through_fragments(client: EndpointClient) -> None:
    links = "".join(
        f"fragment f{number} on Book {{ author {{ favourite {{ ...f{number + 1} }} }} }} "
        for number in range(LIMITS.depth)
    )
    query = f"{{ book {{ ...f0 }} }} {links} fragment f{LIMITS.depth} on Book {{ title }}"
    limit = limit_of(client, query)
    assert limit == {"name": "depth", "limit": LIMITS.depth, "actual": 2 * LIMITS.depth + 2}


@pytest.mark.parametrize("depth", [250, 600])
def test_unparsably_deep_query_is_refused(client: EndpointClient, depth: int) -> None:
    limit = limit_of(client, nested(depth))
    assert limit is not None
    assert limit["name"] == "depth"


def test_too_deeply_nested_fragments_are_refused(client: EndpointClient) -> None:
    step = "author { favourite { " * 4
    links = "".join(
        f"fragment f{number} on Book {{ {step} ...f{number + 1} {'} }' * 4} }} "
        for number in range(40)
    )
    limit = limit_of(client, f"{{ book {{ ...f0 }} }} {links} fragment f40 on Book {{ title }}")
    assert limit is not None
    assert limit["name"] == "depth"


@pytest.mark.parametrize("descriptions", [False, True])
def test_standard_introspection_runs(client: EndpointClient, descriptions: bool) -> None:
    query = get_introspection_query(
        descriptions=descriptions,
        specified_by_url=descriptions,
        directive_is_repeatable=descriptions,
        schema_description=descriptions,
        input_value_deprecation=descriptions,
    )
    assert limit_of(client, query) is None


def test_circular_introspection_is_refused(client: EndpointClient) -> None:
    circle = "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }"
    assert client.run(circle).status_code == 400


def test_repeated_introspection_in_one_document_is_refused(client: EndpointClient) -> None:
    types = " ".join(
        f"s{number}: __schema {{ types {{ fields {{ name args {{ name type {{ name }} }} }} }} }}"
        for number in range(20)
    )
    limit = limit_of(client, f"{{ {types} }}")
    assert limit is not None
    assert limit["name"] == "cost"


def aliases(count: int) -> str:
    return "{" + " ".join(f"a{number}: always" for number in range(count)) + "}"


def test_as_many_aliases_as_the_limit_run(client: EndpointClient) -> None:
    assert limit_of(client, aliases(LIMITS.aliases)) is None


@pytest.mark.parametrize("count", [LIMITS.aliases + 1, 600])
def test_too_many_aliases_are_refused(client: EndpointClient, count: int) -> None:
    limit = limit_of(client, aliases(count))
    assert limit == {"name": "aliases", "limit": LIMITS.aliases, "actual": count}


def test_aliases_count_wherever_their_fragment_is_spread(client: EndpointClient) -> None:
    spread = "...F " * 26
    fragment = "fragment F on Book { a: title b: title c: title d: title }"
    assert limit_of(client, f"{{ book {{ {spread} }} }} {fragment}") == {
        "name": "aliases",
        "limit": LIMITS.aliases,
        "actual": 104,
    }


def test_as_many_tokens_as_the_limit_run(client: EndpointClient) -> None:
    fields = " ".join(["always"] * 100)
    comments = "\n#" * (LIMITS.tokens - 102)
    assert limit_of(client, f"{{ {fields} {comments}\n }}") is None


@cases(
    "query",
    [
        "{" + "always " * 6000 + "}",
        "{ always }" + "\n#" * 100_000,
        "query(" + "$a: Int " * 6000 + ") { always }",
        "{ greeting(name: [" + "1 " * 6000 + "]) }",
    ],
)
def test_more_tokens_are_refused(client: EndpointClient, query: str) -> None:
    assert limit_of(client, query) == {"name": "tokens", "limit": LIMITS.tokens}


@cases("fields", ["always " * 1900, "book { title } " * 480])
def test_too_many_repeated_fields_are_refused(client: EndpointClient, fields: str) -> None:
    limit = limit_of(client, f"{{ {fields} }}")
    assert limit is not None
    assert limit["name"] == "comparisons"


def test_page_of_maximum_size_is_returned(client: EndpointClient) -> None:
    assert limit_of(client, BOOKS, {"n": LIMITS.page_size}) is None


@cases(
    ("query", "variables"),
    [
        ("{ books(first: 101) { totalCount } }", {}),
        ("{ books(last: 101) { totalCount } }", {}),
        ("{ books(first: 1, last: 101) { totalCount } }", {}),
        (BOOKS, {"n": 101}),
        ("query($n: Int = 101) { books(first: $n) { totalCount } }", {}),
        (
            "query($n: Int!) { ...F } fragment F on Query { books(last: $n) { totalCount } }",
            {"n": 101},
        ),
        ("{ book { author { books(first: 101) { totalCount } } } }", {}),
        ("{ book { reviews(first: 101) { title } } }", {}),
    ],
)
def test_larger_page_is_refused_in_every_form(
    client: EndpointClient, query: str, variables: object
) -> None:
    assert limit_of(client, query, variables) == {"name": "page_size", "limit": 100, "actual": 101}


def test_page_size_is_checked_in_every_request(client: EndpointClient) -> None:
    for size, refused in ((100, False), (101, True), (100, False), (None, False)):
        assert (limit_of(client, BOOKS, {"n": size}) is not None) is refused
    assert client.documents_read == 1


def test_nested_pages_multiply_the_cost(client: EndpointClient) -> None:
    query = (
        "query($a: Int, $b: Int) { books(first: $a) { edges { node { author {"
        " books(first: $b) { edges { node { title tags __typename author { name } } } } } } } } }"
    )
    assert limit_of(client, query, {"a": 100, "b": 10}) is None
    each = 1 + 1 + (1 + 1 + 100 * 6)  # node, author, and the page of books below
    assert limit_of(client, query, {"a": 100, "b": 100}) == {
        "name": "cost",
        "limit": LIMITS.cost,
        "actual": PAGE + 1 + 1 + 100 * each,
    }
    assert limit_of(client, query, {"a": 10, "b": 100}) is None


def test_fragment_bomb_is_refused_without_expansion(client: EndpointClient) -> None:
    links = "".join(
        f"fragment f{number} on Author {{ friends {{ ...f{number + 1} }}"
        f" more: friends {{ ...f{number + 1} }} }} "
        for number in range(60)
    )
    query = f"{{ book {{ author {{ ...f0 }} }} }} {links} fragment f60 on Author {{ name }}"
    limit = limit_of(client, query)
    assert limit is not None
    assert limit["name"] == "depth"


def test_mutually_spread_fragments_are_refused_without_expansion(client: EndpointClient) -> None:
    links = "".join(
        f"fragment f{number} on Author {{ name ...f{number + 1} ...f{number + 1} }} "
        for number in range(60)
    )
    query = f"{{ book {{ author {{ ...f0 }} }} }} {links} fragment f60 on Author {{ name }}"
    limit = limit_of(client, query)
    assert limit is not None
    assert (limit["name"], limit["actual"]) == ("cost", 1_000_000_000)


def waits(count: int) -> str:
    return "mutation {" + " ".join(f"m{number}: wait" for number in range(count)) + "}"


def test_mutations_per_document_are_limited(
    installation: Installation, callers: Callers, clock: FakeClock
) -> None:
    client = EndpointClient(replace(installation, graphql_mutations_max=3), callers)
    limit = limit_of(client, waits(4))
    assert limit == {"name": "mutations", "limit": 3, "actual": 4}
    assert clock.now() == START
    assert limit_of(client, waits(3)) is None


def test_mutations_are_counted_through_fragments(client: EndpointClient) -> None:
    spread = " ".join(f"...f{number}" for number in range(11))
    fragments = " ".join(
        f"fragment f{number} on Mutation {{ m{number}: wait }}" for number in range(11)
    )
    limit = limit_of(client, f"mutation {{ {spread} }} {fragments}")
    assert limit == {"name": "mutations", "limit": 10, "actual": 11}


def test_only_the_selected_operation_counts(client: EndpointClient) -> None:
    query = f"{waits(11).replace('mutation', 'mutation A')} query B {{ always }}"
    assert client.post({"query": query, "operationName": "B"}).status_code == 200
    assert client.post({"query": query, "operationName": "A"}).status_code == 400


@cases(
    ("entry", "entries", "name"),
    [
        (waits(6), 2, "mutations"),
        ("{ always " + "#\n" * 2600 + "}", 2, "tokens"),
        ("{" + "always " * 150 + "}", 10, "comparisons"),
        (PAGES, 5, "cost"),
    ],
)
def test_limits_are_summed_over_a_batch_before_execution(
    client: EndpointClient, clock: FakeClock, entry: str, entries: int, name: str
) -> None:
    assert client.run(entry).status_code == 200
    before = clock.now()
    response = client.post([{"query": entry}] * entries)
    assert response.status_code == 400
    assert [entry["errors"][0]["extensions"]["limit"]["name"] for entry in response.json] == [
        name
    ] * entries
    assert clock.now() == before


def test_failing_entries_keep_their_errors_in_an_over_limit_batch(client: EndpointClient) -> None:
    response = client.post([{"query": "{"}, {"query": waits(6)}, {"query": waits(6)}])
    codes = [entry["errors"][0]["extensions"]["exception"]["code"] for entry in response.json]
    assert codes == ["GraphQLSyntaxError", "GraphQLError", "GraphQLError"]


def test_documents_after_the_limit_is_exceeded_are_not_parsed(client: EndpointClient) -> None:
    batch = [{"query": waits(11)}, *({"query": f"{{ a{number} }}"} for number in range(5))]
    assert client.post(batch).status_code == 400
    assert client.documents_read == 1


def test_introspection_under_many_names_is_refused(client: EndpointClient) -> None:
    for count, limit in ((1, None), (20, "cost")):
        named = " ".join(f"a{number}: description" for number in range(count))
        refused = limit_of(client, f"{{ __schema {{ types {{ fields {{ {named} }} }} }} }}")
        assert (refused and refused["name"]) == limit
