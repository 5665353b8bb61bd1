"""Payloads of events that carry a link's secret: sealed wherever they wait.

People may see them without it; the app that it was sent to, with it.
"""

from app.domain.deliveries.redaction import REDACTED
from app.domain.events import EVENTS, EventType, LinkRequested
from app.ports import Ports
from app.ports.encryption import SealBroken
from app.services.authorization.register import part

_WHOLE = f'"{REDACTED}"'
_SEAL = "webhook payload"
_SEALED = "sealed:"
"""What no JSON text begins with."""


@part
def holds_secret(event: str) -> bool:
    """Whether the payload of such an event may hold the secret of a link."""
    if event not in EventType.__members__:
        return True  # a later version's: nobody here knows, so it is treated as if it did
    return issubclass(EVENTS[EventType(event)], LinkRequested)


@part
def sealed_payload(ports: Ports, event: str, payload: str) -> str:
    """What is stored of the payload of such an event."""
    if not payload or not holds_secret(event):
        return payload
    return _SEALED + ports.sealing.seal(_SEAL, payload)


@part
def opened_payload(ports: Ports, stored: str) -> str:
    """The payload that was stored; raises ``SealBroken`` under another SECRET_KEY."""
    if not stored.startswith(_SEALED):
        return stored
    return ports.sealing.unseal(_SEAL, stored.removeprefix(_SEALED))


@part
def shown_payload(ports: Ports, stored: str, secret: str | None) -> str:
    """The payload as people may see it; ``secret`` is what to blot out, ``None`` for nothing."""
    try:
        payload = opened_payload(ports, stored)
    except SealBroken:
        return _WHOLE
    return without_secret(payload, secret) if payload and secret is not None else payload


@part
def without_secret(payload: str, secret: str) -> str:
    """``payload`` with the secret blotted out; all of it, when one cannot tell what the secret is.

    Whoever manages apps must not be able to set the password of whoever asked for a link.
    """
    return payload.replace(secret, REDACTED) if secret else _WHOLE
