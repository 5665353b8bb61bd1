"""Sessions by GraphQL: seen, counted, ended."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TrafficKind
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import ADDRESS, NOBODY, make_staff, make_user, sessions_of, sign_in
from tests.builders.shop import close_storefront
from tests.fakes.activity import FakeActivity
from tests.graphql.shop_client import ApiClient

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
LIST = """{
  me { sessions { id device address createdAt lastUsedAt origin current } }
}"""
END = (
    "mutation ($id: ID!) { sessionEnd(id: $id) { errors { field code } accountErrors { code } } }"
)
END_OTHERS = "mutation { sessionsEndOthers { count errors { code } accountErrors { code } } }"


@pytest.fixture
def activity() -> FakeActivity:
    return FakeActivity()


@pytest.fixture
def api(ports: Ports, activity: FakeActivity) -> ApiClient:
    return ApiClient(replace(ports, activity=activity))


def test_user_lists_their_own_sessions(api: ApiClient, ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id, SessionOrigin.OIDC, replace(NOBODY, user_agent=FIREFOX))
    access = sign_in(ports, user_id, caller=replace(NOBODY, address=None)).access
    here, there = api.run(LIST, access)["sessions"]
    assert (here["current"], here["origin"], here["address"]) == (True, "PASSWORD", None)
    assert there == {
        "id": there["id"],
        "device": "Firefox on Linux",
        "address": ADDRESS,
        "createdAt": "2026-03-01T12:00:00+00:00",
        "lastUsedAt": "2026-03-01T12:00:00+00:00",
        "origin": "OIDC",
        "current": False,
    }


def test_session_is_ended_by_its_id(api: ApiClient, ports: Ports) -> None:
    user_id = make_user(ports)
    lost = sign_in(ports, user_id).access
    access = sign_in(ports, user_id).access
    there = api.run(LIST, access)["sessions"][1]
    assert api.run(END, access, id=there["id"]) == {"errors": [], "accountErrors": []}
    assert api.code("{ me { email } }", lost) == "InvalidTokenError"
    repeated = api.run(END, access, id=there["id"])
    assert repeated["errors"] == [{"field": "id", "code": "NOT_FOUND"}]
    assert repeated["accountErrors"] == [{"code": "NOT_FOUND"}]


def test_all_other_sessions_are_ended(api: ApiClient, ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    sign_in(ports, user_id)
    access = sign_in(ports, user_id).access
    assert api.run(END_OTHERS, access) == {"count": 2, "errors": [], "accountErrors": []}
    assert len(api.run(LIST, access)["sessions"]) == 1


def test_only_users_have_sessions(api: ApiClient, ports: Ports) -> None:
    _, app = make_app(ports, "an app", *Permission)
    for credential in (None, app):
        assert api.code(END, credential, id="x") == "PermissionDenied"
        assert api.code(END_OTHERS, credential) == "PermissionDenied"
        assert api.run(LIST, credential) is None
    assert api.code(END, "garbage", id="x") == "InvalidTokenError"


def test_every_request_records_activity(
    api: ApiClient, ports: Ports, activity: FakeActivity
) -> None:
    customer, staff = make_user(ports), make_staff(ports)
    _, app = make_app(ports, "an app")
    for credential in (
        None,
        "garbage",
        sign_in(ports, customer).access,
        sign_in(ports, staff).access,
        app,
    ):
        api.ask("{ shop { name } }", credential)
    assert activity.requests == dict.fromkeys(TrafficKind, 1)
    seen = [*sessions_of(ports, customer), *sessions_of(ports, staff)]
    assert activity.sessions == [session.id for session in seen]
    assert activity.app_tokens == [(1, ADDRESS)]


def test_operations_of_an_app_are_counted_by_code_with_the_permissions_they_needed(
    api: ApiClient, ports: Ports, activity: FakeActivity
) -> None:
    key, app = make_app(ports, "an app", Permission.MANAGE_ORDERS, Permission.MANAGE_USERS)
    staff = sign_in(ports, make_staff(ports, "orders@example.com", Permission.MANAGE_ORDERS))
    for query in (
        "{ shop { name } }",
        "{ orders(first: 1) { edges { node { id } } } }",
        "{ staffUsers(first: 1) { edges { node { id } } } }",
        "{ nothing }",
    ):
        api.ask(query, app)
        api.ask(query, staff.access)
    assert activity.app_requests == {
        (key, ""): 2,
        (key, "PermissionDenied"): 1,
        (key, "GraphQLError"): 1,
    }
    assert activity.permissions == {(key, Permission.MANAGE_ORDERS)}


def test_requests_refused_by_a_closed_storefront_are_counted(
    api: ApiClient, ports: Ports, activity: FakeActivity
) -> None:
    close_storefront(ports)
    assert api.post({"query": "{ shop { name } }"}).status_code == 401
    assert activity.requests == {TrafficKind.ANONYMOUS: 1}


def test_batch_counts_as_one_request(api: ApiClient, ports: Ports, activity: FakeActivity) -> None:
    access = sign_in(ports, make_user(ports)).access
    api.post([{"query": END_OTHERS}, {"query": LIST}, {"query": "{"}], access)
    assert activity.requests == {TrafficKind.CUSTOMER: 1}
    assert len(activity.sessions) == 1
