"""Receivers can tell whose request it is: by our headers, and by Standard Webhooks."""

import base64
import hashlib
import hmac
from dataclasses import replace

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from app.adapters.system import SystemClock
from app.domain.deliveries.signatures import Envelope, headers_of, hex_signature, secret_bytes
from app.domain.values.installation import HeaderNames
from tests.fixtures.cases import cases

BODY = b'{"product":{"id":"UHJvZHVjdDox"}}'
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
ENVELOPE = Envelope(
    names=HeaderNames("latchkey", platform=True),
    event="PRODUCT_UPDATED",
    api_url="https://shop.example.com/graphql/",
    domain="shop.example.com",
    schema_version="3.23",
    message_id="msg_1",
    signature="header..signature",
)


def _headers(now: int, *secrets: str, custom: dict[str, str] | None = None) -> dict[str, str]:
    return headers_of(ENVELOPE, BODY, timestamp=now, secrets=secrets, custom=custom or {})


VALUES = {
    "Event": "product_updated",
    "Domain": "shop.example.com",
    "Api-Url": "https://shop.example.com/graphql/",
    "Schema-Version": "3.23",
    "Signature": "header..signature",
}
OLDER_NAMES = ("Event", "Domain", "Signature")


def test_headers_have_our_names_and_the_platforms() -> None:
    named = {name: value for name, value in _headers(1).items() if "webhook" not in name}

    assert named == {
        "Content-Type": "application/json",
        **{f"Latchkey-{name}": value for name, value in VALUES.items()},
        **{f"Saleor-{name}": value for name, value in VALUES.items()},
        **{f"X-Saleor-{name}": VALUES[name] for name in OLDER_NAMES},
    }


def test_without_the_platforms_headers_only_ours_are_sent() -> None:
    names = HeaderNames("latchkey", platform=False)

    assert names.name_headers(VALUES) == {
        f"Latchkey-{name}": value for name, value in VALUES.items()
    }


def test_vendor_of_the_platforms_name_adds_no_header_twice() -> None:
    named = HeaderNames("Saleor", platform=True).name_headers(VALUES)

    assert len({name.lower() for name in named}) == len(named) == 8


def test_no_custom_header_replaces_one_of_the_platforms() -> None:
    headers = _headers(1, custom={"x-saleor-signature": "forged", "SALEOR-EVENT": "forged"})

    assert "forged" not in headers.values()


def test_sample_is_marked_by_a_header() -> None:
    sample = replace(ENVELOPE, is_sample=True)
    marked = headers_of(sample, BODY, timestamp=1, secrets=(), custom={"latchkey-sample": "no"})
    assert marked["Latchkey-Sample"] == "true"
    assert "latchkey-sample" not in marked
    assert "Latchkey-Sample" not in _headers(1)


def test_without_a_secret_there_is_no_standard_signature_but_id_and_timestamp() -> None:
    headers = _headers(1_772_366_400)

    assert headers["webhook-id"] == "msg_1"
    assert headers["webhook-timestamp"] == "1772366400"
    assert "webhook-signature" not in headers


def _headers_now(*secrets: str) -> dict[str, str]:
    """Headers of an attempt made right now: the reference library compares with the real time."""
    return _headers(int(SystemClock().timestamp()), *secrets)


def test_reference_library_accepts_our_signature() -> None:
    headers = _headers_now(SECRET)

    Webhook(SECRET).verify(BODY.decode(), headers)


def test_while_a_secret_is_replaced_both_verify() -> None:
    other = "whsec_" + base64.b64encode(b"another secret of thirty-two byte").decode()
    headers = _headers_now(SECRET, other)

    Webhook(SECRET).verify(BODY.decode(), headers)
    Webhook(other).verify(BODY.decode(), headers)


def test_changed_body_does_not_verify() -> None:
    headers = _headers_now(SECRET)

    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY.decode() + " ", headers)


@cases(
    ("secret", "key"),
    [
        ("whsec_MDEyMzQ1Njc4OQ==", b"0123456789"),
        ("a plain secret", b"a plain secret"),
        ("whsec_not base64!", b"whsec_not base64!"),
        ("schlüssel", "schlüssel".encode()),
    ],
)
def test_hmac_key_is_decoded_after_its_prefix(secret: str, key: bytes) -> None:
    assert secret_bytes(secret) == key


def test_older_signature_is_an_hmac_of_the_body_in_hex() -> None:
    expected = hmac.new(b"secret", BODY, hashlib.sha256).hexdigest()

    assert hex_signature("secret", BODY) == expected


def test_custom_header_cannot_replace_ours() -> None:
    headers = _headers(1, custom={"LATCHKEY-EVENT": "forged", "Webhook-Id": "forged", "X-A": "b"})

    assert headers["X-A"] == "b"
    assert [value for name, value in headers.items() if value == "forged"] == []
