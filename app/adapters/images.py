"""Images by Pillow: uploaded files in, re-encoded squares out."""

from collections.abc import Callable, Collection, Mapping
from io import BytesIO
from threading import Lock
from typing import TypeVar

from PIL import Image, ImageOps

from app.ports.images import DrawnImage, InvalidImage

_Drawn = TypeVar("_Drawn")

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_PLAIN = ("L", "LA", "RGB", "RGBA")
MAX_PIXELS = 25_000_000
MAX_SIDE = 16_384
_QUALITY = 82

# The library warns at one number of pixels and refuses at twice that; ours are refused at once.
Image.MAX_IMAGE_PIXELS = None


class PillowImages:
    """One picture at a time: the largest that is taken needs a hundred megabytes meanwhile."""

    def __init__(self) -> None:
        self._turn = Lock()

    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._draw(lambda: _crop_squares(data, sorted(sizes, reverse=True)))

    def fit(self, data: bytes, width: int, height: int) -> DrawnImage:
        return self._draw(lambda: _fit(data, width, height))

    def _draw(self, draw: Callable[[], _Drawn]) -> _Drawn:
        with self._turn:
            try:
                return draw()
            except InvalidImage:
                raise
            except Exception as trouble:
                # Decoders trip in a dozen ways over files that are broken, or made to break them.
                raise InvalidImage("This file isn't an image or is damaged.") from trouble


def _crop_squares(data: bytes, sizes: list[int]) -> dict[int, bytes]:
    plain, mode = _open(data, (2 * sizes[0], 2 * sizes[0]))
    square = ImageOps.fit(plain, (sizes[0], sizes[0]), Image.Resampling.LANCZOS).convert(mode)
    drawn = _redraw(square)
    return {size: _encoded(drawn, size) for size in sizes}


def _fit(data: bytes, width: int, height: int) -> DrawnImage:
    plain, mode = _open(data, (2 * width, 2 * height))
    if plain.width > width or plain.height > height:
        plain = ImageOps.contain(plain, (width, height), Image.Resampling.LANCZOS)
    drawn = _redraw(plain.convert(mode))
    file = BytesIO()
    drawn.save(file, "PNG", optimize=True)
    return DrawnImage(*drawn.size, file.getvalue())


def _open(data: bytes, enough: tuple[int, int]) -> tuple[Image.Image, str]:
    """Return the picture, the right way up, and the mode in which to draw it.

    ``enough`` are the pixels that are needed of a JPEG.
    """
    # Opening reads the header alone.
    with Image.open(BytesIO(data), formats=_FORMATS) as opened:
        _require_size(*opened.size)
        opened.draft("RGB", enough)  # JPEG: decode no larger than needed
        opened.load()
        upright = ImageOps.exif_transpose(opened)
    mode = "RGBA" if upright.has_transparency_data else "RGB"
    return (upright if upright.mode in _PLAIN else upright.convert(mode)), mode


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
    file = BytesIO()
    shown.save(file, "WEBP", quality=_QUALITY, method=4)
    return file.getvalue()
