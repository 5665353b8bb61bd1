"""Contract, "Limits" of part 1, the throttle arithmetic of part 2, and the limits of a request."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from app import models
from tests.builders.people import PASSWORD
from tests.spec.client import Answer, Client, new_address
from tests.spec.documents import LOGIN, ME_QUERY, REFRESH
from tests.spec.recorded_shop import RecordedShop
from tests.spec.replay import WRONG_PASSWORD

pytestmark = pytest.mark.xdist_group("spec")

WRONG = ("email", "INVALID_CREDENTIALS")
DELAYED = (None, "LOGIN_ATTEMPT_DELAYED")
_of = models.ThrottleAddress


def _try(
    client: Client, name: str, password: str = WRONG_PASSWORD
) -> tuple[str | None, str] | None:
    """Field and code of the refusal, ``None`` after a success."""
    response = client.run(LOGIN, email=f"{name}@example.com", password=password)
    errors = response.data["tokenCreate"]["errors"]
    return (errors[0]["field"], errors[0]["code"]) if errors else None


def _blocks(shop: RecordedShop, client: Client, names: list[str]) -> list[int]:
    """For how many seconds each of these failures blocks; each block has gone by at the next."""
    return [_block_after(shop, client, name) for name in names]


def _block_after(shop: RecordedShop, client: Client, name: str) -> int:
    _let_it_pass(shop, client)
    assert _try(client, name) == WRONG
    with shop.ports.database.reading() as session:
        row = session.scalars(select(_of).where(_of.address == client.address)).one()
    return round(row.blocked_until - row.updated_at)


def _let_it_pass(shop: RecordedShop, client: Client) -> None:
    """Let the block be over, as if its time had gone by."""
    with shop.ports.database.transaction() as session:
        session.execute(update(_of).where(_of.address == client.address).values(blocked_until=0))


def test_concurrent_attempts_from_one_address_are_blocked_while_one_runs(
    client: Client, shop: RecordedShop
) -> None:
    attempt = shop.ports.throttle.begin(client.address, shop.ports.clock.timestamp())
    assert _try(client, "customer", PASSWORD) == DELAYED
    assert _try(Client(client.server, client.http), "customer", PASSWORD) is None
    shop.ports.throttle.release(client.address, attempt.lease)
    assert _try(client, "customer", PASSWORD) is None


def test_concurrent_attempts_succeed_alone_or_are_delayed(client: Client) -> None:
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: _try(client, "customer", PASSWORD), range(4)))
    assert None in outcomes
    assert set(outcomes) <= {None, DELAYED}


def test_wrong_password_doubles_the_block(client: Client, shop: RecordedShop) -> None:
    assert _blocks(shop, client, ["customer"] * 3) == [1, 2, 4]


@pytest.mark.parametrize(("failures", "block"), [(12, 2048), (13, 3600), (200, 3600)])
def test_no_block_is_longer_than_sixty_minutes(
    client: Client, shop: RecordedShop, failures: int, block: int
) -> None:
    shop.count_failures(client.address, failures - 1, "customer")
    assert _block_after(shop, client, "customer") == block


def test_wrong_passwords_of_several_users_count_together(
    client: Client, shop: RecordedShop
) -> None:
    names = ["customer", "customer2", "manager"]
    assert _blocks(shop, client, names) == [1, 2, 4]


@pytest.mark.parametrize(("failures", "block"), [(10, 1), (11, 2), (200, 3600)])
def test_delay_for_unknown_emails_grows_every_ten_attempts(
    client: Client, shop: RecordedShop, failures: int, block: int
) -> None:
    shop.count_failures(client.address, failures - 1, None)
    assert _block_after(shop, client, "ghost") == block


def test_attempt_during_a_block_is_refused_without_extending_it(
    client: Client, shop: RecordedShop
) -> None:
    shop.fail_logins(client.address, 3, "customer")
    before = shop.ports.throttle.find(client.address, shop.ports.clock.timestamp())
    assert _try(client, "customer", PASSWORD) == DELAYED
    assert _try(client, "customer") == DELAYED
    after = shop.ports.throttle.find(client.address, shop.ports.clock.timestamp())
    assert after is not None
    assert after == before


def test_delayed_attempt_says_how_long_to_wait(client: Client, shop: RecordedShop) -> None:
    shop.ports.throttle.begin(client.address, shop.ports.clock.timestamp())
    response = client.run(LOGIN, email="customer@example.com", password=PASSWORD)
    (error,) = response.data["tokenCreate"]["errors"]
    assert any(character.isdigit() for character in error["message"])


def test_another_address_is_not_blocked(client: Client, shop: RecordedShop) -> None:
    shop.fail_logins(client.address, 3, "throttle")
    other = Client(client.server, client.http)
    assert _try(other, "throttle", PASSWORD) is None


def test_success_resets_the_throttling(client: Client, shop: RecordedShop) -> None:
    shop.count_failures(client.address, 3, "customer")
    _let_it_pass(shop, client)
    assert _try(client, "customer", PASSWORD) is None
    assert _blocks(shop, client, ["customer"]) == [1]


def test_success_of_another_user_does_not_reset_failures_against_one(
    client: Client, shop: RecordedShop
) -> None:
    shop.count_failures(client.address, 3, "customer")
    _let_it_pass(shop, client)
    assert _try(client, "throttle", PASSWORD) is None
    assert _blocks(shop, client, ["customer"]) == [8]
    _let_it_pass(shop, client)
    assert _try(client, "throttle", PASSWORD) is None
    assert _blocks(shop, client, ["throttle"]) == [1]


def test_token_refresh_and_me_are_not_throttled(client: Client, shop: RecordedShop) -> None:
    shop.fail_logins(client.address, 3, "throttle")
    session = shop.session("customer")
    assert client.run(REFRESH, token=session.refresh).data["tokenRefresh"]["errors"] == []
    assert client.run(ME_QUERY, session.access).data["me"]["email"] == "customer@example.com"


def test_address_cannot_be_spoofed_past_a_trusted_proxy(
    client: Client, shop: RecordedShop
) -> None:
    shop.fail_logins(client.address, 3, "throttle")
    address = client.address
    client.address = f"{new_address()}, {address}"
    assert _try(client, "customer", PASSWORD) == DELAYED


@pytest.mark.parametrize("aliased", [True, False], ids=["aliases", "batch"])
def test_attempts_in_one_request_count_each(
    client: Client, shop: RecordedShop, aliased: bool
) -> None:
    # The first failure blocks for a second, which can pass between two attempts; the seventh, 64.
    shop.count_failures(client.address, 6, "customer")
    _let_it_pass(shop, client)
    attempt = 'tokenCreate(email: "customer@example.com", password: "wrong") { errors { code } }'
    if aliased:
        response = client.run(f"mutation {{ a: {attempt} b: {attempt} c: {attempt} }}")
        payloads = list(response.data.values())
    else:
        response = client.post([{"query": f"mutation {{ a: {attempt} }}"}] * 3)
        payloads = [entry["data"]["a"] for entry in response.body]
    codes = [payload["errors"][0]["code"] for payload in payloads]
    assert codes == ["INVALID_CREDENTIALS", "LOGIN_ATTEMPT_DELAYED", "LOGIN_ATTEMPT_DELAYED"]


DEEP = "{ __schema { types { " + "ofType { " * 15 + "name" + " }" * 17 + " }"
ALIASES = "{ " + " ".join(f"a{number}: __typename" for number in range(160)) + " }"
TOKENS = "{ " + "__typename " * 6000 + "}"
MUTATION = 'tokenVerify(token: "x") { isValid }'


@pytest.mark.parametrize("query", [DEEP, ALIASES, TOKENS], ids=["depth", "aliases", "tokens"])
def test_document_over_a_limit_is_400_and_names_the_limit(client: Client, query: str) -> None:
    response = client.run(query)
    assert response.status == 400
    assert response.body.keys() == {"errors"}
    assert any(character.isdigit() for character in response.errors[0]["message"])


def _mutations(count: int) -> str:
    return "mutation { " + " ".join(f"m{number}: {MUTATION}" for number in range(count)) + " }"


def test_at_most_ten_mutations_per_request(client: Client) -> None:
    assert len(client.run(_mutations(10)).data) == 10
    assert client.run(_mutations(11)).status == 400


def test_limits_are_summed_over_a_batch_and_through_fragments(client: Client) -> None:
    assert _status(client.post([{"query": _mutations(5)}] * 2)) == 200
    assert _status(client.post([{"query": _mutations(6)}] * 2)) == 400
    spread = "mutation { ...M } fragment M on Mutation "
    assert client.run(spread + _mutations(11).removeprefix("mutation ")).status == 400


def _status(response: Answer) -> int:
    return response.status
