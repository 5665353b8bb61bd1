"""What was sent before is neither parsed nor validated again."""

import gc
import tracemalloc

import pytest
from graphql import get_introspection_query

from app.graphql.server.cache import Cache
from app.graphql.server.limits import Allowance
from app.graphql.server.request_execution import Documents
from tests.graphql.endpoint_client import EndpointClient
from tests.graphql.sample_schema import LIBRARY


def test_document_is_parsed_once(client: EndpointClient) -> None:
    query = "query($n: String) { greeting(name: $n) }"
    for name in ("a", "b", "c"):
        assert client.run(query, {"n": name}).json == {"data": {"greeting": f"Hello, {name}"}}
    assert client.documents_read == 1


def test_invalid_document_is_parsed_once(client: EndpointClient) -> None:
    answers = [client.run("{ nothing }").json for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert client.documents_read == 1


def test_different_documents_are_parsed_separately(client: EndpointClient) -> None:
    for query in ("{ always }", "{ always } ", "{always}"):
        client.run(query)
    assert client.documents_read == 3


def test_operations_of_one_document_are_cached_separately(client: EndpointClient) -> None:
    query = "query A { always } mutation B { wait }"
    for _ in range(2):
        assert client.post({"query": query, "operationName": "A"}).json["data"] == {
            "always": "always"
        }
        assert client.post({"query": query, "operationName": "B"}).json["data"] == {"wait": 1}
    assert client.documents_read == 1


def test_introspection_is_executed_once_for_each_set_of_variables(client: EndpointClient) -> None:
    query = "query($n: String!) { __type(name: $n) { name } }"
    for name in ("Book", "Author", "Book"):
        assert client.run(query, {"n": name}).json == {"data": {"__type": {"name": name}}}
    introspections = client.endpoint.exchange.introspections
    assert (len(introspections), introspections.hits) == (2, 1)


def test_failed_introspection_is_not_cached(client: EndpointClient) -> None:
    assert client.run("query($n: String!) { __type(name: $n) { name } }").status_code == 400
    assert len(client.endpoint.exchange.introspections) == 0


def test_introspection_is_cached_by_operation(client: EndpointClient) -> None:
    query = 'query A { __type(name: "Book") { name } } query B { __typename }'
    for name, data in (("A", {"__type": {"name": "Book"}}), ("B", {"__typename": "Query"})) * 2:
        assert client.post({"query": query, "operationName": name}).json == {"data": data}


@pytest.mark.parametrize(
    "query", ["{ __typename caller }", "{ __typename ...F } fragment F on Query { caller }"]
)
def test_response_that_depends_on_the_caller_is_never_cached(
    client: EndpointClient, query: str
) -> None:
    for credential, name in (("staff", "staff"), ("customer", "customer"), (None, "anonymous")):
        response = client.run(query, credential=credential)
        assert response.json["data"] == {"__typename": "Query", "caller": name}


def test_mutation_selecting_only_typename_is_executed(client: EndpointClient) -> None:
    assert client.run("mutation { __typename }").json == {"data": {"__typename": "Mutation"}}


@pytest.mark.first
def test_estimated_document_size_is_close_to_the_real_size() -> None:
    documents = Documents(LIBRARY, hide_suggestions=False)
    texts = [get_introspection_query() + f"# {number}" for number in range(8)]
    documents.get("{ always }", Allowance(2000))
    tracemalloc.start()
    for text in texts:
        documents.get(text, Allowance(2000))
    gc.collect()  # what parsing left behind in cycles isn't kept
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken / 2 < documents.size < taken * 2


def test_cache_evicts_the_least_recently_used_entry() -> None:
    cache: Cache[str, int] = Cache(entries=2, size=1000)
    cache.put("a", 1, 10)
    cache.put("b", 2, 10)
    assert cache.get("a") == 1
    cache.put("c", 3, 10)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert (len(cache), cache.used) == (2, 20)


def test_cache_stays_below_its_size() -> None:
    cache: Cache[int, str] = Cache(entries=1000, size=100)
    for number in range(50):
        cache.put(number, "x", 9)
    assert len(cache) == 11
    assert cache.used == 99


def test_cache_refuses_oversized_entries() -> None:
    cache: Cache[int, str] = Cache(entries=10, size=100)
    cache.put(1, "x", 11)
    assert cache.get(1) is None
    assert cache.used == 0


def test_cache_counts_a_replaced_value_once() -> None:
    cache: Cache[int, str] = Cache(entries=10, size=100)
    cache.put(1, "x", 10)
    cache.put(1, "y", 7)
    assert (cache.get(1), cache.used, len(cache)) == ("y", 7, 1)
