"""Pictures: whatever comes in, what goes out has been drawn by us."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from app.adapters.images import MAX_PIXELS, MAX_SIDE, PillowImages
from app.ports.images import InvalidImage
from tests.fixtures.cases import cases

PICTURES = PillowImages()
SECRET = b"51.4779 N, 0.0015 W"
RED, BLUE = (255, 0, 0), (0, 0, 255)


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def halves(width: int = 300, height: int = 200) -> Image.Image:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image


def opened(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def colour(image: Image.Image, x: int, y: int) -> str:
    red, _, blue = image.convert("RGB").getpixel((x, y))  # type: ignore[misc]
    return "red" if red > blue else "blue"


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png(
    width: int, height: int, depth: int, color: int, pixels: bytes, clear: bytes = b""
) -> bytes:
    """A PNG of these bits per value and this color type; ``clear`` is the transparent color."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + (chunk(b"tRNS", clear) if clear else b"")
        + chunk(b"IDAT", zlib.compress(pixels))
        + chunk(b"IEND", b"")
    )


def claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims any size."""
    return png(width, height, 8, 2, b"\0" * 1000)


GRAYS = (0, 0x4000, 0x8080, 0xFFFF)
"""Values of 16 bits, and 64 columns of each in 64 rows of a PNG."""


def deep(color: int, values: int, clear: bytes = b"") -> bytes:
    """A PNG of 16 bits per value: four stripes of gray, or of red where there are colors."""
    rest = {1: (), 2: (0xFFFF,), 3: (0, 0), 4: (0, 0, 0xFFFF)}[values]
    row = b"".join(struct.pack(f">{values}H", gray, *rest) * 64 for gray in GRAYS)
    return png(256, 64, 16, color, (b"\0" + row) * 64, clear)


@cases(("color", "values"), [(0, 1), (4, 2), (2, 3), (6, 4)])
def test_sixteen_bits_keep_their_brightness(color: int, values: int) -> None:
    image = opened(PICTURES.fit(deep(color, values), 256, 64).data).convert("RGBA")
    reds = [image.getpixel((64 * column + 32, 32))[0] for column in range(4)]  # type: ignore[index]
    assert reds == [0, 0x40, 0x80, 0xFF]


@cases(("color", "values", "clear"), [(0, 1, (0xFFFF,)), (2, 3, (0xFFFF, 0, 0))])
def test_transparent_color_of_sixteen_bits_is_transparent(
    color: int, values: int, clear: tuple[int, ...]
) -> None:
    data = deep(color, values, struct.pack(f">{values}H", *clear))
    image = opened(PICTURES.crop_squares(data, (64,))[64]).convert("RGBA")
    assert image.getpixel((0, 32))[3] == 255  # type: ignore[index]
    wide = opened(PICTURES.fit(data, 256, 64).data)
    assert [wide.getpixel((x, 32))[3] for x in (32, 160, 224)] == [255, 255, 0]  # type: ignore[index]


def test_transparent_color_stays_so_when_the_image_is_scaled_down() -> None:
    row = bytes([0] * 128 + [252] * 128)
    data = png(256, 64, 8, 0, (b"\0" + row) * 64, struct.pack(">H", 252))
    image = opened(PICTURES.fit(data, 64, 16).data)
    assert [image.getpixel((x, 8))[3] for x in (4, 60)] == [255, 0]  # type: ignore[index]


@cases("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_each_size_is_a_square_of_webp(kind: str) -> None:
    made = PICTURES.crop_squares(encoded(halves(), kind), (64, 512, 128))
    assert set(made) == {64, 128, 512}
    for size, data in made.items():
        image = opened(data)
        assert (image.format, image.size) == ("WEBP", (size, size))
        assert (colour(image, 2, size // 2), colour(image, size - 3, size // 2)) == ("red", "blue")


@cases("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_kind_of_pixel_is_read(mode: str) -> None:
    data = encoded(Image.new(mode, (40, 30)))
    assert opened(PICTURES.crop_squares(data, (64,))[64]).size == (64, 64)


def test_cmyk_jpegs_are_read() -> None:
    data = encoded(Image.new("CMYK", (40, 30)), "JPEG")
    assert opened(PICTURES.crop_squares(data, (64,))[64]).size == (64, 64)


def test_transparency_is_kept() -> None:
    made = PICTURES.crop_squares(encoded(Image.new("RGBA", (90, 90), (9, 9, 9, 0))), (64,))
    assert opened(made[64]).convert("RGBA").getpixel((5, 5))[3] == 0  # type: ignore[index]


def test_image_orientation_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned to the right by a quarter
    data = encoded(halves(200, 200), "JPEG", exif=exif)
    image = opened(PICTURES.crop_squares(data, (64,))[64])
    assert (colour(image, 32, 3), colour(image, 32, 60)) == ("red", "blue")


@cases("kind", ["PNG", "JPEG", "WEBP"])
def test_metadata_is_removed(kind: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = SECRET.decode()
    options: dict[str, object] = {"exif": exif, "icc_profile": b"profile " + SECRET}
    if kind == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", SECRET.decode())
        options["pnginfo"] = text
    data = encoded(halves(), kind, **options) + b"<script>" + SECRET
    assert SECRET in data
    squares = PICTURES.crop_squares(data, (64, 512))
    assert set(squares) == {64, 512}
    for made in squares.values():
        assert SECRET not in made
        assert b"<script>" not in made
        assert opened(made).info.keys() & {"exif", "icc_profile", "xmp", "Comment"} == set()


def test_first_frame_of_an_animation_is_used() -> None:
    frames = [Image.new("RGB", (50, 50), each) for each in (RED, BLUE)]
    for kind in ("GIF", "WEBP"):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
        image = opened(PICTURES.crop_squares(data, (64,))[64])
        assert getattr(image, "n_frames", 1) == 1
        assert colour(image, 32, 32) == "red"


@cases(("width", "height"), [(60_000, 60_000), (MAX_PIXELS, 2), (MAX_SIDE + 1, 1), (5001, 5000)])
def test_decompression_bomb_is_refused_by_its_header(width: int, height: int) -> None:
    with pytest.raises(InvalidImage, match=f"{width} by {height} pixels"):
        PICTURES.crop_squares(claiming(width, height), (64,))


def test_image_of_maximum_size_is_accepted() -> None:
    data = encoded(Image.new("L", (5000, 5000)))
    assert opened(PICTURES.crop_squares(data, (64,))[64]).size == (64, 64)


@cases(
    "data",
    [
        b"",
        b"GIF89a",
        b"<html><script>alert(1)</script>",
        b"\xff\xd8\xff" + b"\0" * 100,
        encoded(halves())[:200],
        encoded(halves(), "JPEG")[:700],
        b"<" * 100_000,
        b"BM",
        claiming(100, 100)[:-20],
        claiming(0, 0),
    ],
)
def test_non_image_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidImage, match="isn't an image"):
        PICTURES.crop_squares(data, (64,))


@cases(
    ("data", "name"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "SVG"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- drawn -->\n<svg/>", "SVG"),
        (b"%PDF-1.7", "PDF"),
        (encoded(halves(), "BMP"), "BMP"),
        (encoded(halves(), "TIFF"), "TIFF"),
        (encoded(halves(), "AVIF"), "AVIF"),
        (encoded(halves(), "JPEG2000"), "JPEG 2000"),
        (encoded(halves(), "ICO"), "ICO"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC"),
        (b"\xff\x0a\xfa\x7f", "JPEG XL"),
    ],
)
def test_format_that_is_not_taken_is_named(data: bytes, name: str) -> None:
    expected = rf"^This file is in the format {name}\. Use PNG, JPEG, WebP or GIF\.$"
    with pytest.raises(InvalidImage, match=expected):
        PICTURES.crop_squares(data, (64,))


WHOLE = {kind: encoded(halves(40, 30), kind) for kind in ("PNG", "JPEG", "WEBP", "GIF")}


@given(st.sampled_from(sorted(WHOLE)), st.lists(st.tuples(st.integers(0), st.integers(0, 255))))
def test_damaged_image_is_read_or_refused(kind: str, damage: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE[kind])
    for place, value in damage:
        data[place % len(data)] = value
    try:
        made = PICTURES.crop_squares(bytes(data), (64,))
    except InvalidImage:
        return
    assert opened(made[64]).size == (64, 64)


@cases(
    ("size", "fitted"),
    [((960, 100), (480, 50)), ((100, 1000), (11, 112)), ((30, 20), (30, 20)), ((1, 1), (1, 1))],
)
def test_fitted_image_is_whole_and_no_larger_than_asked(
    size: tuple[int, int], fitted: tuple[int, int]
) -> None:
    made = PICTURES.fit(encoded(halves(*size)), 480, 112)
    image = opened(made.data)
    assert (image.format, image.size, (made.width, made.height)) == ("PNG", fitted, fitted)
    if fitted[0] > 10:
        assert colour(image, 0, 0) == "red"
        assert colour(image, fitted[0] - 1, 0) == "blue"


def test_fitted_image_stays_transparent_and_says_nothing_of_its_file() -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", SECRET.decode())
    plain = Image.new("RGBA", (90, 30), (9, 9, 9, 0))
    clear = encoded(plain, pnginfo=notes, icc_profile=SECRET)
    made = PICTURES.fit(clear, 480, 112)
    assert opened(made.data).getpixel((5, 5)) == (9, 9, 9, 0)
    assert {"Comment", "icc_profile"} <= {*opened(clear).info}
    assert opened(made.data).info == {}


def test_image_to_fit_is_refused_as_others_are() -> None:
    for data in (b"<svg/>", b"", claiming(MAX_SIDE + 1, 1)):
        with pytest.raises(InvalidImage):
            PICTURES.fit(data, 480, 112)
