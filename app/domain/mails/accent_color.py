"""The shop's accent color, and colors that people can read with it (WCAG 2.2, 1.4.3)."""

import re

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
