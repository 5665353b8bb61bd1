"""``flask db``: the database's tables."""

import re

import click

from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, output
from app.domain.values.installation_errors import SchemaBehind
from app.ports.schema import Schema
from app.web.installation import installation

command = Group(
    "db",
    short_help="Create the database's tables and keep them up to date.",
    help="Create the database's tables and keep them up to date.",
    examples=[
        ("flask db upgrade", "apply all pending migrations"),
        ("flask db current", "show the current revision"),
    ],
)

_COLUMNS = (
    Column[Schema]("current", "Current revision", lambda schema: schema.current(), short=True),
    Column[Schema]("newest", "Required revision", lambda schema: schema.newest()),
    Column[Schema]("upToDate", "Up to date", lambda schema: schema.current() == schema.newest()),
)


@command.command("upgrade", examples=[("flask db upgrade", "apply all pending migrations")])
def upgrade() -> None:
    """Migrate the database to this version. Safe to run repeatedly."""
    schema = installation().ports.schema
    before = schema.current()
    schema.upgrade()
    out = output()
    out.one(schema, _COLUMNS)
    if before == schema.current():
        out.say("The database is already up to date.")
    else:
        was = f"at {before}" if before else "empty"
        out.say(f"The database was {was} and is at {schema.current()} now.")


@command.command("current", examples=[("flask db current --json", "for a script")])
def current() -> None:
    """Show the database's revision and whether it is current. Exits with 1 if it isn't."""
    schema = installation().ports.schema
    out = output()
    out.one(schema, _COLUMNS)
    at, needed = schema.current(), schema.newest()
    if at != needed:
        out.say(str(SchemaBehind(at, needed)))
        click.get_current_context().exit(Exit.FAILED)


@command.command(
    "revision",
    examples=[
        ('flask db revision carts "Carts and their lines"', ("write a migration from the models"))
    ],
)
@click.argument("name")
@click.argument("message")
def revision(name: str, message: str) -> None:
    """Write a migration for changes to the models (for developers).

    NAME is one word for the file name; MESSAGE describes the migration.
    """
    schema = installation().ports.schema
    number = int((schema.newest() or "0").partition("_")[0]) + 1
    revision = f"{number:04}_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    schema.revise(message.rstrip("."), revision)
    output().alone("file", f"migrations/versions/{revision}.py")
    output().say("Review the migration before you commit it.")
