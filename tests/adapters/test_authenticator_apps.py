"""One-time codes by the vectors of RFC 6238, and QR codes."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from app.adapters.keys.second_factors import PyotpAuthenticatorApps
from app.domain.second_factors import PERIOD, encode_secret
from app.ports import AuthenticatorApps
from tests.fixtures.cases import cases

SECRET = encode_secret(b"12345678901234567890")


@pytest.fixture
def apps() -> AuthenticatorApps:
    return PyotpAuthenticatorApps()


@cases(
    ("seconds", "eight_digits"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(
    apps: AuthenticatorApps, seconds: int, eight_digits: str
) -> None:
    # Appendix B has eight digits: six are the same number, cut in front.
    assert apps.code_at(SECRET, seconds // PERIOD) == eight_digits[-6:]


def test_setup_uri_names_account_and_shop(apps: AuthenticatorApps) -> None:
    uri = apps.setup_uri(SECRET, "maya+test@example.com", "Kaffee & Küche: Nord")
    parts = urlsplit(uri)
    query = parse_qs(parts.query)
    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert unquote(parts.path).endswith(":maya+test@example.com")
    assert query["secret"] == [SECRET]
    assert query["issuer"] == ["Kaffee & Küche: Nord"]


@cases("character", ["n", "é", "陶", "🏺"])
def test_long_names_are_shortened_to_what_a_qr_code_holds(
    apps: AuthenticatorApps, character: str
) -> None:
    uri = apps.setup_uri(SECRET, f"{character * 240}@example.com", character * 256)
    assert apps.qr_code(uri).path
    assert parse_qs(urlsplit(uri).query)["issuer"] == [character * 59 + "…"]


def test_qr_code_has_its_three_marks_and_a_quiet_zone(apps: AuthenticatorApps) -> None:
    drawn = apps.qr_code(apps.setup_uri(SECRET, "maya@example.com", "Northlight Ceramics"))
    bars = [
        tuple(map(int, bar)) for bar in re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", drawn.path)
    ]
    assert "".join(f"M{x} {y}h{width}v1h-{back}z" for x, y, width, back in bars) == drawn.path
    last = drawn.size - 4
    assert all(x >= 4 and x + width <= last and 4 <= y < last for x, y, width, _ in bars)
    for x, y in ((4, 4), (last - 7, 4), (4, last - 7)):
        assert (x, y, 7, 7) in bars
