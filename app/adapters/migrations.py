"""The database's schema, brought up to date by Alembic."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from app.adapters.schema_revisions import SCRIPTS, connection_to


def upgrade(url: str) -> None:
    """Bring the database at ``url`` to the newest revision; safe to repeat."""
    with connection_to(url) as connection:
        command.upgrade(_config(connection), "head")


def make_revision(url: str, message: str, name: str) -> None:
    """Write the migration from the database at ``url`` to what the records say (development)."""
    with connection_to(url) as connection:
        command.revision(_config(connection), message, autogenerate=True, rev_id=name)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("file_template", "%%(rev)s")
    config.attributes["connection"] = connection
    return config
