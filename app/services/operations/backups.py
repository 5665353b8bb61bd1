"""Back up the installation and restore it."""

from pathlib import Path

from sqlalchemy import update

from app.domain.authorization.actor import Actor
from app.domain.values.installation import VERSION, BackupFailed, SchemaBehind
from app.models import ShopRecord
from app.ports import Ports
from app.ports.database import BackupFacts, BackupKey, BackupLock
from app.services.authorization.register import internal
from app.services.keys import mark_withdrawn, withdrawn_keys
from app.services.operations.holds import hold_after_restore

_PURPOSE = "backup"
_TEXT = "SECRET_KEY"
"""A backup holds a keyed hash of this, which shows whether SECRET_KEY is the same."""


@internal
def create_backup(
    ports: Ports, actor: Actor, file: Path, lock: BackupLock
) -> tuple[BackupFacts, int]:
    """Write the database to the encrypted ``file`` while it is used; return its facts and size.

    Everything that was committed before is in it. Raises ``BackupFailed``.
    """
    revision = ports.schema.current()
    if revision is None:
        raise SchemaBehind(None, ports.schema.newest())
    facts = BackupFacts(
        version=VERSION,
        revision=revision,
        database=ports.backups.database,
        created_at=ports.clock.now(),
        secret_key=ports.encryption.fingerprint(_PURPOSE, _TEXT),
    )
    return facts, ports.backups.write(file, facts, lock)


@internal
def restore_backup(
    ports: Ports, actor: Actor, file: Path, key: BackupKey, *, replace: bool
) -> BackupFacts:
    """Replace the contents of the database with those of ``file``.

    The backup is checked before anything changes. Signing keys that were withdrawn here stay
    withdrawn. What the restored database would send is held (``holds``). Raises ``BackupFailed``,
    also for a database with tables unless ``replace``, and ``SchemaAhead`` for a backup of a newer
    version.
    """
    with ports.backups.open(file, key) as backup:
        facts = backup.facts
        if facts.database != ports.backups.database:
            raise BackupFailed(
                f"The backup is of {facts.database}, DATABASE_URL is {ports.backups.database}."
            )
        ports.schema.check_not_ahead(facts.revision)
        if not replace and not ports.backups.is_empty():
            raise BackupFailed(
                "The database isn't empty. Pass --replace to delete everything in it."
            )
        withdrawn = _withdrawn_keys(ports)
        ports.database.close()
        backup.restore()
        with ports.database.transaction() as session:
            hold_after_restore(session, ports.clock.now())
            if withdrawn:
                mark_withdrawn(session, sorted(withdrawn), ports.clock.now())
                session.execute(
                    update(ShopRecord).values(keys_version=ShopRecord.keys_version + 1)
                )
    return facts


def _withdrawn_keys(ports: Ports) -> frozenset[str]:
    if ports.backups.is_empty():
        return frozenset()
    try:
        return withdrawn_keys(ports)
    except SchemaBehind:
        return frozenset()  # other tables than Latchkey's, or older than the keys'


@internal
def reads_secrets_of(ports: Ports, actor: Actor, facts: BackupFacts) -> bool:
    """Whether SECRET_KEY or a former one is that of the backup."""
    return facts.secret_key in ports.encryption.known_fingerprints(_PURPOSE, _TEXT)
