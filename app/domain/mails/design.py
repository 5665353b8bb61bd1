"""The look of emails: the shop's logo, and its accent color in tones that people can read.

Contrast: WCAG 2.2, 1.4.3.
"""

import re
from dataclasses import dataclass, field

from app.domain.values.errors import Problem

DEFAULT_ACCENT = "#0b5563"
MIN_CONTRAST = 4.5
"""Of text with its background."""

_COLOR = re.compile("#[0-9a-f]{6}", re.IGNORECASE)
_STEP = 0.02
_LINEAR_UP_TO = 0.04045


def color_problem(text: str, field: str) -> Problem | None:
    """Return why ``text`` isn't a color such as "#0b5563", or ``None``."""
    if _COLOR.fullmatch(text):
        return None
    message = "Enter a color as # and six hexadecimal digits, such as {example}."
    return Problem("INVALID", message, field, values={"example": DEFAULT_ACCENT})


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors: from 1, the same, to 21, black and white."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_color_on(background: str) -> str:
    """Return white or black, by which text on ``background`` is easier to read."""
    return max(("#ffffff", "#000000"), key=lambda color: contrast(color, background))


def readable_color(color: str, background: str) -> str:
    """Return ``color``, or the nearest to it that can be read as text on ``background``.

    It is mixed with black on a light background, with white on a dark one.
    """
    target = text_color_on(background)
    share = 0.0
    mixed = color.lower()
    while contrast(mixed, background) < MIN_CONTRAST and share < 1:
        share = min(1.0, share + _STEP)
        mixed = _mix(color, target, share)
    return mixed


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _mix(color: str, other: str, share: float) -> str:
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(own + (mate - own) * share):02x}" for own, mate in pairs)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    if channel <= _LINEAR_UP_TO:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)


CONTENT_ID = "logo@mail"
"""The name by which an email's HTML shows the logo that is attached to it."""

MAX_LOGO_SIZE = 2 * 1024 * 1024
"""Bytes of a file that a logo may be made of."""

MAX_WIDTH, MAX_HEIGHT = 480, 112
"""Pixels of a stored logo: sharp on screens with two pixels for each one of the layout."""

LOGO_NAME_LENGTH = 32
"""Random letters and digits, so that a new logo has a new URL."""

_LOGO_FILE = re.compile(r"([A-Za-z0-9]{32})\.png")

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
    """Return where the logo of that name is served."""
    return f"/media/logo/{name}.png"


def read_logo_file(file: str) -> str | None:
    """Return the name in the last part of a URL, or ``None`` for what is no logo's."""
    found = _LOGO_FILE.fullmatch(file)
    return None if found is None else found[1]
