"""Payloads of events that carry a link's secret: sealed wherever they wait.

People may see them without it; the app that it was sent to, with it.
"""

from app.domain.deliveries.redaction import REDACTED
from app.domain.events import EVENTS, EventType, LinkRequested
from app.domain.keys import WEBHOOK_PAYLOAD
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import part

_WHOLE = f'"{REDACTED}"'
ENCRYPTED_PREFIX = "sealed:"
"""What no JSON text begins with."""


@part
def holds_secret(event: str) -> bool:
    """Whether the payload of such an event may hold the secret of a link."""
    if event not in EVENTS:
        return True  # a later version's event: it may hold one
    return issubclass(EVENTS[EventType(event)], LinkRequested)


@part
def encrypted_payload(ports: Ports, event: str, payload: str) -> str:
    """Return the payload of such an event as stored."""
    if not payload or not holds_secret(event):
        return payload
    return ENCRYPTED_PREFIX + ports.encryption.encrypt(WEBHOOK_PAYLOAD, payload)


@part
def decrypted_payload(ports: Ports, stored: str) -> str:
    """The payload that was stored; raises ``DecryptionError`` under another SECRET_KEY."""
    if not stored.startswith(ENCRYPTED_PREFIX):
        return stored
    return ports.encryption.decrypt(WEBHOOK_PAYLOAD, stored.removeprefix(ENCRYPTED_PREFIX))


@part
def redacted_payload(ports: Ports, stored: str, secret: str | None) -> str:
    """The payload as people may see it; ``secret`` is what to blot out, ``None`` for nothing."""
    try:
        payload = decrypted_payload(ports, stored)
    except DecryptionError:
        return _WHOLE
    return redact_secret(payload, secret) if payload and secret is not None else payload


@part
def redact_secret(payload: str, secret: str) -> str:
    """Return ``payload`` without the secret; redacted completely if the secret is unknown.

    People who manage apps must not be able to use someone else's link.
    """
    return payload.replace(secret, REDACTED) if secret else _WHOLE
