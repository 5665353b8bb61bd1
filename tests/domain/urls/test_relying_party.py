"""For which host passkeys are made, and on which pages they work."""

from app.domain.urls.web_urls import RelyingParty, is_host_within, relying_party
from tests.fixtures.cases import cases


@cases(
    ("issuer", "rp_id", "origin"),
    [
        ("https://shop.example.com/graphql/", "shop.example.com", "https://shop.example.com"),
        ("http://localhost:8000/graphql/", "localhost", "http://localhost:8000"),
        ("http://LOCALHOST:8000/graphql/", "localhost", "http://localhost:8000"),
        ("https://example.com/shop/graphql/", "example.com", "https://example.com"),
        ("https://example.com:443/graphql/", "example.com", "https://example.com"),
        ("http://localhost:80/graphql/", "localhost", "http://localhost"),
        ("https://example.com./graphql/", "example.com", "https://example.com"),
        ("https://münchen.de/graphql/", "xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de"),
    ],
)
def test_default_is_the_host_of_the_issuer(issuer: str, rp_id: str, origin: str) -> None:
    assert relying_party(issuer) == RelyingParty(rp_id, (origin,))


def test_settings_add_origins_and_choose_the_domain() -> None:
    own, admin = "https://shop.example.com", "https://admin.example.com"
    party = relying_party(f"{own}/graphql/", "example.com", (own, admin))
    assert party == RelyingParty("example.com", (own, admin))


@cases("host", ["127.0.0.1:8000", "[::1]:8000", "192.0.2.1", "127.1", "[", ""])
def test_no_passkeys_on_an_ip_address(host: str) -> None:
    assert relying_party(f"http://{host}/graphql/") is None


@cases(
    ("origin", "within"),
    [
        ("https://example.com", True),
        ("https://shop.example.com:8443", True),
        ("https://badexample.com", False),
        ("https://example.com.evil.test", False),
        ("https://com", False),
        ("https://example.com.", True),
        ("https://[", False),
    ],
)
def test_domain_covers_itself_and_its_subdomains(origin: str, within: bool) -> None:
    assert is_host_within("example.com", origin) is within
