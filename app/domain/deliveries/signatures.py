"""Signatures by which a webhook's receiver verifies a request.

Contract, "Webhooks": the platform's own headers, and Standard Webhooks
(https://www.standardwebhooks.com).
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.values.installation import HeaderNames

SECRET_PREFIX = "whsec_"
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Envelope:
    """The data around a payload; ``api_url`` is the issuer, ``event`` the event's type.

    ``signature`` is the detached JWS, or the HMAC in hex if the webhook has a secret;
    ``is_sample`` marks a delivery that was triggered by hand.
    """

    names: HeaderNames
    event: str
    api_url: str
    domain: str
    schema_version: str
    message_id: str
    signature: str = field(repr=False)
    is_sample: bool = False


def headers_of(
    envelope: Envelope,
    body: bytes,
    *,
    timestamp: int,
    secrets: tuple[str, ...],
    custom: Mapping[str, str],
) -> dict[str, str]:
    """Return the headers of one attempt at ``timestamp`` (Unix seconds).

    Custom headers come first, so that they can't replace Latchkey's. With several ``secrets``
    (during a rotation) the Standard Webhooks signature lists one for each.
    """
    headers = dict(custom)
    own = {
        "Content-Type": _JSON,
        **envelope.names.name_headers(
            {
                "Event": envelope.event.lower(),
                "Domain": envelope.domain,
                "Api-Url": envelope.api_url,
                "Schema-Version": envelope.schema_version,
                "Signature": envelope.signature,
            }
        ),
        "webhook-id": envelope.message_id,
        "webhook-timestamp": str(timestamp),
    }
    if envelope.is_sample:
        own[envelope.names.sample_header] = "true"
    if secrets:
        own["webhook-signature"] = " ".join(
            standard_signature(secret, envelope.message_id, timestamp, body) for secret in secrets
        )
    taken = {name.lower() for name in own}
    return {name: value for name, value in headers.items() if name.lower() not in taken} | own


def hex_signature(secret: str, body: bytes) -> str:
    """HMAC-SHA256 of the body in hex, keyed by the secret as it was typed."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard_signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """One entry of ``webhook-signature``, version 1."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(secret_bytes(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def secret_bytes(secret: str) -> bytes:
    """The key of the Standard Webhooks signature: the bytes behind ``whsec_``, else UTF-8."""
    if secret.startswith(SECRET_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            pass  # it only looks like one: then it is a text like any other
    return secret.encode()
