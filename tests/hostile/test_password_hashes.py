"""One request has at most two passwords hashed, over all its aliases and batch entries."""

from typing import Any

import pytest

from app.ports import Ports
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.fakes.passwords import FakeHasher
from tests.graphql.shop_client import ApiClient

NEW = "nine lazy Störche by the sea"
REGISTER = """accountRegister(input: {email: "p%d@example.com", password: "%s",
  redirectUrl: "http://localhost:3000/"}) { errors { code } }"""
LOGIN = 'tokenCreate(email: "customer@example.com", password: "%s") { token errors { code } }'
CHANGE = 'passwordChange(oldPassword: "%s", newPassword: "%s") { errors { code } }'


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: none of them hashes."""
    return sqlite_url


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def aliased(fields: list[str]) -> str:
    return "mutation {" + " ".join(f"m{n}: {field}" for n, field in enumerate(fields)) + "}"


def hashed_by(hasher: FakeHasher) -> int:
    return hasher.hashes + hasher.verifications


def codes(payloads: list[Any]) -> list[list[str]]:
    return [[error["code"] for error in payload["errors"]] for payload in payloads]


def test_aliases_beyond_two_hashes_fail_at_their_fields(
    api: ApiClient, hasher: FakeHasher
) -> None:
    fields = [REGISTER % (number, NEW) for number in range(4)]

    response = api.ask(aliased(fields))

    assert hashed_by(hasher) == 2
    assert codes(list(response["data"].values())) == [[], *[["TOO_MANY_REQUESTS"]] * 3]
    assert [error["path"] for error in response["errors"]] == [["m1"], ["m2"], ["m3"]]
    for error in response["errors"]:
        assert error["extensions"]["code"] == "TOO_MANY_REQUESTS"
        assert error["extensions"]["retryAfter"] == 1


def test_entries_of_a_batch_share_two_hashes(api: ApiClient, hasher: FakeHasher) -> None:
    batch = [{"query": aliased([REGISTER % (number, NEW)])} for number in range(4)]

    answers = api.post(batch).json

    assert hashed_by(hasher) == 2
    payloads = [answer["data"]["m0"] for answer in answers]
    assert codes(payloads) == [[], *[["TOO_MANY_REQUESTS"]] * 3]


def test_refused_hash_changes_nothing(api: ApiClient, ports: Ports, hasher: FakeHasher) -> None:
    user = make_user(ports)
    token = sign_in(ports, user).access
    before = hashed_by(hasher)

    response = api.ask(aliased([CHANGE % (PASSWORD, NEW), CHANGE % (NEW, PASSWORD)]), token)

    assert hashed_by(hasher) == before + 2
    assert codes(list(response["data"].values())) == [[], ["TOO_MANY_REQUESTS"]]
    assert api.run(aliased([LOGIN % NEW]))["errors"] == []


def test_two_logins_in_one_request_succeed(api: ApiClient, ports: Ports) -> None:
    make_user(ports)
    response = api.ask(aliased([LOGIN % PASSWORD] * 3))
    assert codes(list(response["data"].values())) == [[], [], ["TOO_MANY_REQUESTS"]]
    assert "errors" not in response


def test_each_request_has_two_hashes_of_its_own(api: ApiClient) -> None:
    for number in range(3):
        assert api.run(aliased([REGISTER % (number, NEW)]))["errors"] == []
