"""Every spelling of an address is one address, and nothing else is one."""

from app.domain.values.ip_addresses import parse_address
from tests.fixtures.cases import cases


@cases(
    ("text", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7\t", "203.0.113.7"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]", "fe80::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:cb00:7107", "203.0.113.7"),
        ("::1", "::1"),
    ],
)
def test_ip_address_is_normalized(text: str, address: str) -> None:
    assert str(parse_address(text)) == address


@cases(
    "text",
    [
        "",
        " ",
        "unknown",
        "_hidden",
        "unix:",
        "shop.example.com",
        "203.0.113",
        "203.0.113.256",
        "203.0.113.07",
        "0x7f.0.0.1",
        "3405803783",
        "203.0.113.7/32",
        "203.0.113.7%eth0",
        "[203.0.113.7]",
        "[2001:db8::1",
        "2001:db8::1]",
        "2001:db8:::1",
        "٢٠٣.0.113.7",  # digits, but of another alphabet
        "203.0.113.7 203.0.113.8",
    ],
)
def test_other_text_is_not_an_ip_address(text: str) -> None:
    assert parse_address(text) is None
