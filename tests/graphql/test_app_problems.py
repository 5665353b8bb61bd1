"""Problems that apps report about themselves, by GraphQL."""

from itertools import product
from typing import Any

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

REPORT = """
mutation ($input: AppProblemCreateInput!) {
  appProblemCreate(input: $input) {
    appProblem { id key message count isCritical createdAt updatedAt dismissed { by } }
    errors { field code message }
  }
}
"""
DISMISS = """
mutation ($input: AppProblemDismissInput!) {
  appProblemDismiss(input: $input) { errors { field code message } }
}
"""
PROBLEMS = """
query ($id: ID!) {
  app(id: $id) { problems {
    __typename id key message count isCritical createdAt updatedAt
    dismissed { by userEmail user { email } }
  } }
}
"""
KEY = "payment-gateway"


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def payments(ports: Ports) -> tuple[str, str]:
    """The global ID and the token of an app."""
    key, token = make_app(ports, "Payments")
    return to_global_id("App", key), token


@pytest.fixture
def manager(ports: Ports) -> str:
    permissions = (Permission.MANAGE_APPS, Permission.MANAGE_STAFF)
    return sign_in(ports, make_staff(ports, "boss@example.com", *permissions)).access


def report(api: ApiClient, token: str, **values: object) -> dict[str, Any]:
    input_ = {"key": KEY, "message": "The gateway rejects our key."} | values
    answer = api.run(REPORT, token, input=input_)
    assert answer["errors"] == []
    problem: dict[str, Any] = answer["appProblem"]
    return problem


def problems(api: ApiClient, credential: str, app_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.run(PROBLEMS, credential, id=app_id)["problems"]
    return found


def test_reports_with_a_key_are_counted_within_their_period(
    api: ApiClient, payments: tuple[str, str], clock: FakeClock
) -> None:
    app_id, token = payments
    first = report(api, token, criticalThreshold=3)
    assert (first["count"], first["isCritical"], first["dismissed"]) == (1, False, None)
    clock.pass_(minutes=60)
    second = report(api, token, message="Still rejected.", criticalThreshold=3)
    assert (second["id"], second["count"]) == (first["id"], 2)
    assert second["message"] == "Still rejected."
    assert second["createdAt"] == first["createdAt"] < second["updatedAt"]
    assert report(api, token, criticalThreshold=3)["isCritical"]
    # A higher threshold makes it less.
    assert not report(api, token, criticalThreshold=9)["isCritical"]
    clock.pass_(minutes=61)
    later = report(api, token)
    assert (later["count"], later["id"] != first["id"]) == (1, True)
    assert report(api, token, key="another")["count"] == 1
    assert [one["key"] for one in problems(api, token, app_id)] == ["another", KEY, KEY]


def test_period_of_zero_makes_each_report_a_problem(
    api: ApiClient, payments: tuple[str, str]
) -> None:
    made = {report(api, payments[1], aggregationPeriod=0)["id"] for _ in range(3)}
    assert len(made) == 3
    assert report(api, payments[1], aggregationPeriod=None)["count"] == 2
    assert report(api, payments[1], aggregationPeriod=2**31 - 1)["count"] == 3


@pytest.mark.first
def test_only_the_newest_hundred_problems_of_an_app_are_kept(
    api: ApiClient, payments: tuple[str, str], ports: Ports, manager: str, clock: FakeClock
) -> None:
    _, other = make_app(ports, "Other")
    report(api, other)
    for number in range(102):
        clock.pass_(seconds=1)
        report(api, payments[1], key=f"key-{number}")
    found = problems(api, manager, payments[0])
    assert [one["key"] for one in found] == [f"key-{number}" for number in range(101, 1, -1)]
    assert report(api, other)["count"] == 2


def test_long_message_is_cut_off(api: ApiClient, payments: tuple[str, str]) -> None:
    message = report(api, payments[1], message="x" * 5000)["message"]
    assert (len(message), message[-4:]) == (2048, "x...")


@cases(
    ("changed", "field"),
    [
        ({"key": "ab"}, "key"),
        ({"key": "x" * 129}, "key"),
        ({"key": "with\u202eturn"}, "key"),
        ({"message": "no"}, "message"),
        ({"message": "null\0byte"}, "message"),
        ({"criticalThreshold": 0}, "criticalThreshold"),
    ],
)
def test_unusable_report_is_refused(
    api: ApiClient, payments: tuple[str, str], changed: dict[str, object], field: str
) -> None:
    answer = api.run(REPORT, payments[1], input={"key": KEY, "message": "A message."} | changed)
    assert answer["appProblem"] is None
    assert [(error["field"], error["code"]) for error in answer["errors"]] == [(field, "INVALID")]
    assert problems(api, payments[1], payments[0]) == []


@cases(
    ("value", "name"),
    product([-1, 2**31, 1.5, "5", True], ["criticalThreshold", "aggregationPeriod"]),
)
def test_number_of_another_kind_is_no_valid_variable(
    api: ApiClient, payments: tuple[str, str], name: str, value: object
) -> None:
    input_ = {"key": KEY, "message": "A message.", name: value}
    reply = api.post({"query": REPORT, "variables": {"input": input_}}, payments[1])
    assert reply.status_code == 400
    assert name in reply.json["errors"][0]["message"]


def test_problems_are_for_the_app_itself_and_those_who_manage_apps(
    api: ApiClient, payments: tuple[str, str], ports: Ports, manager: str
) -> None:
    app_id, token = payments
    report(api, token)
    assert len(problems(api, token, app_id)) == len(problems(api, manager, app_id)) == 1
    staff = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_ORDERS)).access
    assert api.code(PROBLEMS, staff, id=app_id) == "PermissionDenied"
    _, other = make_app(ports, "Other", Permission.MANAGE_ORDERS)
    assert api.code(PROBLEMS, other, id=app_id) == "PermissionDenied"


def test_limit_is_from_one_to_a_hundred(
    api: ApiClient, payments: tuple[str, str], manager: str
) -> None:
    report(api, payments[1])
    report(api, payments[1], key="another")
    query = (
        "query ($id: ID! $limit: PositiveInt) { app(id: $id) { problems(limit: $limit) { key } } }"
    )
    assert api.run(query, manager, id=payments[0], limit=1) == {"problems": [{"key": "another"}]}
    assert len(api.run(query, manager, id=payments[0], limit=100)["problems"]) == 2
    for limit in (0, 101):
        assert api.code(query, manager, id=payments[0], limit=limit) == "GraphQLError"


def test_person_dismisses_problems_by_id_and_by_key(
    api: ApiClient, payments: tuple[str, str], manager: str, ports: Ports
) -> None:
    app_id, token = payments
    by_id = report(api, token)["id"]
    report(api, token, key="another")
    report(api, token, key="kept")
    assert api.run(DISMISS, manager, input={"byStaffWithIds": {"ids": [by_id]}}) == {"errors": []}
    by_key = {"keys": ["another"], "app": app_id}
    assert api.run(DISMISS, manager, input={"byStaffWithKeys": by_key}) == {"errors": []}
    person = {"by": "USER", "userEmail": "boss@example.com", "user": {"email": "boss@example.com"}}
    assert {one["key"]: one["dismissed"] for one in problems(api, manager, app_id)} == {
        KEY: person,
        "another": person,
        "kept": None,
    }
    # What happens again is another problem.
    assert report(api, token)["count"] == 1


def test_app_dismisses_its_own_problems_alone(
    api: ApiClient, payments: tuple[str, str], manager: str, ports: Ports
) -> None:
    app_id, token = payments
    other_key, other = make_app(ports, "Other")
    own, foreign = report(api, token)["id"], report(api, other)["id"]
    refused = api.run(DISMISS, token, input={"byApp": {"ids": [own, foreign]}})["errors"]
    assert [(error["field"], error["code"]) for error in refused] == [("ids", "INVALID")]
    assert api.run(DISMISS, token, input={"byApp": {"keys": [KEY]}}) == {"errors": []}
    (dismissed,) = problems(api, manager, app_id)
    assert dismissed["dismissed"] == {"by": "APP", "userEmail": None, "user": None}
    (kept,) = problems(api, manager, to_global_id("App", other_key))
    assert kept["dismissed"] is None
    assert api.run(DISMISS, other, input={"byApp": {"ids": [foreign]}}) == {"errors": []}


@cases(
    ("caller", "input_", "expected"),
    [
        ("manager", {}, ("input", "INVALID")),
        ("manager", {"byApp": {"keys": [KEY]}}, ("byApp", "INVALID")),
        ("manager", {"byStaffWithIds": {"ids": ["nonsense"]}}, ("ids", "NOT_FOUND")),
        ("manager", {"byStaffWithKeys": {"keys": [KEY], "app": "QXBwOjk5"}}, ("app", "NOT_FOUND")),
        ("manager", {"byStaffWithIds": {"ids": ["QXBwUHJvYmxlbTox"] * 101}}, ("ids", "INVALID")),
        ("app", {"byStaffWithIds": {"ids": []}}, ("byStaffWithIds", "INVALID")),
        ("app", {"byApp": {}}, ("byApp", "REQUIRED")),
        ("app", {"byApp": {"keys": [KEY], "ids": ["QXBwUHJvYmxlbTox"]}}, ("byApp", "INVALID")),
    ],
)
def test_unusable_dismissal_is_refused(
    api: ApiClient,
    payments: tuple[str, str],
    manager: str,
    caller: str,
    input_: dict[str, object],
    expected: tuple[str, str],
) -> None:
    credential = {"manager": manager, "app": payments[1]}[caller]
    (error,) = api.run(DISMISS, credential, input=input_)["errors"]
    assert (error["field"], error["code"]) == expected


def test_email_stays_when_the_account_is_deleted_and_user_needs_manage_staff(
    api: ApiClient, payments: tuple[str, str], ports: Ports, manager: str
) -> None:
    app_id, token = payments
    other = make_staff(ports, "other@example.com", Permission.MANAGE_APPS)
    credential = sign_in(ports, other).access
    ids = [report(api, token)["id"]]
    api.run(DISMISS, credential, input={"byStaffWithIds": {"ids": ids}})
    response = api.ask(PROBLEMS, credential, id=app_id)
    assert response["errors"][0]["extensions"]["requiredPermissions"] == ["MANAGE_STAFF"]
    denied = {
        tuple(error["extensions"]["requiredPermissions"])
        for error in api.ask(PROBLEMS, token, id=app_id)["errors"]
    }
    assert denied == {("MANAGE_STAFF",), ("AUTHENTICATED_STAFF_USER",)}
    with ports.database.transaction() as session:
        session.execute(delete(models.User).where(models.User.id == other))
    (problem,) = problems(api, manager, app_id)
    assert problem["dismissed"] == {"by": "USER", "userEmail": "other@example.com", "user": None}


def test_problems_of_a_page_of_apps_take_as_many_statements_as_those_of_one(
    api: ApiClient, payments: tuple[str, str], ports: Ports, manager: str
) -> None:
    query = "{ apps(first: 9) { edges { node {"
    query += " problems { key dismissed { user { email } } } } } } }"

    def count() -> int:
        with recorded_statements() as statements:
            assert "errors" not in api.ask(query, manager)
        return len(selects(statements))

    ids = [report(api, payments[1])["id"]]
    api.run(DISMISS, manager, input={"byStaffWithIds": {"ids": ids}})
    before = count()
    for number in range(4):
        _, token = make_app(ports, f"App {number}")
        ids = [report(api, token)["id"]]
        api.run(DISMISS, manager, input={"byStaffWithIds": {"ids": ids}})
    assert count() == before


def test_customers_and_people_report_nothing(api: ApiClient, ports: Ports, manager: str) -> None:
    customer = sign_in(ports, make_user(ports, "c@example.com")).access
    for credential in (None, customer, manager):
        input_ = {"key": KEY, "message": "A message."}
        assert api.code(REPORT, credential, input=input_) == "PermissionDenied"
    for credential in (None, customer):
        dismissed = {"byApp": {"keys": [KEY]}}
        assert api.code(DISMISS, credential, input=dismissed) == "PermissionDenied"
