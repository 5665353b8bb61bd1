"""Pictures of people: the sizes that are kept, and the addresses that they have."""

import re

SIZES = (64, 128, 256, 512)
"""Pixels of a side; every picture is a square."""

MAX_FILE_SIZE = 5 * 1024 * 1024
"""Bytes of a file that a picture may be made of."""

NAME_LENGTH = 32
"""Random letters and digits: 190 bits, so that names can't be guessed."""

_FILE = re.compile(r"([A-Za-z0-9]{32})-([1-9][0-9]{1,2})\.webp")


def nearest_size(requested: int | None) -> int:
    """Return the smallest size with ``requested`` pixels or more; the largest for ``None``."""
    return next((size for size in SIZES if requested is not None and size >= requested), SIZES[-1])


def avatar_path(name: str, requested: int | None) -> str:
    """Where the picture of that name is served, in the size that serves best."""
    return f"/media/avatars/{name}-{nearest_size(requested)}.webp"


def read_file_name(file: str) -> tuple[str, int] | None:
    """Name and size in the last part of an address, or ``None`` for what is no picture's."""
    found = _FILE.fullmatch(file)
    if found is None or int(found[2]) not in SIZES:
        return None
    return found[1], int(found[2])
