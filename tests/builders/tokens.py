"""Tokens that no use case issues, signed with the shop's key."""

from typing import Any

from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.keys import ring


def claims_in(ports: Ports, token: str) -> dict[str, Any]:
    """Return the claims of a token with a valid signature."""
    return dict(ports.keys.verify(ring(ports).ring.published, token))


def signed(ports: Ports, claims: dict[str, Any]) -> str:
    """Return a token with exactly these claims."""
    return ports.keys.sign(ring(ports).signer, claims)


def altered(ports: Ports, token: str, /, **changes: object) -> str:
    """``token`` signed anew with other claims; ``...`` leaves one out."""
    claims = {**claims_in(ports, token), **changes}
    return signed(ports, {name: value for name, value in claims.items() if value is not ...})


def extension_of(ports: Ports, token: str, app_id: int) -> str:
    """Return an extension token of that app, in the session of ``token``."""
    return altered(ports, token, type="thirdparty", app=to_global_id("App", app_id))
