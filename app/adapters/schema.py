"""The schema port by Alembic, which is slow to load: it is needed only to change the schema."""

from app.adapters import migrations
from app.adapters.database_errors import translate_errors
from app.adapters.schema_revisions import SchemaRevisions
from app.ports.schema import Report, ignore_progress


class AlembicSchema(SchemaRevisions):
    """The tables of the database at ``url``."""

    def upgrade(self, report: Report = ignore_progress) -> int:
        with translate_errors():
            return migrations.upgrade(self.url, report)

    def revise(self, message: str, name: str) -> None:
        with translate_errors():
            migrations.make_revision(self.url, message, name)
