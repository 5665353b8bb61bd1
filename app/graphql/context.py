"""What a resolver gets to know: the ports, the caller, and the visit they came with."""

from dataclasses import dataclass, field

from graphql import GraphQLError, GraphQLResolveInfo

from app.domain.authorization.actor import Actor
from app.graphql.group_loader import GroupLoader
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor


@dataclass(frozen=True, slots=True)
class RequestContext:
    """``info.context`` of every resolver.

    ``deleted_object`` is what a deletion is about, by type and key: nothing belongs to it,
    whether it has been deleted or a dry run takes it for deleted. ``field_errors`` are errors at
    fields that have a value nevertheless; executing an operation takes them out.
    """

    ports: Ports
    visitor: Visitor
    identity: Identity
    deleted_object: tuple[str, int] | None = None
    field_errors: list[GraphQLError] = field(default_factory=list, repr=False, compare=False)
    _group_loaders: dict[str | int, GroupLoader] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def actor(self) -> Actor:
        return self.identity.actor

    def existing_key(self, kind: str, key: int) -> int:
        """The key by which to look for what belongs to a thing; that of nothing if it is gone."""
        return 0 if self.deleted_object == (kind, key) else key

    def group_loader(self, info: GraphQLResolveInfo) -> GroupLoader:
        """What the field at the root above ``info`` has met.

        Each has its own: what one mutation changes, the next one of the same request must see.
        """
        root = info.path
        while root.prev is not None:
            root = root.prev
        return self._group_loaders.setdefault(root.key, GroupLoader(self.ports, self.actor))
