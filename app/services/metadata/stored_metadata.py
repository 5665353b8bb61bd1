"""Metadata as it is stored: read for a page at once, and changed inside a transaction."""

from collections.abc import Collection, Mapping

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.domain.values.metadata import (
    MetadataChange,
    StoredMetadata,
    changed_metadata,
    to_stored_metadata,
)
from app.models import AppRecord, UserRecord
from app.services.authorization.register import part

Owner = type[UserRecord] | type[AppRecord]


@part
def metadata_by_key(
    session: Session, owner: Owner, keys: Collection[int]
) -> Mapping[int, StoredMetadata]:
    """Return the metadata of the records with these keys that exist, in one statement."""
    query = select(owner.id, owner.public_metadata, owner.private_metadata)
    return {
        key: to_stored_metadata(public, private)
        for key, public, private in session.execute(query.where(owner.id.in_(keys)))
    }


@part
def change_stored_metadata(
    session: Session, owner: Owner, key: int, change: MetadataChange
) -> tuple[str, ...]:
    """Write ``change`` to a record that is locked; return the keys whose values differ now.

    Refuses as ``changed_metadata`` does.
    """
    stored = metadata_by_key(session, owner, (key,))[key]
    before = stored.private if change.is_private else stored.public
    after = changed_metadata(before, change)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if changed:
        column = owner.private_metadata if change.is_private else owner.public_metadata
        session.execute(update(owner).where(owner.id == key).values({column: after}))
    return tuple(sorted(changed))
