"""``flask db``: the database's tables."""

import re

import click

from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, output
from app.commands.terminal.progress import ProgressLines
from app.domain.values.installation import SchemaAhead, SchemaBehind
from app.ports.database import Schema, UpgradeProgress, UpgradeRows, UpgradeStep, UpgradeWait
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

_COLUMNS: tuple[Column[Schema], ...] = (
    Column("current", "Current revision", lambda schema: schema.current(), short=True),
    Column("newest", "Required revision", lambda schema: schema.newest()),
    Column("upToDate", "Up to date", lambda schema: schema.current() == schema.newest()),
)


@command.command("upgrade", examples=[("flask db upgrade", "apply all pending migrations")])
def upgrade() -> None:
    """Migrate the database to this version. Safe to run repeatedly.

    Several machines can run it at the same time: one migrates, the others wait up to 10 minutes.
    """
    schema = installation().ports.schema
    out = output()
    before = schema.current()

    lines: dict[str, ProgressLines] = {}

    def report(progress: UpgradeProgress) -> None:
        if isinstance(progress, UpgradeRows):
            of_table = lines.setdefault(progress.table, ProgressLines(f"    {progress.table}"))
            of_table.show(progress.done, progress.count)
        # Without tables, every step is over at once.
        elif before or isinstance(progress, UpgradeWait):
            out.say(_progress_text(progress))

    count = schema.upgrade(report)
    out.show_item(schema, _COLUMNS)
    if not count:
        out.say("The database is already up to date.")
    else:
        was = f"at {before}" if before else "empty"
        out.say(f"The database was {was} and is at {schema.current()} now.")


def _progress_text(progress: UpgradeStep | UpgradeWait) -> str:
    if isinstance(progress, UpgradeStep):
        return f"[{progress.number}/{progress.count}] {progress.revision}: {progress.title}"
    return (
        "Another process is using the database. Waiting up to "
        f"{progress.seconds / 60:.0f} minutes for it."
    )


@command.command("current", examples=[("flask db current --json", "for a script")])
def current() -> None:
    """Show the database's revision and whether it is current. Exits with 1 if it isn't."""
    schema = installation().ports.schema
    out = output()
    out.show_item(schema, _COLUMNS)
    try:
        schema.check()
    except (SchemaBehind, SchemaAhead) as error:
        out.say(str(error))
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
    output().show_value("file", f"migrations/versions/{revision}.py")
    output().say("Review the migration before you commit it.")
