"""The shop's logo, as emails show it."""

import re
from dataclasses import dataclass, field

CONTENT_ID = "logo@mail"
"""The name by which an email's HTML shows the logo that is attached to it."""

MAX_FILE_SIZE = 2 * 1024 * 1024
"""Bytes of a file that a logo may be made of."""

MAX_WIDTH, MAX_HEIGHT = 480, 112
"""Pixels of a stored logo: sharp on screens with two pixels for each one of the layout."""

NAME_LENGTH = 32
"""Random letters and digits, so that a new logo has a new URL."""

_FILE = re.compile(r"([A-Za-z0-9]{32})\.png")

_SHOWN_WIDTH, _SHOWN_HEIGHT = MAX_WIDTH // 2, MAX_HEIGHT // 2


@dataclass(frozen=True, slots=True)
class Logo:
    """A stored PNG of ``width`` by ``height`` pixels; ``name`` is random."""

    name: str
    width: int
    height: int
    data: bytes = field(repr=False)

    @property
    def shown_size(self) -> tuple[int, int]:
        """Width and height in the layout."""
        scale = min(1.0, _SHOWN_WIDTH / self.width, _SHOWN_HEIGHT / self.height)
        return max(1, round(self.width * scale)), max(1, round(self.height * scale))


def logo_path(name: str) -> str:
    """Where the logo of that name is served."""
    return f"/media/logo/{name}.png"


def read_logo_file(file: str) -> str | None:
    """Return the name in the last part of a URL, or ``None`` for what is no logo's."""
    found = _FILE.fullmatch(file)
    return None if found is None else found[1]
