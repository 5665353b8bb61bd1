"""A storefront's customers sign in with an identity provider."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.clients.conftest import ADMIN, DEFAULT_VENDOR, Shop, set_login_mode, talk_to_client
from tests.servers.provider import CALLBACK, IdentityProvider, Visitor, identity_provider

pytestmark = pytest.mark.xdist_group("provider")


@pytest.fixture(scope="module")
def provider(
    _running_shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IdentityProvider]:
    """The shop's default identity provider, set up as an operator does."""
    folder = tmp_path_factory.mktemp("provider")
    with identity_provider(folder / "provider.log", DEFAULT_VENDOR) as running:
        secret = folder / "secret"
        secret.write_text(running.secret_of("shop"))
        for words in (
            ("discover", running.issuer, "--yes"),
            ("set", "client_id", "shop"),
            ("set", "client_secret", f"@{secret}"),
            ("set", "enable_refresh_token", "true"),
            ("set", "active", "true"),
        ):
            done = _running_shop.operate("oidc", *words)
            assert done.returncode == 0, done.stderr
        running.tell("admin", email=ADMIN, email_verified=True)
        yield running


@pytest.mark.parametrize(
    ("program", "sub", "person"),
    [
        ("checks/sso.mjs", "ann", ("ann@sso.example",)),
        ("sdk/check-sso.mjs", "bea", ("bea@sso.example", "customer")),
        ("sdk/check-sso.mjs", "admin", (ADMIN, "staff")),
    ],
)
def test_client_signs_in_with_an_identity_provider(
    shop: Shop, provider: IdentityProvider, program: str, sub: str, person: tuple[str, ...]
) -> None:
    def sign_in(url: str) -> str:
        return f"{CALLBACK}?{urlencode(Visitor().sign_in(url, sub))}\n"

    talk_to_client(program, shop, *person, answer=sign_in)


def test_client_refreshes_with_the_identity_provider_while_password_login_is_disabled(
    shop: Shop, provider: IdentityProvider
) -> None:
    def sign_in(url: str) -> str:
        return f"{CALLBACK}?{urlencode(Visitor().sign_in(url, 'cat'))}\n"

    set_login_mode(shop, "DISABLED")
    try:
        talk_to_client("checks/sso-refresh.mjs", shop, "cat@sso.example", answer=sign_in)
    finally:
        set_login_mode(shop, "ENABLED")
