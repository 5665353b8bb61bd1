"""Loads the pages of a nested list for several of its parents at once."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from graphql import GraphQLResolveInfo

from app.domain.values.pages import Page, PageRequest
from app.graphql.loaders.lists import MAX_AT_ONCE, place

Item = TypeVar("Item")


class PageLoader(Generic[Item]):
    """The pages of one field, by its place in the document, its arguments and its parent's key.

    Only the pages that were read last are kept: the items of a response mostly come in order. A
    parent that comes again later, as the buyer of several orders, is read by itself.
    """

    def __init__(self) -> None:
        self._loaded: dict[Hashable, Mapping[int, Page[Item]]] = {}
        self._read: dict[Hashable, set[int]] = {}

    def page(
        self,
        info: GraphQLResolveInfo,
        arguments: tuple[PageRequest, Hashable],
        parent: int,
        parents: Callable[[int], Sequence[int]],
        read: Callable[[Collection[int]], Mapping[int, Page[Item]]],
    ) -> Page[Item]:
        """Return the page of ``parent``, read with those of parents after it.

        ``parents`` returns the keys of so many of them, ``parent`` first; ``arguments`` are those
        of the page and of its filter.
        """
        name = (place(info), arguments)
        loaded = self._loaded.get(name, {})
        if parent in loaded:
            return loaded[parent]
        known = self._read.setdefault(name, set())
        if parent in known:
            return read([parent])[parent]
        request, _ = arguments
        following = parents(max(1, MAX_AT_ONCE // (request.size + 1)))
        new = [key for key in following if key not in known]
        known.update(new)
        self._loaded[name] = read(new)
        return self._loaded[name][parent]
