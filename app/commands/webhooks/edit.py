"""``flask webhook edit``: by flags, or the whole of it in an editor."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from app.commands.name_completion import complete_webhook
from app.commands.terminal.output import legible, output
from app.commands.webhooks.edited_file import edited_file
from app.commands.webhooks.fields import WebhookOptions, event_names, field_options
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_webhook
from app.commands.webhooks.permission_warnings import warn_of_missing_permission
from app.commands.webhooks.target_hints import explain_target_errors
from app.commands.webhooks.toml_form import Unreadable, format_toml, parse_toml
from app.domain.values.errors import Refused
from app.domain.values.inputs import Absent
from app.domain.values.installation import Fault
from app.ports.instance import Instance, InstanceWebhook, WebhookDraft


@webhook_command(
    "edit",
    examples=[
        ("flask webhook edit hook", "in your editor ($EDITOR)"),
        ("flask webhook edit hook --target-url https://new.example.com/hook", "with an option"),
        ("flask webhook edit hook --inactive", "disable it"),
        ("flask webhook edit hook --query - < paid.graphql", "read its query from standard input"),
    ],
)
@click.argument("webhook", shell_complete=complete_webhook)
@field_options
@click.option("--no-input", is_flag=True, help="Never open an editor.")
def edit(webhook: str, *, no_input: bool, **fields: Any) -> None:
    """Update a webhook with options, or in an editor if there are none."""
    options = WebhookOptions(**fields)
    in_editor = options.is_nothing
    if in_editor and (no_input or not sys.stdin.isatty()):
        raise click.UsageError("Nothing to update. Use --target-url, --query, --inactive, …")
    chosen = instance()
    current = find_webhook(chosen, webhook)
    if options.events and current.query:
        message = "This webhook's query defines its events. Use --query instead of --event."
        raise click.UsageError(message)
    draft = options.draft(chosen)
    changed = _edit(chosen, current) if in_editor else _changed(chosen, current, draft)
    out = output()
    if changed is None:
        out.say("No changes were made.")
    out.one(changed or current, options.columns(draft))
    if changed is not None:
        warn_of_missing_permission(changed)


def _changed(instance: Instance, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
    with explain_target_errors(draft):
        return instance.change(webhook, draft)


def _edit(instance: Instance, webhook: InstanceWebhook) -> InstanceWebhook | None:
    """Edit the webhook as TOML; ``None`` if nothing changed. Mistakes can be corrected there."""
    with edited_file(format_toml(webhook), ".toml", output().say) as file:
        while (text := file.edit()).strip():
            try:
                draft = parse_toml(webhook, text)
                if not isinstance(draft.events, Absent):
                    draft = replace(draft, events=event_names(instance, draft.events))
                return None if draft == WebhookDraft() else _changed(instance, webhook, draft)
            except (Unreadable, Refused, Fault, click.UsageError) as error:
                file.explain(text, str(error))
                question = f"{legible(str(error))} Edit again?"
                click.confirm(question, default=True, abort=True, err=True)
    return None
