"""Do work and undo it, so that response times are equal."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from app.services.authorization.register import part


@part
@contextmanager
def roll_back_unless(session: Session, keep: bool) -> Iterator[None]:  # noqa: FBT001 - reads as it is meant
    """Run the block; unless ``keep``, roll back its changes to the transaction."""
    point = session.begin_nested()
    yield
    session.flush()
    if keep:
        point.commit()
    else:
        point.rollback()
