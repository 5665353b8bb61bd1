"""The headers of a delivery's request, signed with the key or secrets of its batch."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from app.domain.deliveries.redaction import REDACTED, Redactor, redactor
from app.domain.deliveries.signatures import Envelope, headers_of, hex_signature
from app.domain.keys import WEBHOOK_SECRET
from app.domain.values.installation import SCHEMA_VERSION
from app.models import WebhookRecord
from app.ports import NamedRow, Ports
from app.ports.keys import KeyPair
from app.services.authorization.register import part
from app.services.deliveries.attempt_results import Delivery
from app.services.keys import ring
from app.services.webhooks.stored_webhooks import decrypted_headers

ENDPOINT_COLUMNS = (
    WebhookRecord.target_url,
    WebhookRecord.secret,
    WebhookRecord.old_secret,
    WebhookRecord.old_secret_until,
    WebhookRecord.custom_headers,
)
"""What ``endpoint_of`` expects in a row."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The target of a batch, as it was when the batch began.

    ``signer`` is the shop's key, ``None`` for a webhook with a secret.
    """

    url: str
    secrets: tuple[str, ...] = field(repr=False)
    custom_headers: Mapping[str, str] = field(repr=False)
    signer: KeyPair | None = field(default=None, repr=False)

    def shown(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request as they may be kept: without what proves who we are."""
        return {
            name: REDACTED if name in self.custom_headers else value
            for name, value in headers.items()
        }

    @property
    def redactor(self) -> Redactor:
        """Return the redactor of this endpoint's secrets, for its responses."""
        return redactor((*self.secrets, *self.custom_headers.values()))


@part
def endpoint_of(ports: Ports, webhook: WebhookRecord | NamedRow) -> Endpoint:
    """The endpoint of a webhook, from its record or a row that has ``ENDPOINT_COLUMNS``.

    While a secret is replaced both are used, the new one first.
    """
    encrypted = [webhook.secret]
    until = webhook.old_secret_until
    if until is not None and until > ports.clock.now():
        encrypted.append(webhook.old_secret)
    secrets = tuple(
        ports.encryption.decrypt(WEBHOOK_SECRET, secret) for secret in encrypted if secret
    )
    return Endpoint(
        url=webhook.target_url,
        secrets=secrets,
        custom_headers=decrypted_headers(ports, webhook.custom_headers),
        signer=None if secrets else ring(ports).signer,
    )


@part
def sign_delivery(
    ports: Ports, endpoint: Endpoint, delivery: Delivery, body: bytes, timestamp: int
) -> dict[str, str]:
    """The headers of one attempt at ``timestamp`` (Unix seconds); contract, "Webhooks"."""
    envelope = Envelope(
        names=ports.configuration.header_names,
        event=delivery.event,
        api_url=delivery.issuer,
        domain=urlsplit(delivery.issuer).netloc,
        schema_version=SCHEMA_VERSION,
        message_id=delivery.message_id,
        is_sample=delivery.is_sample,
        signature=hex_signature(endpoint.secrets[0], body)
        if endpoint.signer is None
        else _detached(ports, endpoint.signer, body),
    )
    return headers_of(
        envelope,
        body,
        timestamp=timestamp,
        secrets=endpoint.secrets,
        custom=endpoint.custom_headers,
    )


def _detached(ports: Ports, signer: KeyPair, body: bytes) -> str:
    """The JWS of a body: made once per key, however many webhooks and attempts it goes to."""
    name = (signer.public.kid, hashlib.sha256(body).digest())
    signature = ports.cache.signatures.get(name)
    if signature is None:
        signature = ports.keys.sign_detached(signer, body)
        ports.cache.signatures.put(name, signature)
    return signature
