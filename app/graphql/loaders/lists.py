"""Which objects a response shows in the same list."""

from collections.abc import Iterable, Sequence

from graphql import GraphQLResolveInfo

MAX_AT_ONCE = 1000
"""Keys that a statement looks for, and rows that it may find.

A group has any number of members and an app of webhooks. Databases limit a statement's parameters,
and what is read stays in memory.
"""
_EDGES = 2
"""Fields between a list and the items of its pages: `edges` and `node`."""

Place = tuple[str, ...]


class ListedKeys:
    """The keys of the objects of one kind, in order, by the place of their list in the document.

    A query selects the same fields of all items at the same place, so what one of them needs is
    read for those after it, too.
    """

    def __init__(self) -> None:
        self._keys: dict[Place, list[int]] = {}
        self._positions: dict[Place, dict[int, int]] = {}

    def add(self, info: GraphQLResolveInfo, keys: Iterable[int]) -> None:
        """Note objects of the list, or the lists, at the field of ``info``."""
        at = place(info)
        listed, positions = self._keys.setdefault(at, []), self._positions.setdefault(at, {})
        for key in keys:
            if key not in positions:
                positions[key] = len(listed)
                listed.append(key)

    def has(self, info: GraphQLResolveInfo, key: int) -> bool:
        """Whether the object of that key is noted at the field of ``info``."""
        return key in self._positions.get(place(info), ())

    def following(
        self, info: GraphQLResolveInfo, key: int, size: int = MAX_AT_ONCE
    ) -> Sequence[int]:
        """Return the key of the object whose field ``info`` is about, and those after it.

        At most ``size`` keys; the first alone if no list with it is noted.
        """
        path = place(info)[:-1]
        for length in range(len(path), max(0, len(path) - _EDGES - 1), -1):
            position = self._positions.get(path[:length], {}).get(key)
            if position is not None:
                return self._keys[path[:length]][position : position + size]
        return (key,)


def place(info: GraphQLResolveInfo) -> Place:
    """Return the path of a field without the positions in lists."""
    return tuple(key for key in info.path.as_list() if isinstance(key, str))
