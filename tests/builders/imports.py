"""People whose passwords were imported."""

from sqlalchemy import select, update

from app import models
from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import classify
from app.ports import Ports
from tests.builders.people import make_user

SOURCE = "postgresql://shop.example/saleor"


def make_import(ports: Ports, source: str = SOURCE, kind: str = "platform") -> int:
    """Store an import, once for each source; return its key."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        stored = session.scalar(select(models.Import).where(models.Import.source == source))
        if stored is None:
            stored = models.Import(kind=kind, source=source, started_at=now, last_run_at=now)
            session.add(stored)
            session.flush()
        return stored.id


def make_imported_user(
    ports: Ports,
    password_hash: str,
    email: str = "customer@example.com",
    *,
    source: str = SOURCE,
    is_staff: bool = False,
    is_active: bool = True,
    is_confirmed: bool = True,
) -> int:
    """Store a user with a password as it was at the source; return the key."""
    import_id = make_import(ports, source)
    user_id = make_user(
        ports,
        email,
        password=None,
        is_staff=is_staff,
        is_active=is_active,
        is_confirmed=is_confirmed,
    )
    password = classify(password_hash)
    with ports.database.transaction() as session:
        session.execute(
            update(models.User)
            .where(models.User.id == user_id)
            .values(password_hash=password.password_hash)
        )
        session.add(
            models.ImportedPassword(
                user_id=user_id,
                import_id=import_id,
                state=password.state.value,
                source_digest=digest_of_text(password_hash),
                written_digest=digest_of_text(password.password_hash or ""),
            )
        )
    return user_id
