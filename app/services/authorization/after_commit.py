"""Do something once a transaction has been committed, and not if it is rolled back."""

from collections.abc import Callable

from sqlalchemy import event
from sqlalchemy.orm import Session

from app.services.authorization.register import part


@part
def after_commit(session: Session, act: Callable[[], object]) -> None:
    """Call ``act`` after the commit of ``session``; it must be quick and raise nothing."""

    def run(_session: Session) -> None:
        act()

    event.listen(session, "after_commit", run, once=True)
