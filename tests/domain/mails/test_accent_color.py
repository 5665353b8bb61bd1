"""Text on the accent color, and links in it, can be read."""

import pytest
from hypothesis import given
from hypothesis.strategies import integers

from app.domain.mails.design import (
    DEFAULT_ACCENT,
    MIN_CONTRAST,
    color_problem,
    contrast,
    readable_color,
    text_color_on,
)
from tests.fixtures.cases import cases

COLORS = integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@cases(
    ("one", "other", "expected"),
    [
        ("#000000", "#ffffff", 21),
        ("#ffffff", "#000000", 21),
        ("#0b5563", "#0B5563", 1),
        ("#767676", "#ffffff", 4.54),
        ("#ff0000", "#ffffff", 4.0),
        ("#0000ff", "#ffffff", 8.59),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, expected: float) -> None:
    assert contrast(one, other) == pytest.approx(expected, abs=0.005)


@cases(
    ("background", "text"),
    [("#0b5563", "#ffffff"), ("#ffdd00", "#000000"), ("#ffffff", "#000000"), ("#000", "")],
)
def test_text_on_a_color_is_black_or_white(background: str, text: str) -> None:
    if text:
        assert text_color_on(background) == text


@given(COLORS)
def test_text_on_every_accent_is_readable(accent: str) -> None:
    assert contrast(text_color_on(accent), accent) >= MIN_CONTRAST


@given(COLORS, COLORS)
def test_readable_color_is_readable_on_every_background(color: str, background: str) -> None:
    assert contrast(readable_color(color, background), background) >= MIN_CONTRAST


def test_readable_color_stays_as_it_is() -> None:
    assert readable_color("#0B5563", "#ffffff") == "#0b5563"


def test_light_color_is_darkened_on_white_and_dark_one_lightened_on_black() -> None:
    assert readable_color("#ffdd00", "#ffffff") == "#857300"
    red, green, blue = (
        int(readable_color("#0b5563", "#121a1d")[at : at + 2], 16) for at in (1, 3, 5)
    )
    assert (red, green, blue) > (0x0B, 0x55, 0x63)
    assert blue > green > red, "it is still the shop's color"


@cases("color", [DEFAULT_ACCENT, "#FFDD00"])
def test_color_is_accepted(color: str) -> None:
    assert color_problem(color, "accentColor") is None


@cases(
    "color",
    [
        "",
        "red",
        "#fff",
        "#0b55631",
        "0b5563",
        "#0b556g",
        "#0b5563;}",
        "#0b5563\n",
        "\uff03123456",
        "#١٢٣٤٥٦",
    ],
)
def test_what_is_no_color_is_refused(color: str) -> None:
    problem = color_problem(color, "accentColor")
    assert problem is not None
    assert (problem.code, problem.field) == ("INVALID", "accentColor")
