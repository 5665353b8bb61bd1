"""What a resolver gets to know: the ports, the caller, and the visit they came with."""

from dataclasses import dataclass, field

from graphql import GraphQLError, GraphQLResolveInfo

from app.domain.authorization.actor import Actor
from app.graphql.group_loader import Crowd
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor


@dataclass(frozen=True, slots=True)
class RequestContext:
    """``info.context`` of every resolver.

    ``gone`` is what a deletion is told of, by type and key: nothing belongs to it any more,
    whether it has been deleted or a dry run takes it for deleted. ``field_errors`` are errors at
    fields that have a value nevertheless; executing an operation takes them out.
    """

    ports: Ports
    visitor: Visitor
    identity: Identity
    gone: tuple[str, int] | None = None
    field_errors: list[GraphQLError] = field(default_factory=list, repr=False, compare=False)
    _crowds: dict[str | int, Crowd] = field(default_factory=dict, repr=False, compare=False)

    @property
    def actor(self) -> Actor:
        return self.identity.actor

    def living(self, kind: str, key: int) -> int:
        """The key by which to look for what belongs to a thing; that of nothing if it is gone."""
        return 0 if self.gone == (kind, key) else key

    def crowd(self, info: GraphQLResolveInfo) -> Crowd:
        """What the field at the root above ``info`` has met.

        Each has its own: what one mutation changes, the next one of the same request must see.
        """
        root = info.path
        while root.prev is not None:
            root = root.prev
        return self._crowds.setdefault(root.key, Crowd(self.ports, self.actor))
