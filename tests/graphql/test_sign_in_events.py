"""`signInEvents`: the sign-in log in the API."""

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.people import ADDRESS, make_staff, make_user, sign_in
from tests.builders.sign_in_events import make_sign_in
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient

FIELDS = """
query Log($filter: SignInEventFilterInput) {
  signInEvents(first: 10, filter: $filter) {
    totalCount
    edges { node {
      id at firstAt attempts method result reason accountType userId appId name provider
      address device inConsole
    } }
  }
}
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def boss(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)).access


def test_attempt_has_all_fields(ports: Ports, api: ApiClient, clock: FakeClock, boss: str) -> None:
    user_id = make_user(ports)
    first = clock.now()
    clock.pass_(seconds=30)
    make_sign_in(
        ports,
        first_at=first,
        attempts=6,
        reason="INCORRECT_PASSWORD",
        user_id=user_id,
        name="customer@example.com",
    )
    make_sign_in(
        ports,
        method="SSO",
        account_type="STAFF",
        provider="Northlight ID",
        address="",
        in_console=True,
        app_id=3,
    )
    response = api.run(FIELDS, boss)
    success, failure = (edge["node"] for edge in response["edges"])
    assert failure == {
        "id": to_global_id("SignInEvent", 1),
        "at": clock.now().isoformat(),
        "firstAt": first.isoformat(),
        "attempts": 6,
        "method": "PASSWORD",
        "result": "FAILED",
        "reason": "INCORRECT_PASSWORD",
        "accountType": "CUSTOMER",
        "userId": to_global_id("User", user_id),
        "appId": None,
        "name": "customer@example.com",
        "provider": None,
        "address": ADDRESS,
        "device": "Safari on iPhone",
        "inConsole": False,
    }
    assert (success["result"], success["reason"], success["inConsole"]) == (
        "SUCCESSFUL",
        None,
        True,
    )
    assert (success["provider"], success["address"]) == ("Northlight ID", None)
    assert success["appId"] == to_global_id("App", 3)
    assert response["totalCount"] == 2


def test_attempts_are_filtered(ports: Ports, api: ApiClient, boss: str) -> None:
    make_sign_in(ports, user_id=77, name="ann@example.com")
    make_sign_in(ports, reason="BLOCKED_IP", address="192.0.2.9")
    make_sign_in(ports, method="SSO", account_type="STAFF", app_id=8)
    for filter_, numbers in (
        ({"result": "FAILED"}, [2]),
        ({"result": "SUCCESSFUL"}, [3, 1]),
        ({"reason": "BLOCKED_IP"}, [2]),
        ({"method": "SSO"}, [3]),
        ({"accountType": "STAFF"}, [3]),
        ({"userId": to_global_id("User", 77)}, [1]),
        ({"userId": "nonsense"}, []),
        ({"appId": to_global_id("App", 8)}, [3]),
        ({"address": "192.0.2.9"}, [2]),
        ({"search": "ann"}, [1]),
        ({"at": {"gte": "2000-01-01T00:00:00Z"}}, [3, 2, 1]),
        ({"at": {"lte": "2000-01-01T00:00:00Z"}}, []),
    ):
        response = api.run(FIELDS, boss, filter=filter_)
        found = [edge["node"]["id"] for edge in response["edges"]]
        assert found == [to_global_id("SignInEvent", number) for number in numbers], filter_


def test_who_manages_customers_sees_theirs(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_USERS)).access
    make_sign_in(ports, account_type="STAFF")
    make_sign_in(ports)
    response = api.run(FIELDS, token)
    assert [edge["node"]["accountType"] for edge in response["edges"]] == ["CUSTOMER"]
