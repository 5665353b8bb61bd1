"""Floods from one address: everybody else, and the next window, are served as ever."""

from typing import Any

import pytest
from werkzeug.test import Client

from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.rate_limits import (
    API_LIMITS,
    APP_MUTATIONS,
    CUSTOMER_MUTATIONS,
    STAFF_MUTATIONS,
)
from app.graphql.schema import create_endpoint, schema
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.images import png
from tests.builders.people import ADDRESS, make_staff, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.graphql.endpoint_client import Reply
from tests.graphql.matrix.mutations import MUTATIONS
from tests.graphql.shop_client import ApiClient
from tests.graphql.test_permission_matrix import field

WITHOUT_LIMIT = {"tokenCreate", "tokenRefresh", "tokenVerify", "externalVerify", "appTokenVerify"}
"""The login throttle has the first; the others check a token and store nothing for strangers."""

RESET = """
    mutation ($email: String!) {
      requestPasswordReset(email: $email, redirectUrl: "http://localhost:3000/") {
        errors { field code message } accountErrors { code }
      }
    }
"""
CREATE_CHECKOUT = "mutation { checkoutCreate(input: { lines: [] }) { errors { code } } }"


class Visitors:
    """Sends operations from whatever address a test names."""

    def __init__(self, ports: Ports) -> None:
        endpoint = create_endpoint(make_installation(ports, Settings()))
        self._client = Client(endpoint, response_wrapper=Reply)

    def ask(self, query: str, address: str, credential: str = "", **variables: Any) -> Any:
        headers = {"Authorization": f"Bearer {credential}"} if credential else {}
        response = self._client.post(
            "/graphql/",
            json={"query": query, "variables": variables},
            headers={"Host": "localhost:8000", **headers},
            environ_overrides={"REMOTE_ADDR": address},
        )
        assert isinstance(response, Reply)
        assert response.status_code == 200, response.json
        return response.json


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: none of them counts."""
    return sqlite_url


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def visitors(ports: Ports) -> Visitors:
    return Visitors(ports)


def is_limited(response: Any) -> bool:
    errors = response.get("errors", [])
    return any(error["extensions"].get("code") == "TOO_MANY_REQUESTS" for error in errors)


def burst(name: str) -> int:
    """How many uses in a moment the limit allows."""
    return min(rate.times for rate in API_LIMITS[name].rates)


def use_up(ports: Ports, name: str, key: str, *, but: int = 0) -> None:
    """Count as many uses as the limit allows in a moment, ``but`` the last ones."""
    rates = ports.configuration.rate_limits.rates(name, ADDRESS)
    for _ in range(min(rate.times for rate in rates) - but):
        assert ports.rate_limiter.count(name, key, rates) == 0


def flood(visitors: Visitors, address: str = "198.51.100.1", times: int = 0) -> list[Any]:
    times = times or burst("requestPasswordReset") + 1
    return [visitors.ask(RESET, address, email=f"a{n}@example.com") for n in range(times)]


def test_flood_of_password_resets_from_one_address_is_refused(
    visitors: Visitors, clock: FakeClock
) -> None:
    *within, over = flood(visitors)
    assert not any(map(is_limited, within))
    (error,) = over["errors"]
    assert error["path"] == ["requestPasswordReset"]
    assert error["extensions"]["code"] == "TOO_MANY_REQUESTS"
    assert 1 <= error["extensions"]["retryAfter"] <= 60
    payload = over["data"]["requestPasswordReset"]
    assert payload["accountErrors"] == [{"code": "TOO_MANY_REQUESTS"}]
    assert payload["errors"][0]["message"] == error["message"]
    clock.pass_(seconds=error["extensions"]["retryAfter"])
    assert not is_limited(visitors.ask(RESET, "198.51.100.1", email="a@example.com"))


def test_others_are_served_during_a_flood(visitors: Visitors) -> None:
    assert is_limited(flood(visitors)[-1])
    assert not is_limited(visitors.ask(RESET, "198.51.100.2", email="b@example.com"))


def test_addresses_of_one_ipv6_network_are_one_client(visitors: Visitors) -> None:
    times = burst("requestPasswordReset") + 1
    answers = [
        visitors.ask(RESET, f"2001:db8:0:1::{n:x}", email=f"a{n}@example.com")
        for n in range(times)
    ]
    assert is_limited(answers[-1])
    assert not is_limited(visitors.ask(RESET, "2001:db8:0:2::1", email="b@example.com"))


def test_callers_without_an_address_share_one_limit(visitors: Visitors) -> None:
    assert is_limited(flood(visitors, address="")[-1])
    assert not is_limited(visitors.ask(RESET, "198.51.100.2", email="b@example.com"))


def test_aliases_are_counted_one_by_one(visitors: Visitors) -> None:
    field = 'requestPasswordReset(email: "a@example.com", redirectUrl: "http://localhost:3000/")'
    aliased = " ".join(f"a{n}: {field} {{ errors {{ code }} }}" for n in range(10))
    answers = [visitors.ask(f"mutation {{ {aliased} }}", "198.51.100.1") for _ in range(3)]
    refused = [error["path"] for answer in answers for error in answer.get("errors", [])]
    assert len(refused) == 30 - burst("requestPasswordReset")


def test_staff_are_not_counted(visitors: Visitors, ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_ORDERS)
    token = sign_in(ports, staff).access
    use_up(ports, "checkoutCreate", ADDRESS, but=1)
    for _ in range(3):
        assert not is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS, token))
    assert not is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS))
    assert is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS))
    assert not is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS, token))


CHANGE_NAME = 'mutation { accountUpdate(input: { firstName: "Ada" }) { errors { code } } }'


def test_customer_is_limited_from_wherever_they_call(visitors: Visitors, ports: Ports) -> None:
    customer = make_user(ports)
    token = sign_in(ports, customer).access
    use_up(ports, CUSTOMER_MUTATIONS, f"user {customer}", but=3)
    answers = [visitors.ask(CHANGE_NAME, f"198.51.100.{n}", token) for n in range(4)]
    assert [is_limited(answer) for answer in answers] == [False] * 3 + [True]
    other = sign_in(ports, make_user(ports, "other@example.com")).access
    assert not is_limited(visitors.ask(CHANGE_NAME, "198.51.100.1", other))


@pytest.mark.parametrize("name", [STAFF_MUTATIONS, APP_MUTATIONS])
def test_staff_and_apps_have_limits_of_their_own(
    visitors: Visitors, ports: Ports, name: str
) -> None:
    if name == APP_MUTATIONS:
        app, token = make_app(ports)
        key = f"app {app}"
    else:
        staff = make_staff(ports)
        key, token = f"user {staff}", sign_in(ports, staff).access
    assert not is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS, token))
    use_up(ports, name, key, but=1)
    assert is_limited(visitors.ask(CREATE_CHECKOUT, ADDRESS, token))


def test_each_limited_mutation_is_refused_over_its_limit(api: ApiClient, ports: Ports) -> None:
    for name in API_LIMITS:
        use_up(ports, name, ADDRESS)
        call = MUTATIONS[name].call.replace("$$file", "$file")
        parameters = "($file: Upload!)" if "$file" in call else ""
        query = f"mutation{parameters} {{ {field(name, call)} {{ errors {{ code }} }} }}"
        response = api.upload(query, png()) if parameters else api.ask(query)
        payload = response["data"][name]
        assert payload is None or payload["errors"] == [{"code": "TOO_MANY_REQUESTS"}], name
        assert is_limited(response) is (name != "setPassword"), name


def test_every_public_mutation_has_a_limit_or_an_exemption() -> None:
    open_to_all = {
        name.partition(" ")[0]
        for name, row in MUTATIONS.items()
        if row.rule.outcomes["anonymous"] == "+"
    }
    assert open_to_all - set(API_LIMITS) == WITHOUT_LIMIT


def test_every_limit_names_an_existing_mutation() -> None:
    assert schema.graphql_schema.mutation_type is not None
    assert set(API_LIMITS) <= set(schema.graphql_schema.mutation_type.fields)
