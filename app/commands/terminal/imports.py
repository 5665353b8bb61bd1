"""Import many modules at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: there is next to none in modules that are being imported.

    Later collections skip what was imported, which also keeps them from writing into memory that
    forked processes share.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
