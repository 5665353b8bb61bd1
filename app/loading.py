"""The one place where code is loaded by its dotted name, or later than it is imported.

Loading everything takes about a second; a command's help shall not wait for the database's
library, nor a migration for GraphQL.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

from typing_extensions import override


def load(target: str) -> object:
    """What ``target`` names, as ``module:name``; the module is loaded when it was not yet."""
    module, _, name = target.partition(":")
    found: object = getattr(importlib.import_module(module), name)
    return found


@contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Modules that are imported meanwhile wait until they are first used, if in ``names``.

    A name that ends with a dot stands for all modules of that package. What is imported *from*
    such a module is used at once: ``from app.services import users`` can wait, ``from
    app.services.people.user_creation import create_user`` cannot.
    """
    finder = _Later(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Later(MetaPathFinder):
    def __init__(self, names: tuple[str, ...]) -> None:
        self._exact = frozenset(names)
        self._packages = tuple(name for name in names if name.endswith("."))

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname not in self._exact and not fullname.startswith(self._packages):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
