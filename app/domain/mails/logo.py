"""The shop's logo, as emails show it."""

from dataclasses import dataclass, field

CONTENT_ID = "logo@mail"
"""The name by which an email's HTML shows the logo that is attached to it."""

MAX_FILE_SIZE = 2 * 1024 * 1024
"""Bytes of a file that a logo may be made of."""

MAX_WIDTH, MAX_HEIGHT = 480, 112
"""Pixels of a stored logo: sharp on screens with two pixels for each one of the layout."""

NAME_LENGTH = 32

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
