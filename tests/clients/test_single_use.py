"""Clients meet refresh tokens that can be used once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.services.sign_in.tokens import GRACE
from tests.clients.api_session import ApiSession
from tests.clients.conftest import (
    CUSTOMER,
    GUESSER,
    LIFETIME,
    NEXTJS,
    PASSWORD,
    Shop,
    guess_before,
    run_client,
    running_shop,
    talk_to_client,
    watched,
)
from tests.spec.server import SECRET


@pytest.fixture(scope="module")
def single_use_shop(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("single-use")
    settings = {"SINGLE_USE_REFRESH_TOKENS": "true", "JWT_TTL_ACCESS": LIFETIME}
    with running_shop(folder, _migrated_file, **settings) as shop:
        yield shop


def let_grace_pass(shop: Shop) -> None:
    """Make every refresh of the shop older than the time in which a used token can come again."""
    ports = connect(Settings(database_url=shop.server.database_url, secret_key=SECRET))
    with ports.database.transaction() as session:
        refreshed = models.Session.refreshed_at.is_not(None)
        for kept in session.scalars(select(models.Session).where(refreshed)):
            assert kept.refreshed_at is not None
            kept.refreshed_at -= GRACE + timedelta(seconds=1)
    ports.database.close()


def test_only_clients_that_store_the_next_token_stay_signed_in(single_use_shop: Shop) -> None:
    def wait(_said: str) -> str:
        let_grace_pass(single_use_shop)
        return "\n"

    with watched(single_use_shop) as shop:
        talk_to_client("checks/single-use.mjs", shop, CUSTOMER, PASSWORD, answer=wait)


def test_nextjs_storefront_stores_the_next_token(single_use_shop: Shop) -> None:
    with watched(single_use_shop) as shop:
        guess_before(shop, GUESSER)
        run_client(NEXTJS, shop, CUSTOMER, PASSWORD)


def test_session_in_python_stores_the_next_token(single_use_shop: Shop) -> None:
    session = ApiSession(single_use_shop.server.issuer, CUSTOMER, PASSWORD)
    for _ in range(2):
        used = session.refresh_token
        session.refresh()
        assert session.refresh_token != used
        let_grace_pass(single_use_shop)
    assert session.query("{ me { email } }") == {"me": {"email": CUSTOMER}}
