"""The database's schema, brought up to date by Alembic."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from app.adapters.schema_revisions import SCRIPTS, connection_to

_STYLE = {
    "fix": "check --fix --quiet REVISION_SCRIPT_FILENAME",
    "format": "format --quiet REVISION_SCRIPT_FILENAME",
}
"""What ruff does to a new migration, by the name of Alembic's hook."""


def upgrade(url: str) -> None:
    """Bring the database at ``url`` to the newest revision; safe to repeat."""
    with connection_to(url) as connection:
        command.upgrade(_config(connection), "head")


def make_revision(url: str, message: str, name: str) -> None:
    """Write the migration from the database at ``url`` to what the records say (development).

    ruff, which is among the development requirements, gives the file the project's style.
    """
    with connection_to(url) as connection:
        config = _config(connection)
        config.set_section_option("post_write_hooks", "hooks", "fix, format")
        for hook, options in _STYLE.items():
            config.set_section_option("post_write_hooks", f"{hook}.type", "module")
            config.set_section_option("post_write_hooks", f"{hook}.module", "ruff")
            config.set_section_option("post_write_hooks", f"{hook}.options", options)
        command.revision(config, message, autogenerate=True, rev_id=name)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("file_template", "%%(rev)s")
    config.attributes["connection"] = connection
    return config
