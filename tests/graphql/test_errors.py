"""What clients read when something went wrong, and what they never read."""

import graphene
from structlog.testing import capture_logs
from typing_extensions import override

from app.domain.values.errors import Problem
from app.graphql.types.problems import StaffError
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor
from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient
from tests.graphql.fake_identity import Callers
from tests.graphql.sample_schema import SECRET


def test_denied_field_names_the_missing_permission(client: EndpointClient) -> None:
    response = client.run("{ denied }")
    assert response.json == {
        "errors": [
            {
                "message": "To access this path, you need one of the following permissions: "
                "MANAGE_APPS, MANAGE_USERS",
                "locations": [{"line": 1, "column": 3}],
                "path": ["denied"],
                "extensions": {
                    "exception": {"code": "PermissionDenied"},
                    "requiredPermissions": ["MANAGE_APPS", "MANAGE_USERS"],
                },
            }
        ],
        "data": {"denied": None},
    }


@cases(
    ("field", "code", "message"),
    [
        ("rejected", "InvalidSignatureError", "Signature verification failed"),
        ("refused", "GraphQLError", "There is no such thing."),
        ("complaint", "GraphQLError", "Say first or last."),
    ],
)
def test_refused_field_has_the_rules_message(
    client: EndpointClient, field: str, code: str, message: str
) -> None:
    (error,) = client.run(f"{{ {field} }}").json["errors"]
    assert error["message"] == message
    assert error["path"] == [field]
    assert error["extensions"] == {"exception": {"code": code}}


def test_rate_limited_field_has_retry_after(client: EndpointClient) -> None:
    response = client.run("{ limited always }")
    assert response.status_code == 200
    assert response.json["data"] == {"limited": None, "always": "always"}
    (error,) = response.json["errors"]
    assert error["message"] == "Too many requests. Try again in 30 seconds."
    assert error["path"] == ["limited"]
    assert error["extensions"] == {
        "code": "TOO_MANY_REQUESTS",
        "retryAfter": 30,
        "exception": {"code": "TOO_MANY_REQUESTS"},
    }


def test_path_leads_to_the_item_of_a_list_below_other_fields(client: EndpointClient) -> None:
    answer = client.run("{ leaflets { more: others { title others { cause: failing } } } }").json
    item = {"title": "The Tides", "others": [{"cause": None}, None, {"cause": None}]}
    assert answer["data"] == {"leaflets": [{"more": [item, None, item]}] * 2}
    assert [error["path"] for error in answer["errors"]] == [
        ["leaflets", first, "more", second, "others", third, "cause"]
        for first in (0, 1)
        for second in (0, 2)
        for third in (0, 2)
    ]


def test_syntax_error_has_its_location_and_no_path(client: EndpointClient) -> None:
    (error,) = client.run("{ greeting ").json["errors"]
    assert error["locations"] == [{"line": 1, "column": 12}]
    assert "path" not in error
    assert error["extensions"] == {"exception": {"code": "GraphQLSyntaxError"}}


@cases("field", ["broken", "brokenAlways", "misfit", "endless"])
def test_internal_error_is_masked_with_its_log_id(client: EndpointClient, field: str) -> None:
    with capture_logs() as logs:
        response = client.run(f"{{ {field} }}")
    (error,) = response.json["errors"]
    assert response.status_code == 200
    assert error.keys() == {"message", "locations", "path", "extensions"}
    assert error["message"] == "Internal Server Error"
    assert error["extensions"].keys() == {"requestId"}
    assert SECRET not in response.text
    (entry,) = [entry for entry in logs if entry["event"] == "graphql.fault"]
    assert entry["request_id"] == error["extensions"]["requestId"]
    assert entry["path"] == [field]
    assert isinstance(entry["exc_info"], Exception)


def test_each_fault_has_its_own_id(client: EndpointClient) -> None:
    first, second = client.run("{ broken again: broken }").json["errors"]
    assert first["extensions"] != second["extensions"]


def test_fault_outside_any_field_answers_500_and_is_masked(installation: Installation) -> None:
    client = EndpointClient(installation, _FailingCallers())
    with capture_logs() as logs:
        response = client.run("{ greeting }")
    (error,) = response.json["errors"]
    assert response.status_code == 500
    assert error["message"] == "Internal Server Error"
    assert [entry["request_id"] for entry in logs] == [error["extensions"]["requestId"]]
    assert SECRET not in response.text


class _FailingCallers(Callers):
    @override
    def identify(self, _ports: Ports, visitor: Visitor) -> Identity:
        raise ConnectionError(SECRET)


def test_unserializable_value_fails_its_field(client: EndpointClient) -> None:
    response = client.post([{"query": "{ unwritable }"}, {"query": "{ always }"}])
    assert response.status_code == 500
    assert [error["message"] for error in response.json[0]["errors"]] == ["Internal Server Error"]
    assert response.json[1] == {"data": {"always": "always"}}
    assert SECRET not in response.text


def test_closed_traffic_at_a_field_has_the_same_error(client: EndpointClient) -> None:
    (error,) = client.run("{ closed }").json["errors"]
    assert error["message"] == "Storefront traffic is not allowed."
    assert error["extensions"] == {"code": "STOREFRONT_TRAFFIC_NOT_ALLOWED"}


def test_schema_names_are_suggested_in_development_only(
    installation: Installation, callers: Callers, production: Installation
) -> None:
    query = "query($n: Strng) { greetin(name: $n) }"
    assert "greeting" in EndpointClient(installation, callers).run(query).text
    assert "greeting" not in EndpointClient(production, callers).run(query).text


def test_payload_errors_have_null_for_absent_values() -> None:
    problems = (
        Problem("INVALID", "It is wrong.", "email"),
        Problem("OUT_OF_SCOPE_PERMISSION", "Too much.", permissions=("MANAGE_APPS",)),
    )
    errors = graphene.List(StaffError, resolver=lambda *_: problems)
    root = type("Query", (graphene.ObjectType,), {"errors": errors})
    query = "{ errors { field code message permissions groups users addressType } }"
    result = graphene.Schema(root).execute(query)
    assert result.data is not None
    first, second = result.data["errors"]
    absent = dict.fromkeys(("permissions", "groups", "users", "addressType"))
    assert first == {"field": "email", "code": "INVALID", "message": "It is wrong.", **absent}
    assert (second["field"], second["permissions"]) == (None, ["MANAGE_APPS"])
