"""Adapters that are imported and made when they are first used, because few processes need them.

Alembic, Redis, cryptography, the HTTP client and the GraphQL schema cost a command tenths of a
second.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from threading import RLock
from types import ModuleType
from typing import TypeVar, cast

from typing_extensions import override

Adapter = TypeVar("Adapter")

_LOADING = RLock()
"""One thread loads at a time: the others would see half of a module."""


class _LazyFinder(MetaPathFinder):
    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def imported_when_used() -> Iterator[None]:
    """Run each module imported inside when one of its attributes is first read."""
    finder = _LazyFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def deferred(make: Callable[[], Adapter]) -> Adapter:
    """Return what stands for ``make()``, which is called when an attribute is first read.

    An attribute is looked up once: an adapter has methods, and values that don't change.
    """
    return cast("Adapter", _Deferred(make))


class _Deferred:
    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._made: object = None

    def __call__(self, *arguments: object) -> object:
        call = cast("Callable[..., object]", self.__getattr__("__call__"))
        return call(*arguments)

    def __getattr__(self, name: str) -> object:
        with _LOADING:
            if self._made is None:
                self._made = self._make()
            found = vars(self)[name] = getattr(self._made, name)
        return found
