"""Clients that people already use work unchanged: the recorded exchanges, replayed."""

import pytest

from tests.spec.client import Client
from tests.spec.comparison import differences, token_differences
from tests.spec.differences import DIFFERENCES, expected
from tests.spec.exchanges import Exchange, recorded
from tests.spec.preconditions import ARRANGED, arrange
from tests.spec.recorded_shop import RecordedShop
from tests.spec.replay import Replay

pytestmark = pytest.mark.xdist_group("spec")


@pytest.mark.parametrize("exchange", recorded().values(), ids=lambda exchange: exchange.id)
def test_exchange_has_the_recorded_response(
    exchange: Exchange, client: Client, shop: RecordedShop
) -> None:
    replay = Replay(client, shop)
    arrange(replay, exchange)
    expectation = expected(exchange)
    response = replay.play(expectation)
    assert differences(expectation, response, shop.issuer) == []
    for placeholder, claims in expectation.tokens.items():
        token = replay.given[placeholder.strip("<>")]
        assert list(token_differences(claims, token, shop.issuer, client.kids())) == []


def test_there_are_340_exchanges() -> None:
    assert len(recorded()) == 340


@pytest.mark.parametrize("table", [DIFFERENCES, ARRANGED], ids=len)
def test_every_listed_exchange_is_recorded(table: dict[str, object]) -> None:
    assert table.keys() - recorded().keys() == set()
