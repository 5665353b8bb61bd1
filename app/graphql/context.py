"""What a resolver gets to know: the ports, the caller, and the visit they came with."""

from dataclasses import dataclass, field

from graphql import GraphQLResolveInfo

from app.domain.actor import Actor
from app.graphql.crowds import Crowd
from app.ports import Ports
from app.services.identity import Identity, Visitor


@dataclass(frozen=True, slots=True)
class RequestContext:
    """``info.context`` of every resolver."""

    ports: Ports
    visitor: Visitor
    identity: Identity
    _crowds: dict[str | int, Crowd] = field(default_factory=dict, repr=False, compare=False)

    @property
    def actor(self) -> Actor:
        return self.identity.actor

    def crowd(self, info: GraphQLResolveInfo) -> Crowd:
        """What the field at the root above ``info`` has met.

        Each has its own: what one mutation changes, the next one of the same request must see.
        """
        root = info.path
        while root.prev is not None:
            root = root.prev
        return self._crowds.setdefault(root.key, Crowd(self.ports, self.actor))
