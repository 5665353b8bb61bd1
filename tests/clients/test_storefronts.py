"""Storefronts' libraries work with the default settings."""

from tests.clients.conftest import CUSTOMER, PASSWORD, Shop, run_client


def test_auth_sdk_signs_in_refreshes_and_signs_out(shop: Shop) -> None:
    run_client("storefront.mjs", shop.server.issuer, CUSTOMER, PASSWORD)


def test_sdk_signs_in_refreshes_and_signs_in_by_itself(shop: Shop) -> None:
    run_client("sdk/account.mjs", shop.server.issuer, CUSTOMER, PASSWORD)


def test_graphql_clients_query_and_verify_tokens(shop: Shop) -> None:
    run_client("queries.mjs", shop.server.issuer, CUSTOMER, PASSWORD)
