"""The schema port by Alembic, which is slow to load: only who changes the schema waits for it."""

from app.adapters import migrations, schema_revisions
from app.adapters.database_errors import translate_errors


class AlembicSchema:
    """The tables of the database at ``url``."""

    def __init__(self, url: str) -> None:
        self._url = url

    def upgrade(self) -> None:
        with translate_errors():
            migrations.upgrade(self._url)

    def current(self) -> str | None:
        with translate_errors():
            return schema_revisions.current(self._url)

    def newest(self) -> str | None:
        return schema_revisions.newest()

    def revise(self, message: str, name: str) -> None:
        with translate_errors():
            migrations.make_revision(self._url, message, name)
