"""Images by Pillow: uploaded files in, re-encoded squares out."""

import re
from collections.abc import Callable, Collection, Mapping
from io import BytesIO
from threading import Lock
from typing import TypeVar

from PIL import Image, ImageOps

from app.ports.images import DrawnImage, InvalidImage

_Drawn = TypeVar("_Drawn")

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_PLAIN = ("L", "LA", "RGB", "RGBA")
_OTHER_FORMATS = (
    (re.compile(rb".{4}ftyp(?:hei|hev|mif1|msf1)", re.DOTALL), "HEIC"),
    (re.compile(rb".{4}ftypavi[fs]", re.DOTALL), "AVIF"),
    (re.compile(rb"II\*\0|MM\0\*|II\+\0|MM\0\+"), "TIFF"),
    (re.compile(rb"BM.{4}\0{4}", re.DOTALL), "BMP"),
    (re.compile(rb"\0\0\x01\0"), "ICO"),
    (re.compile(rb"\xff\x0a|\0\0\0\x0cJXL "), "JPEG XL"),
    (re.compile(rb"\0\0\0\x0cjP  |\xff\x4f\xff\x51"), "JPEG 2000"),
    (re.compile(rb"8BPS"), "Photoshop"),
    (re.compile(rb"%PDF-"), "PDF"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*(?=<).*?<svg\b", re.DOTALL | re.IGNORECASE), "SVG"),
)
"""How files begin that people take for images that can be used, and what to call them."""

_BEGINNING = 512
MAX_PIXELS = 25_000_000
MAX_SIDE = 16_384
_QUALITY = 82

# The library warns at a number of pixels and refuses at twice that; here both are refused.
Image.MAX_IMAGE_PIXELS = None


class PillowImages:
    """One picture at a time: the largest accepted one needs a hundred megabytes."""

    def __init__(self) -> None:
        self._turn = Lock()

    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._draw(data, lambda: _crop_squares(data, sorted(sizes, reverse=True)))

    def shrink(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._draw(data, lambda: _shrink(data, sorted(sizes, reverse=True)))

    def fit(self, data: bytes, width: int, height: int) -> DrawnImage:
        return self._draw(data, lambda: _fit(data, width, height))

    def _draw(self, data: bytes, draw: Callable[[], _Drawn]) -> _Drawn:
        _require_format(data)
        with self._turn:
            try:
                return draw()
            except InvalidImage:
                raise
            except Exception as trouble:
                # Decoders trip in a dozen ways over files that are broken, or made to break them.
                raise InvalidImage(
                    "This file isn't an image or is damaged. Use PNG, JPEG, WebP or GIF."
                ) from trouble


def _crop_squares(data: bytes, sizes: list[int]) -> dict[int, bytes]:
    plain, mode = _open(data, (2 * sizes[0], 2 * sizes[0]))
    square = ImageOps.fit(plain, (sizes[0], sizes[0]), Image.Resampling.LANCZOS).convert(mode)
    drawn = _redraw(square)
    return {size: _encoded(drawn, size) for size in sizes}


def _shrink(data: bytes, sizes: list[int]) -> dict[int, bytes]:
    plain, mode = _open(data, (2 * sizes[0], 2 * sizes[0]))
    drawn = _redraw(_contained(plain, sizes[0], sizes[0]).convert(mode))
    return {size: _webp(_contained(drawn, size, size)) for size in sizes} | {0: _png(drawn)}


def _contained(image: Image.Image, width: int, height: int) -> Image.Image:
    if image.width <= width and image.height <= height:
        return image
    return ImageOps.contain(image, (width, height), Image.Resampling.LANCZOS)


def _fit(data: bytes, width: int, height: int) -> DrawnImage:
    plain, mode = _open(data, (2 * width, 2 * height))
    drawn = _redraw(_contained(plain, width, height).convert(mode))
    return DrawnImage(*drawn.size, _png(drawn))


def _open(data: bytes, enough: tuple[int, int]) -> tuple[Image.Image, str]:
    """Return the picture, the right way up, and the mode in which to draw it.

    ``enough`` are the pixels that are needed of a JPEG.
    """
    # Opening reads the header alone.
    with Image.open(BytesIO(data), formats=_FORMATS) as opened:
        _require_size(*opened.size)
        opened.draft("RGB", enough)  # JPEG: decode no larger than needed
        opened.load()
        upright = _in_eight_bits(ImageOps.exif_transpose(opened))
    if upright.has_transparency_data:
        # At once: a color that stands for transparency doesn't survive resizing.
        return (upright if upright.mode in ("LA", "RGBA") else upright.convert("RGBA")), "RGBA"
    return (upright if upright.mode in _PLAIN else upright.convert("RGB")), "RGB"


def _in_eight_bits(image: Image.Image) -> Image.Image:
    """Keep the upper eight bits of 16 of gray, and of a color that stands for transparency.

    Pillow converts the one by cutting off what is above 255, and doesn't convert the other.
    """
    clear = image.info.get("transparency")
    if image.mode == "I;16":
        gray = Image.frombytes("L", image.size, image.tobytes()[1::2])
        return _with_transparency(gray, clear >> 8 if isinstance(clear, int) else None)
    if isinstance(clear, tuple) and max(clear) > 255:  # noqa: PLR2004 - eight bits
        return _with_transparency(image, tuple(each >> 8 for each in clear))
    return image


def _with_transparency(image: Image.Image, clear: int | tuple[int, ...] | None) -> Image.Image:
    if clear is not None:
        image.info["transparency"] = clear
    return image


def _require_format(data: bytes) -> None:
    """Raise ``InvalidImage`` with its name for a file of another well-known format."""
    beginning = data[:_BEGINNING]
    for pattern, name in _OTHER_FORMATS:
        if pattern.match(beginning):
            message = "This file is in the format {name}. Use PNG, JPEG, WebP or GIF."
            raise InvalidImage(message, name=name)


def _redraw(image: Image.Image) -> Image.Image:
    """Return the pixels alone: no place, no camera, no text, no profile comes along."""
    return Image.frombytes(image.mode, image.size, image.tobytes())


def _require_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        most = MAX_PIXELS // 1_000_000
        raise InvalidImage(
            "The image is {width} by {height} pixels. Use an image of at most {most} million "
            "pixels.",
            width=width,
            height=height,
            most=most,
        )


def _encoded(drawn: Image.Image, size: int) -> bytes:
    shown = drawn
    if drawn.width != size:
        shown = drawn.resize((size, size), Image.Resampling.LANCZOS)
    return _webp(shown)


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def _webp(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "WEBP", quality=_QUALITY, method=4)
    return file.getvalue()
