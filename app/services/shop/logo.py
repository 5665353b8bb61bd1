"""The shop's logo."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.mails.logo import Logo
from app.models import LogoRecord
from app.services.authorization.register import part


@part
def read_logo(session: Session, name: str) -> Logo | None:
    """Return the logo ``name``, ``None`` for "" or one that was replaced meanwhile."""
    if not name:
        return None
    columns = (LogoRecord.name, LogoRecord.width, LogoRecord.height, LogoRecord.data)
    row = session.execute(select(*columns).where(LogoRecord.name == name)).one_or_none()
    return None if row is None else Logo(*row)
