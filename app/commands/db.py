"""``flask db``: the database's tables."""

import re

import click

from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, output
from app.ports.schema import Schema
from app.web.installation import installation

command = Group(
    "db",
    short_help="Create the database's tables and keep them up to date.",
    help="Create the database's tables and keep them up to date.",
    examples=[
        ("flask db upgrade", "bring the tables to what this version needs"),
        ("flask db current", "see whether they are"),
    ],
)

_COLUMNS = (
    Column[Schema]("current", "Tables are at", lambda schema: schema.current(), short=True),
    Column[Schema]("newest", "This version needs", lambda schema: schema.newest()),
    Column[Schema]("upToDate", "Up to date", lambda schema: schema.current() == schema.newest()),
)


@command.command("upgrade", examples=[("flask db upgrade", "safe to repeat")])
def upgrade() -> None:
    """Bring the tables, and what is in them, to what this version needs. Safe to repeat."""
    schema = installation().ports.schema
    before = schema.current()
    schema.upgrade()
    out = output()
    out.one(schema, _COLUMNS)
    if before == schema.current():
        out.say("The database was up to date.")
    else:
        was = f"at {before}" if before else "empty"
        out.say(f"The database was {was} and is at {schema.current()} now.")


@command.command("current", examples=[("flask db current --json", "for a script")])
def current() -> None:
    """Show at which revision the tables are, and whether that is the newest."""
    output().one(installation().ports.schema, _COLUMNS)


@command.command(
    "revision",
    examples=[('flask db revision carts "Carts and their lines"', "compare and write it down")],
)
@click.argument("name")
@click.argument("message")
def revision(name: str, message: str) -> None:
    """Write the migration from the tables to what the records say (for developers).

    NAME is one word for its file; MESSAGE says what it is about.
    """
    schema = installation().ports.schema
    number = int((schema.newest() or "0").partition("_")[0]) + 1
    revision = f"{number:04}_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    schema.revise(message.rstrip("."), revision)
    output().alone("file", f"migrations/versions/{revision}.py")
    output().say("Read it before you keep it.")
