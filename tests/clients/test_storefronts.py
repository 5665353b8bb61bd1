"""Storefronts sign in, refresh expired tokens and sign out, and follow the emailed links."""

import re
import time

import pytest

from tests.clients.conftest import (
    ADMIN,
    CUSTOMER,
    GUESSER,
    NEXTJS,
    PASSWORD,
    Shop,
    guess_before,
    run_client,
    set_login_mode,
)
from tests.servers.sandbox import PATIENCE

pytestmark = pytest.mark.first

SIGN_IN = (CUSTOMER, PASSWORD)
NEW_CUSTOMER = "new@example.com"
_LINK = re.compile(r"http://localhost:3000/\S+")


@pytest.mark.parametrize("program", ["checks/auth-sdk.mjs", "checks/fetch.mjs", "sdk/check.mjs"])
def test_client_refreshes_expired_tokens_and_signs_out(brief_shop: Shop, program: str) -> None:
    run_client(program, brief_shop, *SIGN_IN)


def test_nextjs_storefront_refreshes_in_its_proxy_and_signs_out(brief_shop: Shop) -> None:
    guess_before(brief_shop, GUESSER)
    run_client(NEXTJS, brief_shop, *SIGN_IN)


def test_graphql_clients_work_with_the_default_settings(shop: Shop) -> None:
    run_client("checks/queries.mjs", shop, *SIGN_IN)


def test_queries_that_share_a_person_in_a_cache_come_to_rest(shop: Shop) -> None:
    run_client("sdk/check-cache.mjs", shop, ADMIN, PASSWORD)


def test_registration_and_password_reset_follow_emailed_links(shop: Shop) -> None:
    program = "checks/account-links.mjs"
    with shop.worker():
        run_client(program, shop, "register", NEW_CUSTOMER)
        [confirmation] = links(shop, 1)
        run_client(program, shop, "confirm", confirmation, NEW_CUSTOMER)
        run_client(program, shop, "forget", NEW_CUSTOMER)
        [_, reset] = links(shop, 2)
        run_client(program, shop, "reset", reset, NEW_CUSTOMER)


def links(shop: Shop, number: int) -> list[str]:
    """Wait for that many links in the shop's emails."""
    deadline = time.monotonic() + PATIENCE
    found: list[str] = []
    while len(found) < number and time.monotonic() < deadline:
        time.sleep(0.05)
        found = _LINK.findall(shop.mail.read_text()) if shop.mail.exists() else []
    return found


def test_clients_can_tell_that_the_storefront_is_closed(shop: Shop) -> None:
    run_client("checks/closed.mjs", shop, ADMIN, *SIGN_IN)


def test_clients_can_tell_that_password_login_is_disabled(shop: Shop) -> None:
    set_login_mode(shop, "DISABLED")
    try:
        run_client("checks/disabled.mjs", shop, *SIGN_IN)
    finally:
        set_login_mode(shop, "ENABLED")
