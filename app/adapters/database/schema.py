"""The schema port by Alembic, which is slow to load: it is needed only to change the schema."""

from app.adapters.database.engines import SchemaRevisions
from app.adapters.database.outages import translate_errors
from app.adapters.deferred import imported_when_used
from app.ports.database import Report, ignore_progress
from app.ports.keys import Encryption

with imported_when_used():
    from app.adapters.database import migrations


class AlembicSchema(SchemaRevisions):
    """The tables of the database at ``url``; what an upgrade encrypts needs ``encryption``."""

    def __init__(self, url: str, encryption: Encryption | None = None) -> None:
        super().__init__(url)
        self._encryption = encryption

    def upgrade(self, report: Report = ignore_progress) -> int:
        with translate_errors():
            encrypt = None if self._encryption is None else self._encryption.encrypt
            return migrations.upgrade(self.url, report, encrypt=encrypt)

    def revise(self, message: str, name: str) -> None:
        with translate_errors():
            migrations.make_revision(self.url, message, name)
