"""``flask channel``: where the shop sells."""

import click

from app.commands.terminal.command import Group
from app.commands.terminal.options import fields_option
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.commerce.channels import Channel, ChannelChanges, NewChannel
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.services.commerce import channels
from app.web.installation import operator

command = Group(
    "channel",
    short_help="Create, list, update and delete channels.",
    help="Create, list, update and delete channels. SLUG is the name that clients send. Carts and "
    "orders belong to a channel, and permission groups can be restricted to channels.",
    examples=[
        ("flask channel create poland --name Poland --currency EUR --country PL", "a channel"),
        ("flask channel update poland --inactive", "take no more carts"),
        ("flask channel list", "all channels"),
    ],
)

_COLUMNS: tuple[Column[Channel], ...] = (
    Column("id", "ID", lambda channel: channel.id),
    Column("slug", "Slug", lambda channel: channel.slug, short=True),
    Column("name", "Name", lambda channel: channel.name),
    Column("currency", "Currency", lambda channel: channel.currency),
    Column("country", "Country", lambda channel: channel.country),
    Column("isActive", "Active", lambda channel: channel.is_active),
)


@command.command(
    "create",
    examples=[
        ("flask channel create poland --name Poland --currency EUR --country PL", "a channel")
    ],
)
@click.argument("slug")
@click.option("--name", required=True, help="Name that staff see.")
@click.option("--currency", required=True, help="Code of ISO 4217. It can't be changed later.")
@click.option("--country", required=True, help="Code of ISO 3166-1.")
@click.option("--inactive", is_flag=True, help="Take no carts yet.")
def create(slug: str, *, name: str, currency: str, country: str, inactive: bool) -> None:
    """Create a channel."""
    new = NewChannel(name, slug, currency.upper(), country.upper(), is_active=not inactive)
    output().show_item(channels.create_channel(*operator(), new), _COLUMNS)


@command.command("list", examples=[("flask channel list --json", "for a script")])
@fields_option(_COLUMNS)
def list_() -> None:
    """List channels by slug."""
    output().rows(channels.list_channels(*operator()), _COLUMNS, empty="No channels.")


@command.command(
    "update",
    examples=[
        ('flask channel update poland --name "Poland, retail"', "rename it"),
        ("flask channel update poland --inactive", "take no more carts"),
    ],
)
@click.argument("slug")
@click.option("--name", help="Name that staff see.")
@click.option("--slug", "new_slug", help="New slug.")
@click.option("--country", help="Code of ISO 3166-1.")
@click.option("--active/--inactive", default=None, help="Whether carts can be created in it.")
def update(
    slug: str, *, name: str | None, new_slug: str | None, country: str | None, active: bool | None
) -> None:
    """Update a channel."""
    if name is None and new_slug is None and country is None and active is None:
        raise click.UsageError("Nothing to update. Use --name, --slug, --country, --active …")
    changes = ChannelChanges(
        name=ABSENT if name is None else name,
        slug=ABSENT if new_slug is None else new_slug,
        country=ABSENT if country is None else country.upper(),
        is_active=ABSENT if active is None else active,
    )
    output().show_item(channels.update_channel(*operator(), _id(slug), changes), _COLUMNS)


@command.command(
    "delete",
    examples=[
        ("flask channel delete poland --move-to default-channel", "keep its orders and carts"),
        ("flask channel delete poland --yes", "without a prompt"),
    ],
)
@click.argument("slug")
@click.option("--move-to", "target", help="Slug of the channel that orders and carts move to.")
@yes_option
def delete(slug: str, *, target: str | None, yes: bool) -> None:
    """Delete a channel. Without --move-to, its carts are deleted; one with orders stays.

    The question before it says how many orders, carts and groups are concerned.
    """
    channel_id = _id(slug)
    target_id = None if target is None else _id(target)
    used = channels.show_channel_use(*operator(), channel_id)
    confirm_action(f"Delete channel {slug}?{_consequences(used, target)}", yes=yes)
    output().show_item(
        channels.delete_channel(*operator(), channel_id, target_id),
        _COLUMNS,
        f"Deleted channel {slug}.",
    )


def _id(slug: str) -> str:
    return to_global_id("Channel", channels.find_by_slug(*operator(), slug).id)


def _consequences(used: channels.ChannelUse, target: str | None) -> str:
    """Return what a deletion means for what is in the channel, with a space before it."""
    orders, carts, groups = used.orders, used.carts, used.groups
    there = f"deleted with it: {carts}" if target is None else f"moved to {target}: {carts}"
    parts = [
        f" Orders moved to {target}: {orders}." if orders and target is not None else "",
        f" Carts {there}." if carts else "",
        f" Groups limited to channels that lose it: {groups}." if groups else "",
    ]
    return "".join(parts)
