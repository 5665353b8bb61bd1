"""The schema port by Alembic, which is slow to load: it is needed only to change the schema."""

from app.adapters import migrations
from app.adapters.database_errors import translate_errors
from app.adapters.schema_revisions import SchemaRevisions


class AlembicSchema(SchemaRevisions):
    """The tables of the database at ``url``."""

    def upgrade(self) -> None:
        with translate_errors():
            migrations.upgrade(self.url)

    def revise(self, message: str, name: str) -> None:
        with translate_errors():
            migrations.make_revision(self.url, message, name)
