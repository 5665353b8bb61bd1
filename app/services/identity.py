"""Who is calling: the one place where a credential becomes an ``Actor``."""

from dataclasses import dataclass

from app.domain.actor import Actor
from app.domain.shop import Switches


@dataclass(frozen=True, slots=True)
class Visitor:
    """What an HTTP edge knows of a caller before anything is looked up.

    ``issuer`` is the ``iss`` that this request's address stands for: the configured one, or in
    development the request's own scheme and host. ``address`` is ``None`` when it cannot be told.
    """

    credential: str | None = None
    address: str | None = None
    user_agent: str = ""
    issuer: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller, and the switches as they stood in the same read."""

    actor: Actor
    switches: Switches
