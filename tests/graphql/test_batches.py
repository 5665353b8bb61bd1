"""Several operations in one request (contract, "HTTP")."""

from dataclasses import replace

from app.web.installation import Installation
from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient, messages
from tests.graphql.fake_identity import STAFF, Callers

GREETING = {"query": "{ greeting }"}
WHO = {"query": "{ caller }"}
WAIT = {"query": "mutation { wait }"}


def test_batch_responses_are_in_the_order_of_its_entries(client: EndpointClient) -> None:
    query = "query($n: String) { greeting(name: $n) }"
    batch = [{"query": query, "variables": {"n": str(number)}} for number in range(10)]
    response = client.post(batch)
    assert response.status_code == 200
    assert response.json == [{"data": {"greeting": f"Hello, {number}"}} for number in range(10)]


def test_batch_of_one_returns_a_list(client: EndpointClient) -> None:
    assert client.post([GREETING]).json == [{"data": {"greeting": "Hello, you"}}]


def test_empty_batch_returns_an_empty_list(client: EndpointClient) -> None:
    response = client.post([])
    assert (response.status_code, response.json) == (200, [])


def test_batch_over_the_limit_is_400_and_not_executed(
    installation: Installation, callers: Callers, clock: FakeClock
) -> None:
    client = EndpointClient(replace(installation, graphql_batch_max=2), callers)
    assert client.post([WAIT, WAIT]).status_code == 200
    response = client.post([WAIT, WAIT, WAIT])
    assert response.status_code == 400
    assert messages(response) == ["A batch can have at most 2 operations; this one has 3."]
    assert clock.timestamp() - START.timestamp() == 2


@cases("entry", [5, None, "{ greeting }", [], True])
def test_non_object_entry_is_400_and_not_executed(
    client: EndpointClient, clock: FakeClock, entry: object
) -> None:
    response = client.post([WAIT, entry])
    assert response.status_code == 400
    assert response.json.keys() == {"errors"}
    assert clock.now() == START


@cases(
    "bad",
    [
        {"query": "{"},
        {"query": "{ nothing }"},
        {"query": None},
        {},
        {"query": "{ greeting }", "variables": []},
        {"query": "query A { greeting }", "operationName": "B"},
    ],
)
def test_invalid_entry_fails_alone_and_sets_the_status(
    client: EndpointClient, bad: object
) -> None:
    response = client.post([GREETING, bad, GREETING])
    assert response.status_code == 400
    assert [sorted(entry) for entry in response.json] == [["data"], ["errors"], ["data"]]


def test_caller_is_identified_once_for_queries(client: EndpointClient, callers: Callers) -> None:
    client.post([WHO, WHO, WHO], credential=STAFF)
    assert callers.calls == 1


def test_mutation_of_the_caller_applies_to_later_entries(
    client: EndpointClient, callers: Callers
) -> None:
    callers.good_for[STAFF] = 1
    response = client.post([WHO, WAIT, WHO, WHO], credential=STAFF)
    callers_seen = [entry["data"].get("caller") for entry in response.json]
    assert callers_seen == [STAFF, None, "anonymous", "anonymous"]
    assert callers.calls == 2


def test_later_entries_are_refused_after_the_caller_loses_access(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    callers.good_for[STAFF] = 1
    response = client.post([WAIT, WHO], credential=STAFF)
    assert response.status_code == 401
    assert response.json[0] == {"data": {"wait": 1}}
    assert messages_of(response.json[1]) == ["Storefront traffic is not allowed."]


def test_entries_after_a_fault_are_executed(client: EndpointClient) -> None:
    response = client.post([{"query": "{ brokenAlways }"}, GREETING])
    assert response.status_code == 200
    assert response.json[0]["data"] is None
    assert response.json[1] == {"data": {"greeting": "Hello, you"}}


def messages_of(entry: dict[str, list[dict[str, str]]]) -> list[str]:
    return [error["message"] for error in entry["errors"]]


@cases(
    ("large", "name"),
    [
        (f"{{ book {'{ author { favourite ' * 8}{{ title }}{' } }' * 8} }}", "depth"),
        ("{ books(first: 101) { totalCount } }", "page_size"),
    ],
)
def test_each_entry_is_checked_against_the_limits(
    client: EndpointClient, large: str, name: str
) -> None:
    response = client.post([GREETING, {"query": large}])
    assert response.status_code == 400
    limit = response.json[1]["errors"][0]["extensions"]["limit"]["name"]
    assert limit == name
