"""Loads the pages of a nested list for all of its parents at once."""

from collections.abc import Callable, Collection, Hashable, Mapping
from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

from graphql import GraphQLResolveInfo

from app.domain.values.pages import Page
from app.graphql.loaders.lists import batch_of, place

Item = TypeVar("Item")


class PageLoader(Generic[Item]):
    """The pages of one field, by its place in the document, its arguments and its parent's key."""

    def __init__(self) -> None:
        self._loaded: dict[Hashable, dict[int, Page[Item]]] = {}

    def page(
        self,
        info: GraphQLResolveInfo,
        arguments: Hashable,
        parent: int,
        parents: AbstractSet[int],
        read: Callable[[Collection[int]], Mapping[int, Page[Item]]],
    ) -> Page[Item]:
        """Return the page of ``parent``, read with those of ``parents`` that aren't loaded."""
        loaded = self._loaded.setdefault((place(info), arguments), {})
        if parent not in loaded:
            loaded |= read(batch_of(parent, parents, loaded))
        return loaded[parent]
