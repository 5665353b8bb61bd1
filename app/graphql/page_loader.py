"""Loads the same page of a nested list for all parents at once."""

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Generic, TypeVar

from app.domain.values.pages import Page

Item = TypeVar("Item")


class PageLoader(Generic[Item]):
    """The pages of one field, by its arguments and the key of the parent."""

    def __init__(self) -> None:
        self._loaded: dict[Hashable, dict[int, Page[Item]]] = {}

    def page(
        self,
        arguments: Hashable,
        parent: int,
        parents: Collection[int],
        read: Callable[[Collection[int]], Mapping[int, Page[Item]]],
    ) -> Page[Item]:
        """Return the page of ``parent``, read with those of ``parents`` that aren't loaded."""
        loaded = self._loaded.setdefault(arguments, {})
        if parent not in loaded:
            loaded |= read({parent, *parents} - loaded.keys())
        return loaded[parent]
