"""Read metadata for a page at once, and change it within a transaction."""

from collections.abc import Collection, Mapping

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.values.inputs import require_unchanged
from app.domain.values.metadata import Metadata, MetadataChange, changed_metadata, read_metadata
from app.ports import Ports
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
def public_metadata(ports: Ports, owner: Owner, keys: Collection[int]) -> Mapping[int, Metadata]:
    """Return the public metadata of the records with these keys that exist, in one statement."""
    return _read(ports, select(owner.id, owner.public_metadata).where(owner.id.in_(keys)))


@building_block
def private_metadata(ports: Ports, owner: Owner, keys: Collection[int]) -> Mapping[int, Metadata]:
    """Return their private metadata, in one statement."""
    return _read(ports, select(owner.id, owner.private_metadata).where(owner.id.in_(keys)))


def _read(ports: Ports, query: Select[int, dict[str, object]]) -> Mapping[int, Metadata]:
    with ports.database.reading() as session:
        return {key: read_metadata(stored) for key, stored in session.execute(query)}


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
    column = owner.private_metadata if change.is_private else owner.public_metadata
    before = read_metadata(session.scalars(select(column).where(owner.id == key)).one())
    require_unchanged(change.seen, {name: before.get(name) for name in change.seen})
    after = changed_metadata(before, change, field)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if changed:
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
