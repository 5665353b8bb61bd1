"""What is blocked for an account, wherever it is counted."""

import pytest

from app.domain.sign_in.login_throttle import GUESSES_EXPIRY_SECONDS, MAX_GUESSES
from app.ports.throttle import AccountBlocks, Throttle
from tests.adapters.throttle_backends import ADDRESS, ANNA, BELA, NOW, OTHER_ADDRESS

pytestmark = pytest.mark.both_databases


def test_nothing_is_blocked_at_first(throttle: Throttle) -> None:
    throttle.guess(ANNA, NOW)
    for addresses in ((), (ADDRESS, OTHER_ADDRESS)):
        assert throttle.blocks_of(ANNA, addresses, NOW) == AccountBlocks([], None)


def test_blocked_addresses_are_told_the_longest_first(throttle: Throttle) -> None:
    addresses = (ADDRESS, OTHER_ADDRESS, "192.0.2.1")
    for place, address in enumerate(addresses[:2]):
        now = NOW + place / 2
        throttle.fail(address, throttle.begin(address, now).lease, ANNA, now)

    def blocked(after: float) -> list[tuple[str, float, int]]:
        found = throttle.blocks_of(BELA, addresses, NOW + after)
        assert found.account_until is None
        return [(one.address, one.blocked_until - NOW, one.failures) for one in found.addresses]

    assert blocked(0.75) == [(OTHER_ADDRESS, 1.5, 1), (ADDRESS, 1.0, 1)]
    assert blocked(1.25) == [(OTHER_ADDRESS, 1.5, 1)]
    assert blocked(2.0) == []


def test_too_many_guesses_block_the_account_for_an_hour(throttle: Throttle) -> None:
    for _ in range(MAX_GUESSES - 1):
        throttle.guess(ANNA, NOW)
    assert throttle.blocks_of(ANNA, (), NOW).account_until is None
    throttle.guess(ANNA, NOW)
    until = NOW + GUESSES_EXPIRY_SECONDS
    assert throttle.blocks_of(ANNA, (ADDRESS,), NOW).account_until == until
    assert throttle.blocks_of(ANNA, (), NOW + 60).account_until == until
    assert throttle.blocks_of(BELA, (), NOW).account_until is None
    assert throttle.blocks_of(ANNA, (), until).account_until is None
    throttle.reset_guesses(ANNA)
    assert throttle.blocks_of(ANNA, (), NOW).account_until is None
