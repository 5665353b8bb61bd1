"""Which objects a response shows in the same list."""

from collections.abc import Container, Iterable
from collections.abc import Set as AbstractSet
from itertools import islice

from graphql import GraphQLResolveInfo

_EDGES = 2
"""Fields between a list and the items of its pages: `edges` and `node`."""
_MAX_KEYS = 1000
"""Read at once: databases bound the parameters of a statement, and a group may have any number of
members."""


class ListedKeys:
    """The keys of the objects of one kind, by the place of their list in the document.

    A query selects the same fields of all items at the same place, so what one of them needs is
    read for all of them, and nothing that no one has asked for.
    """

    def __init__(self) -> None:
        self._keys: dict[tuple[str, ...], set[int]] = {}

    def add(self, info: GraphQLResolveInfo, keys: Iterable[int]) -> None:
        """Note objects of the list, or the lists, at the field of ``info``."""
        self._keys.setdefault(place(info), set()).update(keys)

    def has(self, info: GraphQLResolveInfo, key: int) -> bool:
        """Whether the object of that key is noted at the field of ``info``."""
        return key in self._keys.get(place(info), ())

    def beside(self, info: GraphQLResolveInfo, key: int) -> AbstractSet[int]:
        """Return the keys listed with the object whose field ``info`` is about, and that one."""
        path = place(info)[:-1]
        for length in range(len(path), max(0, len(path) - _EDGES - 1), -1):
            keys = self._keys.get(path[:length])
            if keys is not None and key in keys:
                return keys
        return {key}


def place(info: GraphQLResolveInfo) -> tuple[str, ...]:
    """Return the path of a field without the positions in lists."""
    return tuple(key for key in info.path.as_list() if isinstance(key, str))


def batch_of(key: int, keys: Iterable[int], loaded: Container[int]) -> set[int]:
    """Return ``key`` and others of ``keys`` that aren't loaded: what is read at once."""
    others = (one for one in keys if one != key and one not in loaded)
    return {key, *islice(others, _MAX_KEYS - 1)}
