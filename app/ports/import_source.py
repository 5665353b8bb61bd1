"""A database of another installation, read and never changed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.domain.values.installation import Fault

TableRow = Mapping[str, object]
"""A row by its columns; a column that the source lacks isn't in it."""


@dataclass(frozen=True, slots=True)
class JsonKey:
    """A key of the JSON objects in a column."""

    column: str
    key: str


class UnreadableSource(Fault):
    """The source can't be read as one; the message says why, without credentials."""


class ImportSource(Protocol):
    """One snapshot of the source: later changes aren't seen."""

    @property
    def name(self) -> str:
        """Where it is, without credentials."""

    @property
    def release(self) -> str:
        """What tells the release, such as the newest migration; empty if unknown."""

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table, none if there is no such table."""

    def count(self, table: str) -> int:
        """How many rows a table has."""

    def highest(self, table: str) -> int:
        """The highest ID in a table, 0 without rows."""

    def batches(
        self, table: str, columns: Sequence[str], size: int
    ) -> Iterator[Sequence[TableRow]]:
        """All rows by ID, ``size`` at a time. Columns that the source lacks are left out."""

    def batches_with_json_key(
        self, table: str, columns: Sequence[str], size: int, json: JsonKey
    ) -> Iterator[Sequence[TableRow]]:
        """The rows whose JSON object has a key, by ID, ``size`` at a time."""

    def repeated_json_texts(self, table: str, json: JsonKey) -> frozenset[str]:
        """The texts that several rows have under a key of their JSON objects."""

    def json_keys(self, table: str, column: str, prefix: str) -> Mapping[str, int]:
        """The keys that begin with ``prefix`` in JSON objects, with the number of their rows."""

    def matching(
        self, table: str, columns: Sequence[str], column: str, values: Collection[object]
    ) -> Sequence[TableRow]:
        """The rows whose ``column`` is one of ``values``, by ID; none if the table is missing."""

    def lowest(self, table: str, column: str, values: Collection[object]) -> Mapping[object, int]:
        """The lowest ID of the rows with each of these ``values`` in ``column``."""

    def count_filled(self, table: str, column: str) -> int:
        """How many rows have a text in ``column``."""

    def count_unnamed(self, table: str, columns: Collection[tuple[str, str]]) -> int:
        """How many rows of ``table`` are in none of ``columns``, each with its table before it."""

    def unlinked(
        self, table: str, columns: Collection[str], links: str, pair: tuple[str, str], size: int
    ) -> Iterator[Sequence[TableRow]]:
        """What ``columns`` of ``table`` name although ``links`` doesn't, ``size`` at a time.

        ``pair`` are the columns of ``links`` for a row of ``table`` and for what it names. Rows
        have the same two, in the order of what is named.
        """

    def alike(self, table: str, column: str) -> Iterator[Sequence[int]]:
        """IDs of rows whose texts in ``column`` differ only in case and surrounding blanks."""

    def spelled_alike(
        self, table: str, column: str, texts: Collection[str]
    ) -> Iterator[tuple[int, str]]:
        """The rows whose text in ``column`` is one of the lower-case ``texts``, compared so.

        ID, and which of them.
        """

    def beyond_ascii(self, table: str, column: str) -> Iterator[tuple[int, str]]:
        """The rows whose text in ``column`` isn't ASCII: ID and text."""


class UnreadableFile(Exception):
    """A file of the media folder can't be read; the message is a sentence that says why."""


class MediaFolder(Protocol):
    """A folder of files; every method raises ``UnreadableFile``, also for paths that lead out."""

    def version(self, path: str) -> str:
        """Return what changes when the file does, without reading it."""

    def read(self, path: str, most: int) -> bytes:
        """Return the file's bytes, at most ``most``."""


class ImportSources(Protocol):
    def open_platform(self, url: str) -> AbstractContextManager[ImportSource]:
        """Connect to a database of the platform; raises ``UnreadableSource``."""

    def open_media(self, folder: Path) -> MediaFolder:
        """Return the files of the platform's media folder."""
