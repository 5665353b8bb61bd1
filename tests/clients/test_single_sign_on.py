"""A storefront's customers sign in with an identity provider."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.clients.conftest import DEFAULT_VENDOR, Shop, talk_to_client
from tests.servers.provider import CALLBACK, IdentityProvider, Visitor, identity_provider

pytestmark = pytest.mark.xdist_group("provider")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[IdentityProvider]:
    with identity_provider(tmp_path / "provider.log", DEFAULT_VENDOR) as running:
        yield running


def set_up(shop: Shop, provider: IdentityProvider, secret: Path) -> None:
    """Set the shop's default provider up as an operator does."""
    secret.write_text(provider.secret_of("shop"))
    for words in (
        ("discover", provider.issuer, "--yes"),
        ("set", "client_id", "shop"),
        ("set", "client_secret", f"@{secret}"),
        ("set", "enable_refresh_token", "true"),
        ("set", "active", "true"),
    ):
        done = shop.operate("oidc", *words)
        assert done.returncode == 0, done.stderr


def test_auth_sdk_signs_in_with_an_identity_provider(
    shop: Shop, provider: IdentityProvider, tmp_path: Path
) -> None:
    set_up(shop, provider, tmp_path / "secret")

    def sign_in(url: str) -> str:
        return f"{CALLBACK}?{urlencode(Visitor().sign_in(url, 'ann'))}\n"

    talk_to_client("checks/sso.mjs", shop, "ann@sso.example", answer=sign_in)
