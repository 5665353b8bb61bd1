"""Turn uploaded files into images that are safe to serve."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.values.errors import Problem
from app.domain.values.text import Sentence


class InvalidImage(Exception):
    """The file is not a usable image; ``problem`` says why."""

    def __init__(self, message: Sentence, **values: object) -> None:
        self.problem = Problem("INVALID", message, "image", values=values)
        super().__init__(self.problem.message)


@dataclass(frozen=True, slots=True)
class DrawnImage:
    """A PNG of ``width`` by ``height`` pixels."""

    width: int
    height: int
    data: bytes = field(repr=False)


class Images(Protocol):
    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        """The picture in ``data`` as WebP, cut to squares of so many pixels, by their size.

        Encoded anew from its pixels: neither the file's bytes nor what else was in it survive.
        Raises ``InvalidImage``, before anything is decoded when the picture is too large. Never
        inside a transaction.
        """

    def shrink(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        """The picture in ``data`` as WebP, whole, its longer side of so many pixels, by size.

        None is larger than the picture. The largest also as PNG, under the size 0. Encoded anew
        and refused as by ``crop_squares``.
        """

    def fit(self, data: bytes, width: int, height: int) -> DrawnImage:
        """The picture in ``data`` as PNG, whole, scaled down to fit ``width`` by ``height``.

        Transparent parts stay so. Encoded anew and refused as by ``crop_squares``.
        """
