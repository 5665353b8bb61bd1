"""``flask webhook list`` and ``events``, and ``delete``."""

import click

from app.commands.name_completion import complete_app_or_global_id, complete_webhook
from app.commands.terminal.options import fields_option
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.commands.webhooks.fields import WEBHOOK, WEBHOOKS, find_app, find_webhook
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.webhooks import required_permission

_EVENTS: tuple[Column[tuple[str, str]], ...] = (
    Column("name", "Event", lambda row: row[0], short=True),
    Column("description", "Tells", lambda row: row[1]),
    Column("permission", "Needs", lambda row: required_permission(row[0])),
)


@webhook_command(
    "list",
    examples=[
        ("flask webhook list", "all webhooks"),
        ("flask webhook list --app Warehouse --active --short", "one line per webhook"),
        (
            "flask webhook list --json -u https://shop.example.com/graphql/",
            "webhooks of another instance",
        ),
    ],
)
@click.option(
    "--app",
    shell_complete=complete_app_or_global_id,
    help="Only webhooks of this app: an ID or a unique name.",
)
@click.option(
    "--active/--inactive",
    "is_active",
    default=None,
    help="Only enabled or only disabled webhooks.",
)
@fields_option(WEBHOOK)
def list_(*, app: str | None, is_active: bool | None) -> None:
    """List the webhooks of all apps."""
    chosen = instance()
    owner = None if app is None else find_app(chosen, app).id
    listed = [
        webhook
        for webhook in chosen.webhooks()
        if owner in (None, webhook.app.id) and is_active in (None, webhook.is_active)
    ]
    output().rows(listed, WEBHOOKS, empty="No webhooks. Create one with: flask webhook create")


@webhook_command(
    "show", examples=[("flask webhook show hook --json", "everything, the query included")]
)
@click.argument("webhook", shell_complete=complete_webhook)
@fields_option(WEBHOOK)
def show(webhook: str) -> None:
    """Show a webhook with its query. Its secret isn't shown."""
    output().show_item(find_webhook(instance(), webhook), WEBHOOK)


@webhook_command("events", examples=[("flask webhook events --short", "names only")])
@fields_option(_EVENTS)
def events() -> None:
    """List the events webhooks can subscribe to.

    Lists each event with the permission an app needs to receive it.
    """
    output().rows(list(instance().event_types().items()), _EVENTS, empty="No events.")


@webhook_command("delete", examples=[("flask webhook delete hook --yes", "without a prompt")])
@click.argument("webhook", shell_complete=complete_webhook)
@yes_option
def delete(webhook: str, *, yes: bool) -> None:
    """Permanently delete a webhook and its delivery history."""
    chosen = instance()
    target = find_webhook(chosen, webhook)
    confirm_action(f"Delete webhook {target.name or target.id} to {target.target_url}?", yes=yes)
    chosen.delete(target)
    output().show_item(target, WEBHOOKS, f"Deleted webhook {target.name or target.id}.")
