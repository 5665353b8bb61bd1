"""Whom to believe about the client's address."""

from ipaddress import ip_network

from app.web.caller import client_address, is_forwarded_by_stranger
from tests.fixtures.cases import cases

PROXIES = (ip_network("10.0.0.0/8"), ip_network("192.0.2.1/32"), ip_network("2001:db8:aaaa::/48"))


@cases(
    ("peer", "forwarded_for", "address"),
    [
        # Nobody in between.
        ("203.0.113.7", None, "203.0.113.7"),
        ("2001:DB8:0:0::7", None, "2001:db8::7"),
        ("::ffff:203.0.113.7", None, "203.0.113.7"),
        ("fe80::7%eth0", None, "fe80::7"),
        ("203.0.113.7:50123", None, "203.0.113.7"),
        ("[2001:db8::7]:50123", None, "2001:db8::7"),
        # Through trusted proxies.
        ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("192.0.2.1", "203.0.113.7", "203.0.113.7"),
        ("::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("2001:db8:aaaa::1", "2001:db8::7", "2001:db8::7"),
        ("2001:db8:aaaa::1%eth0", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7, 10.0.0.3, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7,10.0.0.3 ,\t2001:db8:aaaa::2", "203.0.113.7"),
        ("10.0.0.1", "203.0.113.7, ::ffff:10.0.0.2", "203.0.113.7"),
        # A header is no news when everybody in it is a proxy, or when it says nothing.
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        # Ports and spellings.
        ("10.0.0.1", "203.0.113.7:50123", "203.0.113.7"),
        ("10.0.0.1", "[2001:db8::7]:50123", "2001:db8::7"),
        ("10.0.0.1", "[2001:db8::7]", "2001:db8::7"),
        ("10.0.0.1", "2001:DB8::7", "2001:db8::7"),
        ("10.0.0.1", "2001:db8::7:443", "2001:db8::7:443"),
        ("10.0.0.1", "203.0.113.7, 10.0.0.2:8080", "203.0.113.7"),
        # Spoofed: a stranger's header is not read, and a client's part of one neither.
        ("203.0.113.7", "198.51.100.9", "203.0.113.7"),
        ("203.0.113.7", "10.0.0.1", "203.0.113.7"),
        ("11.0.0.1", "198.51.100.9", "11.0.0.1"),
        ("192.0.2.2", "198.51.100.9", "192.0.2.2"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "10.0.0.2, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.1", "127.0.0.1, 203.0.113.7:1", "203.0.113.7"),
        # What is no address ends the walk at the proxy that passed it on.
        ("10.0.0.1", "unknown", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.9, unknown", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.9, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.9,", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.9, , 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "198.51.100.9, unix:", "10.0.0.1"),
        ("10.0.0.1", '"203.0.113.7"', "10.0.0.1"),
        ("10.0.0.1", "for=203.0.113.7", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.7:http", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.7:123456", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.7;198.51.100.9", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.0/24", "10.0.0.1"),
        ("10.0.0.1", "garbage, 203.0.113.7", "203.0.113.7"),
        # Nobody can tell.
        (None, None, None),
        ("", "203.0.113.7", None),
        ("unix:", "203.0.113.7", None),
        ("/run/shop.sock", None, None),
        ("localhost", "203.0.113.7", None),
    ],
)
def test_client_ip_is_the_one_seen_by_trusted_proxies(
    peer: str | None, forwarded_for: str | None, address: str | None
) -> None:
    assert client_address(peer, forwarded_for, PROXIES) == address


@cases("peer", ["127.0.0.1", "::1", "10.0.0.1", "203.0.113.7"])
def test_headers_are_ignored_without_trusted_proxies(peer: str) -> None:
    assert client_address(peer, "198.51.100.9", ()) == peer


def test_long_forwarded_header_is_read_from_the_end() -> None:
    invented = ", ".join(["198.51.100.9"] * 10_000)
    assert client_address("10.0.0.1", f"{invented}, 203.0.113.7", PROXIES) == "203.0.113.7"


def test_neighbours_in_one_ipv6_network_are_different_clients() -> None:
    assert client_address("2001:db8::1", None, ()) != client_address("2001:db8::2", None, ())


@cases(
    ("peer", "forwarded_for"),
    [
        ("203.0.113.7", "198.51.100.9"),
        ("203.0.113.7", "garbage"),
        ("", "198.51.100.9"),
        (None, "198.51.100.9"),
    ],
)
def test_header_from_an_untrusted_peer_is_recorded(peer: str | None, forwarded_for: str) -> None:
    assert is_forwarded_by_stranger(peer, forwarded_for, PROXIES)


@cases(
    ("peer", "forwarded_for"),
    [
        ("10.0.0.1", "198.51.100.9"),
        ("::ffff:10.0.0.1", "198.51.100.9"),
        ("10.0.0.1", "garbage"),
        ("203.0.113.7", None),
        ("203.0.113.7", " "),
        (None, None),
    ],
)
def test_trusted_or_missing_header_is_not_recorded(
    peer: str | None, forwarded_for: str | None
) -> None:
    assert not is_forwarded_by_stranger(peer, forwarded_for, PROXIES)
