"""User agents in plain words."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.sign_in.devices import UNKNOWN, device_of, network_of, without_version
from tests.fixtures.cases import cases

_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_7)"
_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@cases(
    ("user_agent", "device"),
    [
        (f"{_WINDOWS} {_WEBKIT} Chrome/131.0.0.0 Safari/537.36", "Chrome on Windows"),
        (f"{_WINDOWS} {_WEBKIT} Chrome/131.0 Safari/537.36 Edg/131.0", "Edge on Windows"),
        (f"{_WINDOWS} {_WEBKIT} Chrome/131.0 Safari/537.36 OPR/116.0", "Opera on Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0", "Firefox on Linux"),
        (f"{_MAC} AppleWebKit/605.1.15 Version/18.1 Safari/605.1.15", "Safari on macOS"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Safari/604.1",
            "Safari on iPhone",
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) CriOS/131.0 Safari/604.1",
            "Chrome on iPad",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14) {_WEBKIT} SamsungBrowser/27.0 Chrome/125.0",
            "Samsung Internet on Android",
        ),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541) {_WEBKIT} Chrome/131.0", "Chrome on ChromeOS"),
        ("curl/8.5.0", "curl 8.5"),
        ("python-requests/2.32.3", "python-requests 2.32"),
        ("okhttp/4.12.0", "okhttp 4.12"),
        ("Latchkey", "Latchkey"),
        ("Mozilla/5.0", UNKNOWN),
        ("", UNKNOWN),
        ("<script>alert(1)</script>", UNKNOWN),
    ],
)
def test_user_agent_is_described_in_plain_words(user_agent: str, device: str) -> None:
    assert device_of(user_agent) == device


@given(st.text(max_size=256))
def test_device_description_has_no_markup(user_agent: str) -> None:
    assert all(character.isalnum() or character in " ._+-" for character in device_of(user_agent))


@cases(
    ("user_agent", "device"),
    [
        ("curl/8.5.0", "curl"),
        ("okhttp/4.12.0", "okhttp"),
        ("Mozilla/5.0 (Windows NT 10.0) Firefox/140.0", "Firefox on Windows"),
        ("Latchkey", "Latchkey"),
    ],
)
def test_update_of_a_program_is_no_new_device(user_agent: str, device: str) -> None:
    assert without_version(device_of(user_agent)) == device


@cases(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.0/24"),
        ("0.0.0.9", "0.0.0.0/24"),
        ("2001:db8:1:2::9", "2001:db8:1::/48"),
        ("::1", "::/48"),
        ("", ""),
        ("not an address", ""),
    ],
)
def test_network_of_an_address(address: str, network: str) -> None:
    assert network_of(address) == network
