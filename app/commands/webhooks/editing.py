"""``flask webhook edit``: by flags, or the whole of it in an editor."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from app.commands.output import output
from app.commands.webhooks.fields import Given, event_names, field_options
from app.commands.webhooks.group import webhook_command
from app.commands.webhooks.instances import instance
from app.commands.webhooks.rows import SECRET, WEBHOOK, find_webhook
from app.domain.absent import ABSENT
from app.ports.instance import Instance, KnownWebhook, WebhookDraft

_HEAD = """\
# Change what you like, save and leave the editor. Without a change nothing happens.
# A query says itself which events it is about; the line `events` counts where there is none.

"""
_KINDS: Mapping[str, type] = {
    "name": str,
    "target_url": str,
    "active": bool,
    "events": list,
    "headers": dict,
    "query": str,
}


@webhook_command(
    "edit",
    examples=[
        ("flask webhook edit hook", "in your editor: $EDITOR"),
        ("flask webhook edit hook --target-url https://new.example.com/hook", "by a flag"),
        ("flask webhook edit hook --inactive", "switch it off"),
        ("flask webhook edit hook --query - < paid.graphql", "its query from standard input"),
    ],
)
@click.argument("webhook")
@field_options
@click.option("--no-input", is_flag=True, help="Open no editor.")
def edit(webhook: str, *, no_input: bool, **fields: Any) -> None:
    """Change a webhook: what a flag says, or without any flag all of it in an editor."""
    given = Given(**fields)
    in_editor = given.is_nothing
    if in_editor and (no_input or not sys.stdin.isatty()):
        raise click.UsageError("Say what to change: --target-url, --query, --inactive, …")
    chosen = instance()
    found = find_webhook(chosen, webhook)
    said = _edited(chosen, found) if in_editor else given.draft(chosen)
    out = output()
    if said is None:
        out.say("Nothing was changed.")
        out.one(found, WEBHOOK)
        return
    if given.events and found.query:
        message = "Its query says what it hears of: --event would change nothing. Use --query."
        raise click.UsageError(message)
    changed = chosen.change(found, said)
    out.one(changed, (*WEBHOOK, SECRET) if given.makes_secret else WEBHOOK)


def _edited(instance: Instance, webhook: KnownWebhook) -> WebhookDraft | None:
    """What somebody changed in their editor; ``None`` for nothing. They may mend mistakes."""
    text = _HEAD + _as_toml(webhook)
    while (edited := click.edit(text, extension=".toml")) is not None and edited.strip():
        try:
            return _draft(instance, webhook, tomllib.loads(edited))
        except (tomllib.TOMLDecodeError, click.UsageError) as error:
            told = error.message if isinstance(error, click.UsageError) else str(error)
            click.confirm(f"{told} Edit it again?", default=True, abort=True, err=True)
            text = edited
    return None


def _draft(instance: Instance, webhook: KnownWebhook, read: dict[str, Any]) -> WebhookDraft | None:
    """What differs from ``webhook``; raises ``click.UsageError`` for what cannot be meant."""
    for name, value in read.items():
        kind = _KINDS.get(name)
        if kind is None:
            raise click.UsageError(f"There is no field {name}; there are {', '.join(_KINDS)}.")
        if not isinstance(value, kind):
            raise click.UsageError(f"{name} must be a {kind.__name__}.")
    said = WebhookDraft(
        name=_change(read.get("name"), webhook.name),
        target_url=_change(read.get("target_url"), webhook.target_url),
        is_active=_change(read.get("active"), webhook.is_active),
        custom_headers=_change(read.get("headers"), dict(webhook.custom_headers)),
        query=_change(read.get("query", "").strip() or None, webhook.query.strip()),
    )
    events = [str(one) for one in read.get("events", webhook.events)]
    if not webhook.query and events != list(webhook.events):
        said = replace(said, events=event_names(instance, events))
    return None if said == WebhookDraft() else said


def _change(value: Any, before: Any) -> Any:
    return ABSENT if value is None or value == before else value


def _as_toml(webhook: KnownWebhook) -> str:
    headers = ", ".join(f"{_text(k)} = {_text(v)}" for k, v in webhook.custom_headers.items())
    lines = [
        f"name = {_text(webhook.name)}",
        f"target_url = {_text(webhook.target_url)}",
        f"active = {str(webhook.is_active).lower()}",
        f"events = [{', '.join(map(_text, webhook.events))}]",
        f"headers = {{{headers}}}",
        f"query = {_long_text(webhook.query)}",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    # A string of JSON is one of TOML, too, but for the one character that only TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _long_text(text: str) -> str:
    if not text or "'''" in text or not all(one.isprintable() or one in "\t\n" for one in text):
        return _text(text)
    return f"'''\n{text}'''"
