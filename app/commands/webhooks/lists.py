"""``flask webhook list`` and ``events``, and ``delete``."""

from __future__ import annotations

import click

from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import WEBHOOK, WEBHOOKS, find_app, find_webhook
from app.domain.webhooks.subscribable_events import required_permission

_EVENTS = (
    Column[tuple[str, str]]("name", "Event", lambda row: row[0], short=True),
    Column[tuple[str, str]]("description", "Tells", lambda row: row[1]),
    Column[tuple[str, str]]("permission", "Needs", lambda row: required_permission(row[0])),
)


@webhook_command(
    "list",
    examples=[
        ("flask webhook list", "all of them"),
        ("flask webhook list --app Warehouse --active --short", "a line each"),
        ("flask webhook list --json -u https://shop.example.com/graphql/", "another shop's"),
    ],
)
@click.option("--app", help="Those of this app alone: an id, or a name that is unique.")
@click.option(
    "--active/--inactive", "is_active", default=None, help="Only those that are on, or off."
)
def list_(*, app: str | None, is_active: bool | None) -> None:
    """List the webhooks of all apps."""
    chosen = instance()
    owner = None if app is None else find_app(chosen, app).id
    listed = [
        webhook
        for webhook in chosen.webhooks()
        if owner in (None, webhook.app.id) and is_active in (None, webhook.is_active)
    ]
    output().rows(listed, WEBHOOKS, empty="No webhook. Make one: flask webhook create")


@webhook_command(
    "show", examples=[("flask webhook show hook --json", "everything, the query included")]
)
@click.argument("webhook")
def show(webhook: str) -> None:
    """Show one webhook, its query included. Its secret is not shown."""
    output().one(find_webhook(instance(), webhook), WEBHOOK)


@webhook_command("events", examples=[("flask webhook events --short", "their names alone")])
def events() -> None:
    """List the events that webhooks can hear of.

    With each, the permission that an app must hold to be told of it.
    """
    output().rows(list(instance().event_types().items()), _EVENTS, empty="No event.")


@webhook_command("delete", examples=[("flask webhook delete hook --yes", "without being asked")])
@click.argument("webhook")
@yes_option
def delete(webhook: str, *, yes: bool) -> None:
    """Remove a webhook and the record of its deliveries, for good."""
    chosen = instance()
    target = find_webhook(chosen, webhook)
    confirm_action(
        f"Remove the webhook {target.name or target.id} to {target.target_url}?", yes=yes
    )
    chosen.delete(target)
    out = output()
    out.one(target, WEBHOOKS)
    out.say(f"{target.name or target.id} is removed.")
