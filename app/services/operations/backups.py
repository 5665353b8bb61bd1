"""Back up the installation and restore it."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.exc import InternalError

from app import models
from app.domain.authorization.actor import Actor
from app.domain.values.installation import VERSION, BackupFailed, DatabaseUnavailable, SchemaBehind
from app.ports import Ports
from app.ports.database import BackupFacts, BackupKey, BackupLock
from app.services.authorization.register import internal
from app.services.keys import mark_withdrawn, stored_ring
from app.services.operations.holds import hold_after_restore

_PURPOSE = "backup"
_WORKER_SEEN = timedelta(seconds=20)
"""A worker shows a sign of life every 15 seconds."""

_TEXT = "SECRET_KEY"
"""A backup holds a keyed hash of this, which shows whether SECRET_KEY is the same."""


@internal
def create_backup(
    ports: Ports, actor: Actor, file: Path, lock: BackupLock
) -> tuple[BackupFacts, int]:
    """Write the database to the encrypted ``file`` while it is used; return its facts and size.

    Everything that was committed before is in it. The database notes when, for its metric. Raises
    ``BackupFailed``.
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
    size = ports.backups.write(file, facts, lock)
    if revision == ports.schema.newest():
        # A replica can be backed up, but not written to.
        with suppress(InternalError, DatabaseUnavailable), ports.database.transaction() as session:
            session.execute(update(models.Heartbeat).values(backed_up_at=ports.shared_clock.now()))
    return facts, size


@internal
def restore_backup(
    ports: Ports,
    actor: Actor,
    file: Path,
    key: BackupKey,
    *,
    replace: bool,
    beside_worker: bool = False,
) -> BackupFacts:
    """Replace the contents of the database with those of ``file``.

    The backup is checked before anything changes. Signing keys that were withdrawn here stay
    withdrawn. What the restored database would send is held (``holds``). Raises ``BackupFailed``,
    also for a database with tables unless ``replace``, and for one whose worker runs unless
    ``beside_worker``: it would send for some seconds before it sees the hold. Raises
    ``SchemaAhead`` for a backup of a newer version.
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
        if not beside_worker and _has_worker(ports):
            raise BackupFailed(
                "A worker uses this database. It would send what waits in the backup before it "
                "sees that it is held. Stop all servers and workers, wait 20 seconds and try "
                "again, or pass --beside-worker."
            )
        withdrawn = _withdrawn_keys(ports)
        ports.database.close()
        backup.restore()
        with ports.database.transaction() as session:
            hold_after_restore(session, ports.clock.now())
            if withdrawn:
                mark_withdrawn(session, sorted(withdrawn), ports.clock.now())
                session.execute(
                    update(models.Shop).values(keys_version=models.Shop.keys_version + 1)
                )
    return facts


def _has_worker(ports: Ports) -> bool:
    """Whether a worker has shown a sign of life lately; one that has ended leaves none."""
    if ports.backups.is_empty():
        return False
    try:
        with ports.database.reading() as session:
            beat_at = session.scalar(select(models.Heartbeat.beat_at))
    except SchemaBehind:
        return False  # other tables than Latchkey's, or of a version before the heartbeat
    return beat_at is not None and ports.shared_clock.now() - beat_at < _WORKER_SEEN


def _withdrawn_keys(ports: Ports) -> frozenset[str]:
    if ports.backups.is_empty():
        return frozenset()
    try:
        return stored_ring(ports).withdrawn
    except SchemaBehind:
        return frozenset()  # other tables than Latchkey's, or older than the keys'


@internal
def reads_secrets_of(ports: Ports, actor: Actor, facts: BackupFacts) -> bool:
    """Whether SECRET_KEY or a former one is that of the backup."""
    return facts.secret_key in ports.encryption.known_fingerprints(_PURPOSE, _TEXT)
