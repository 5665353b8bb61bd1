"""A database that must not be used."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest
from sqlalchemy import Select
from sqlalchemy.orm import Session

from app.ports import NamedRow, ReadSession, Subject


class NoDatabase:
    """Fails the test on any use."""

    in_transaction = False

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        yield pytest.fail("nothing is to be written")

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        yield pytest.fail("nothing is to be read")

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        pytest.fail(f"nothing is to be read: {statement} {parameters}")

    def close(self) -> None:
        """Return false: no transaction is ever open."""
