"""What a resolver gets to know: the ports, the caller, and the visit they came with."""

from dataclasses import dataclass

from app.domain.actor import Actor
from app.ports import Ports
from app.services.identity import Identity, Visitor


@dataclass(frozen=True, slots=True)
class RequestContext:
    """``info.context`` of every resolver."""

    ports: Ports
    visitor: Visitor
    identity: Identity

    @property
    def actor(self) -> Actor:
        return self.identity.actor
