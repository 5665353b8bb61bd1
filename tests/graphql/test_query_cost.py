"""How large an operation is taken for."""

import pytest
from graphql import GraphQLError, build_schema, parse

from app.graphql.server.limits import CEILING, Load
from app.graphql.server.operations import Document
from app.graphql.server.query_cost import CONDITION, LISTED_VALUE, LOOKUP, PAGE, SEARCH, WEBHOOKS
from tests.fixtures.cases import cases
from tests.graphql.sample_schema import LIBRARY


def load_of(query: str, **variables: object) -> Load:
    return Document(LIBRARY, parse(query)).operation(None).load(variables)


@cases(
    ("query", "cost"),
    [
        ("{ always }", 1),
        ("{ always caller }", 2),
        ("{ always ...F } fragment F on Query { caller }", 2),
        ("{ always ... { caller } }", 2),
        ("{ book { title } }", 2),
        ("{ book { tags } }", 2),
        # A plain list is taken for ten items.
        ("{ book { author { friends { name } } } }", 3 + 10),
        ("{ book { author { friends { friends { name } } } } }", 3 + 10 * (1 + 10)),
        # A page multiplies the list in the connection, and what stands beside it counts once.
        ("{ books(first: 7) { totalCount } }", 2),
        ("{ books(first: 7) { totalCount edges { node { title } } } }", 1 + 1 + 1 + 7 * 2),
        ("{ books(first: 7) { ...C } } fragment C on BookConnection { edges { node { title } } }",
         2 + 14),
        ("{ books(last: 7) { edges { node { title } } } }", 2 + 14),
        ("{ books(first: 3, last: 7) { edges { node { title } } } }", 2 + 14),
        ("{ books(first: 0) { edges { node { title } } } }", 2),
        # Without a size it is the largest page, or the field's own default.
        ("{ books { edges { node { title } } } }", 2 + 200),
        ("{ books(first: null) { edges { node { title } } } }", 2 + 200),
        ("{ page { edges { node { title } } } }", 2 + 40),
        ("{ book { reviews(first: 7) { title } } }", 2 + 7),
    ],
)  # fmt: skip
def test_cost_is_close_to_the_number_of_values(query: str, cost: int) -> None:
    pages = query.startswith(("{ books", "{ page"))
    assert load_of(query).cost == cost + PAGE * pages


def test_lookups_at_the_root_cost_more() -> None:
    assert load_of("{ always greeting caller }").cost == 2 + 1 + LOOKUP
    assert load_of("{ a: greeting b: greeting }").cost == 2 + 2 * LOOKUP


def test_page_sizes_in_variables_count() -> None:
    query = "query($n: Int) { books(first: $n) { edges { node { title } } } }"
    assert [load_of(query, n=size).cost for size in (1, 50, None)] == [
        PAGE + cost for cost in (4, 102, 202)
    ]


def test_cost_is_computed_again_only_for_new_page_sizes() -> None:
    query = "query($n: Int, $s: String) { greeting(name: $s) books(first: $n) { totalCount } }"
    operation = Document(LIBRARY, parse(query)).operation(None)
    first = operation.load({"n": 5, "s": "a"})
    assert operation.load({"n": 5, "s": "b"}) is first
    assert operation.load({"n": 6, "s": "a"}).page_size == 6
    for size in range(100):
        assert operation.load({"n": size, "s": "a"}).page_size == size


SHELF = build_schema(
    """
    type Query { books(first: Int, search: String, filter: BookFilter): Books }
    type Books { totalCount: Int, related(first: Int, filter: BookFilter): Books }
    input BookFilter { search: String, ids: [ID!], isNew: Boolean, price: Price }
    input Price { gte: Int, lte: Int }
    """
)
"""A schema with filters."""


def sought(arguments: str, **variables: object) -> int:
    """Return what finding the items costs, apart from the page."""
    query = (
        f"query($f: BookFilter, $s: String, $i: [ID!]) {{ books({arguments}) {{ totalCount }} }}"
    )
    document = Document(SHELF, parse(query))
    return document.operation(None).load(variables).cost - PAGE - 2


@cases(
    ("arguments", "cost"),
    [
        ("first: 1", 0),
        ('search: "bowl"', SEARCH),
        ('search: ""', 0),
        ("search: null", 0),
        ('filter: { search: "bowl" }', SEARCH),
        ('search: "bowl", filter: { isNew: true }', SEARCH),
        ("filter: { isNew: true, price: { gte: 1, lte: 9 } }", CONDITION),
        ("filter: { isNew: null, price: {} }", 0),
        ('filter: { ids: ["a", "b"] }', 2 * LISTED_VALUE),
        ('filter: { ids: ["a"], isNew: true }', CONDITION + LISTED_VALUE),
        ("filter: { ids: $i }", 1000 * LISTED_VALUE),
        ("filter: { search: $s }", SEARCH),
        ("search: $s", SEARCH),
        ("filter: $f", SEARCH + 1000 * LISTED_VALUE),
    ],
)
def test_cost_counts_what_finding_the_items_costs(arguments: str, cost: int) -> None:
    ids = ["a"] * 1000
    assert sought(arguments, s="bowl", i=ids, f={"search": "bowl", "ids": ids}) == cost


def test_filters_of_nested_lists_cost_nothing_more() -> None:
    query = "{ books(first: 1) { related(first: 5, filter: { isNew: true }) { totalCount } } }"
    assert Document(SHELF, parse(query)).operation(None).load({}).cost == PAGE + 3


def test_filters_in_variables_are_weighed_for_each_request() -> None:
    query = "query($i: [ID!]) { books(first: 1, filter: { ids: $i }) { totalCount } }"
    operation = Document(SHELF, parse(query)).operation(None)
    costs = [operation.load({"i": ["a"] * count}).cost for count in (1, 1000, 1)]
    assert costs[1] - costs[0] == 999 * LISTED_VALUE
    assert costs[2] == costs[0]


GRAPH = build_schema(
    """
    type Query { _entities(representations: [Any!]!): [Entity]! _service: Service! }
    union Entity = Book | Author
    type Book { title: String, authors(first: Int): [Author] }
    type Author { name: String }
    type Service { sdl: String! }
    scalar Any
    """
)
"""A part of a federated graph."""

TITLES = "... on Book { title }"


def entities(given: str, selected: str = TITLES, **variables: object) -> Load:
    query = f"query($r: [Any!]!) {{ _entities(representations: {given}) {{ {selected} }} }}"
    return Document(GRAPH, parse(query)).operation(None).load(variables)


@cases(
    ("given", "selected", "number", "values"),
    [
        ("[]", TITLES, 0, 0),
        ("{}", TITLES, 1, 1),
        ("[{}]", TITLES, 1, 1),
        ("[$r, {}, {}]", TITLES, 3, 3),
        ("$r", TITLES, 40, 40),
        ("$r", "__typename ... on Book { title } ... on Author { name }", 40, 120),
        ("$r", "... on Book { authors(first: 7) { name } }", 40, 40 * 8),
    ],
)
def test_each_entity_costs_what_is_selected_of_it(
    given: str, selected: str, number: int, values: int
) -> None:
    load = entities(given, selected, r=[{}] * 40)
    looking = PAGE * min(number, 2) + LISTED_VALUE * number  # a statement for each type
    assert load.cost == 1 + looking + values
    assert load.entities == number


def test_entities_in_variables_are_weighed_for_each_request() -> None:
    query = f"query($r: [Any!]!) {{ _entities(representations: $r) {{ {TITLES} }} }}"
    operation = Document(GRAPH, parse(query)).operation(None)
    first, second = (operation.load({"r": [{}] * size}) for size in (2, 90))
    assert (first.entities, second.entities) == (2, 90)
    assert second.cost - first.cost == 88 * (1 + LISTED_VALUE)
    assert operation.load({"r": [{"other": 1}] * 90}) is second


def test_schema_of_a_subgraph_costs_as_much_as_its_length() -> None:
    once, twice = (
        Document(GRAPH, parse(query)).operation(None).load({}).cost
        for query in ("{ _service { sdl } }", "{ _service { sdl } again: _service { sdl } }")
    )
    assert twice == 2 * once
    assert once > 20 * PAGE


def test_depth_aliases_and_mutations_are_counted_through_fragments() -> None:
    query = (
        "mutation { wait a: wait ...F ...F }"
        "fragment F on Mutation { b: wait ... on Mutation { c: wait } }"
    )
    assert load_of(query) == Load(depth=1, aliases=5, cost=6, mutations=6)


def test_queries_have_no_mutations() -> None:
    assert load_of("{ always greeting }").mutations == 0


def test_batch_sums_cost_and_mutations_and_takes_the_maximum_of_the_rest() -> None:
    one = Load(depth=2, aliases=3, cost=4, page_size=5, mutations=6)
    two = Load(depth=1, aliases=30, cost=40, page_size=4, mutations=60)
    assert one + two == Load(depth=2, aliases=30, cost=44, page_size=5, mutations=66)


def test_counting_stops_at_the_limit() -> None:
    huge = Load(aliases=CEILING, cost=CEILING, mutations=CEILING)
    assert huge + huge == huge


def test_unsupported_operation_type_is_refused() -> None:
    schema = build_schema("type Query { always: String }")
    with pytest.raises(GraphQLError, match="The schema has no mutation operations"):
        Document(schema, parse("mutation { always }")).operation(None)


INTEGRATIONS = build_schema(
    """
    type Query { apps(first: Int): Apps, app: App, all: [App] }
    type Apps { edges: [AppEdge] }
    type AppEdge { node: App }
    type App { id: ID, webhooks: [Webhook], friends(first: Int): Apps }
    type Webhook { id: ID, app: App, deliveries(first: Int): Deliveries }
    type Deliveries { edges: [DeliveryEdge] }
    type DeliveryEdge { node: Delivery }
    type Delivery { id: ID }
    """
)
"""A schema whose apps own their webhooks."""


def integration_cost(query: str, webhooks: int | None = None) -> int:
    operation = Document(INTEGRATIONS, parse(query)).operation(None)
    return operation.load({}, {} if webhooks is None else {WEBHOOKS: webhooks}).cost


@cases(
    ("query", "unknown", "three"),
    [
        # A page of apps has each webhook once.
        ("{ apps(first: 50) { edges { node { webhooks { id } } } } }",
         2 + PAGE + 50 * 2 + 500, 2 + PAGE + 50 * 2 + 3),
        (("{ apps(first: 50) { edges { ...E } } } fragment E on AppEdge { node { ...A } }"
         " fragment A on App { webhooks { id } }"),
         2 + PAGE + 100 + 500, 2 + PAGE + 100 + 3),
        # Under two names it has them twice.
        ("{ apps(first: 50) { edges { node { webhooks { id } w: webhooks { id } } } } }",
         2 + PAGE + 50 * 3 + 1000, 2 + PAGE + 50 * 3 + 6),
        # Fewer than are stored, if the page is small.
        ("{ apps(first: 0) { edges { node { webhooks { id } } } } }", 2 + PAGE, 2 + PAGE),
        (("{ apps(first: 50) { edges { node { webhooks { deliveries(first: 4) { edges { node { id "
         "} } } } } } } }"),
         2 + PAGE + 100 + 500 * (2 + 4 * 2), 2 + PAGE + 100 + 3 * (2 + 4 * 2)),
        # Anywhere else an app, and so its webhooks, can come again.
        ("{ app { webhooks { id } } }", 2 + 10, 2 + 10),
        ("{ all { webhooks { id } } }", 1 + 10 * (1 + 10), 1 + 10 * (1 + 10)),
        ("{ app { friends(first: 5) { edges { node { webhooks { id } } } } } }",
         3 + 5 * 2 + 50, 3 + 5 * 2 + 50),
        ("{ apps(first: 50) { edges { node { webhooks { app { webhooks { id } } } } } } }",
         2 + PAGE + 100 + 500 * (2 + 10), 2 + PAGE + 100 + 3 * (2 + 10)),
        (("{ apps(first: 50) { edges { node { friends(first: 5) { edges { node { webhooks { id } "
         "} } } } } } }"),
         2 + PAGE + 50 * (3 + 5 * 2 + 50), 2 + PAGE + 50 * (3 + 5 * 2 + 50)),
    ],
)  # fmt: skip
def test_webhooks_of_a_page_of_apps_are_as_many_as_are_stored(
    query: str, unknown: int, three: int
) -> None:
    assert integration_cost(query) == unknown
    assert integration_cost(query, webhooks=3) == three
    assert integration_cost(query, webhooks=10**6) == unknown
