"""Making pictures that we serve out of files that anybody sent."""

from collections.abc import Collection, Mapping
from typing import Protocol


class InvalidImage(Exception):
    """The file is no picture that can be used; the message says why, to whoever sent it."""


class Images(Protocol):
    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        """The picture in ``data`` as WebP, cut to squares of so many pixels, by their size.

        Encoded anew from its pixels: neither the file's bytes nor what else was in it survive.
        Raises ``InvalidImage``, before anything is decoded when the picture is too large. Never
        inside a transaction.
        """
