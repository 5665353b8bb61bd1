"""Read metadata for a page at once, and change it within a transaction."""

from collections.abc import Collection, Mapping

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.values.inputs import require_unchanged
from app.domain.values.metadata import (
    MetadataChange,
    StoredMetadata,
    changed_metadata,
    to_stored_metadata,
)
from app.services.authorization.register import building_block

Pairs = tuple[tuple[str, str], ...]
"""Keys and values of metadata, as inputs have them."""

Owner = (
    type[models.User]
    | type[models.App]
    | type[models.Address]
    | type[models.Channel]
    | type[models.Shop]
)


@building_block
def metadata_by_key(
    session: Session, owner: Owner, keys: Collection[int]
) -> Mapping[int, StoredMetadata]:
    """Return the metadata of the records with these keys that exist, in one statement."""
    query = select(owner.id, owner.public_metadata, owner.private_metadata)
    return {
        key: to_stored_metadata(public, private)
        for key, public, private in session.execute(query.where(owner.id.in_(keys)))
    }


@building_block
def change_stored_metadata(
    session: Session, owner: Owner, key: int, change: MetadataChange, field: str = "input"
) -> tuple[str, ...]:
    """Write ``change`` to a record that is locked; return the keys whose values differ now.

    Refuses on ``field`` as ``changed_metadata`` does.
    """
    if not (change.values or change.deleted_keys):
        return ()
    session.flush()
    stored = metadata_by_key(session, owner, (key,))[key]
    before = stored.private if change.is_private else stored.public
    require_unchanged(change.seen, {name: before.get(name) for name in change.seen})
    after = changed_metadata(before, change, field)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if changed:
        column = owner.private_metadata if change.is_private else owner.public_metadata
        session.execute(update(owner).where(owner.id == key).values({column: after}))
    return tuple(sorted(changed))


@building_block
def save_sent_metadata(
    session: Session, owner: Owner, key: int, public: Pairs, private: Pairs = ()
) -> dict[str, object]:
    """Set the keys that an input has under ``metadata`` and ``privateMetadata``.

    Returns the names of those that differ now, for the audit log, which gets no values. The record
    is locked or new. Refuses on both inputs as ``changed_metadata`` does.
    """
    changed = {
        "metadata": change_stored_metadata(
            session, owner, key, MetadataChange(values=public), "metadata"
        ),
        "private_metadata": change_stored_metadata(
            session, owner, key, MetadataChange(is_private=True, values=private), "privateMetadata"
        ),
    }
    return {name: list(keys) for name, keys in changed.items() if keys}
