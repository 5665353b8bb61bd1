"""Work that is done and undone again: its absence could be told from the time."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from app.services.authorization.register import part


@part
@contextmanager
def roll_back_unless(session: Session, keep: bool) -> Iterator[None]:  # noqa: FBT001 - reads as it is meant
    """Do what stands in the block; unless ``keep``, nothing of it is left in the transaction."""
    point = session.begin_nested()
    yield
    session.flush()
    if keep:
        point.commit()
    else:
        point.rollback()
