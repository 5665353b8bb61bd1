"""Guesses at imported app tokens cost little, and their answer can be told from a refusal."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from typing_extensions import override

from app.domain.sign_in.rate_limits import IMPORTED_TOKEN, RateLimitPolicy, parse_rates
from app.ports import Ports
from app.ports.passwords import Match
from tests.builders.apps import import_token, make_app
from tests.builders.shop import close_storefront
from tests.fakes.passwords import FakeHasher
from tests.graphql.shop_client import ApiClient

TOKEN = "Zx81SpectrumQl68008Commodore64"
GUESS = f"1wrongBearerWithARightEnding{TOKEN[-4:]}"
VERIFY = 'appTokenVerify(token: "%s") { valid }'


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: none of them hashes."""
    return sqlite_url


@pytest.fixture
def app_id(ports: Ports) -> int:
    return make_app(ports, "an app")[0]


def limited(ports: Ports, rates: str) -> Ports:
    policy = RateLimitPolicy(changed={IMPORTED_TOKEN: parse_rates(rates)})
    return replace(ports, configuration=replace(ports.configuration, rate_limits=policy))


@pytest.mark.parametrize("is_closed", [False, True])
def test_request_that_cannot_be_checked_now_can_be_repeated(
    ports: Ports, app_id: int, *, is_closed: bool
) -> None:
    import_token(ports, app_id, TOKEN)
    if is_closed:
        close_storefront(ports)
    api = ApiClient(limited(ports, "1/minute"))
    api.post({"query": "{ app { id } }"}, GUESS)

    response = api.post({"query": "{ app { id } }"}, TOKEN)

    assert response.status_code == 429
    (error,) = response.json["errors"]
    assert error["extensions"]["code"] == "TOO_MANY_REQUESTS"
    assert error["extensions"]["retryAfter"] == int(response.headers["Retry-After"]) > 0
    assert "data" not in response.json
    batch = api.post([{"query": "{ app { id } }"}] * 2, TOKEN)
    assert (batch.status_code, batch.json) == (429, [response.json] * 2)
    assert int(batch.headers["Retry-After"]) > 0

    assert ApiClient(ports).run("{ app { name } }", TOKEN) == {"name": "an app"}


def test_mutation_compares_two_tokens_at_most(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    import_token(ports, app_id, TOKEN)
    fields = [f"f{number}: {VERIFY % f'{number}{GUESS}'}" for number in range(5)]

    response = ApiClient(ports).ask(f"mutation {{ {' '.join(fields)} }}")

    assert hasher.verifications == 2
    assert [error["path"] for error in response["errors"]] == [["f2"], ["f3"], ["f4"]]
    assert {error["extensions"]["code"] for error in response["errors"]} == {"TOO_MANY_REQUESTS"}
    assert ApiClient(ports).run(f"mutation {{ {VERIFY % TOKEN} }}") == {"valid": True}


def test_hashes_are_compared_outside_transactions_in_a_share_of_their_own(
    ports: Ports, app_id: int
) -> None:
    import_token(ports, app_id, TOKEN)
    passwords = _TokensOnly(ports.database)
    assert ApiClient(replace(ports, passwords=passwords)).run("{ app { name } }", TOKEN)
    assert passwords.verifications == 1


class _TokensOnly(FakeHasher):
    """Refuses whatever doesn't come by the share of tokens."""

    _is_token = False

    @override
    def verify_token(self, token_hash: str, token: str) -> bool:
        with self._allowed():
            return super().verify_token(token_hash, token)

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        assert self._is_token
        return super().verify(password_hash, password, imported_seconds)

    @contextmanager
    def _allowed(self) -> Iterator[None]:
        self._is_token = True
        yield
        self._is_token = False
