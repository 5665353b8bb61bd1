"""The limits of documents and bodies are settings; each applies as it is configured."""

from dataclasses import replace

from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient, messages
from tests.graphql.fake_identity import Callers
from tests.graphql.test_limits import LIMITS, aliases, limit_of


@cases(
    ("setting", "query", "name"),
    [
        ("graphql_tokens_max", "{ always greeting caller }", "tokens"),
        ("graphql_depth_max", "{ book { author { favourite { title } } } }", "depth"),
        ("graphql_aliases_max", aliases(4), "aliases"),
        ("graphql_cost_max", "{ book { title tags } always }", "cost"),
    ],
)
def test_document_limits_are_settings(
    installation: Installation, callers: Callers, setting: str, query: str, name: str
) -> None:
    assert limit_of(EndpointClient(installation, callers), query) is None
    limit = limit_of(EndpointClient(replace(installation, **{setting: 3}), callers), query)  # type: ignore[arg-type]
    assert limit is not None
    assert (limit["name"], limit["limit"]) == (name, 3)


def test_values_of_a_body_are_limited_by_a_setting(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, graphql_values_max=20), callers)
    assert client.run("{ always }", {"a": list(range(14))}).status_code == 200
    assert client.run("{ always }", {"a": ", [[{" * 100}).status_code == 200
    response = client.run("{ always }", {"a": list(range(30))})
    assert response.status_code == 400
    assert messages(response) == ["The body contains more than 20 values; the limit is 20."]


def test_each_operation_of_a_batch_can_use_all_aliases(client: EndpointClient) -> None:
    response = client.post([{"query": aliases(LIMITS.aliases)}] * 10)
    assert response.status_code == 200
