"""What a resolver gets to know: the ports, the caller, and the visit they came with."""

from dataclasses import field, replace

from graphql import GraphQLError, GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.values.unchanging import unchanging
from app.graphql.loaders import Loaders
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor
from app.services.sign_in.tokens import Verified


@unchanging
class RequestContext:
    """``info.context`` of every resolver.

    ``deleted_object`` is the type and key that a deletion event (or its dry run) is about; nothing
    belongs to it. ``proven_users`` are keys of users whose password, token or link this request
    has proven, ``proven_owners`` those of them whose token isn't an extension's. ``field_errors``
    are errors at fields that have a value nevertheless; executing an operation takes them out.
    """

    ports: Ports
    visitor: Visitor
    identity: Identity
    deleted_object: tuple[str, int] | None = None
    field_errors: list[GraphQLError] = field(default_factory=list, repr=False, compare=False)
    proven_users: set[int] = field(default_factory=set, repr=False, compare=False)
    proven_owners: set[int] = field(default_factory=set, repr=False, compare=False)
    _loaders: dict[str | int, Loaders] = field(default_factory=dict, repr=False, compare=False)

    @property
    def actor(self) -> Actor:
        return self.identity.actor

    @property
    def caller(self) -> tuple[Ports, Actor]:
        """The first two arguments of every use case."""
        return self.ports, self.identity.actor

    def existing_key(self, kind: str, key: int) -> int:
        """The key by which to look for what belongs to a thing; that of nothing if it is gone."""
        return 0 if self.deleted_object == (kind, key) else key

    def proven(self, user: User | None, *, is_owner: bool = True) -> User | None:
        """Return ``user``, whose password, token or link a use case has accepted.

        ``is_owner``: it isn't the token of an extension that acts for them.
        """
        if user is not None:
            self.proven_users.add(user.id)
            if is_owner:
                self.proven_owners.add(user.id)
        return user

    def verified(self, token: Verified) -> User | None:
        """Return the user of a token that a use case has accepted.

        That of a third party proves nothing: it sees what the token shows, no more.
        """
        if token.is_of_third_party:
            return token.shown
        return self.proven(token.shown, is_owner=token.is_owner)

    def with_new_loaders(self) -> "RequestContext":
        """Return the context of another operation of the request."""
        return replace(self, _loaders={})

    def loaders(self, info: "Info") -> Loaders:
        """Return the loaders of the root field above ``info``."""
        root = _root_key(info)
        if root not in self._loaders:
            self._loaders[root] = Loaders(*self.caller, self.proven_users, self.proven_owners)
        return self._loaders[root]


class Info(GraphQLResolveInfo):
    """What each resolver gets first: graphql-core's, with the type of this server's context."""

    context: RequestContext


def _root_key(info: Info) -> str | int:
    path = info.path
    while path.prev is not None:
        path = path.prev
    return path.key
