"""A webhook as a sheet of text that people edit: TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.domain.values.inputs import ABSENT
from app.ports.instance import InstanceWebhook, WebhookDraft

_HEAD = """\
# Save and close the editor to update the webhook. Without a change, nothing is saved.
# A query defines its own events; `events` is used only without a query.

"""
_KINDS: Mapping[str, type] = {
    "name": str,
    "target_url": str,
    "active": bool,
    "events": list,
    "headers": dict,
    "query": str,
}


_TYPE_NAMES = {str: "a text", bool: "true or false", list: "a list", dict: "a table"}


class Unreadable(Exception):
    """The TOML is invalid; the text says what is wrong."""


def format_toml(webhook: InstanceWebhook) -> str:
    """What may be changed of a webhook, and how that is done."""
    headers = ", ".join(f"{_text(k)} = {_text(v)}" for k, v in webhook.custom_headers.items())
    lines = [
        f"name = {_text(webhook.name)}",
        f"target_url = {_text(webhook.target_url)}",
        f"active = {str(webhook.is_active).lower()}",
        f"events = [{', '.join(map(_text, webhook.events))}]",
        f"headers = {{{headers}}}",
        f"query = {_long_text(webhook.query)}",
    ]
    return _HEAD + "\n".join(lines) + "\n"


def _text(text: str) -> str:
    # A JSON string is also a TOML string, except for the one character that only TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _long_text(text: str) -> str:
    if (
        not text
        or "'''" in text
        or not all(character.isprintable() or character in "\t\n" for character in text)
    ):
        return _text(text)
    return f"'''\n{text}'''"


def parse_toml(webhook: InstanceWebhook, text: str) -> WebhookDraft:
    """Return the changes in the TOML ``text`` against ``webhook``; raises ``Unreadable``.

    A missing line or an empty query changes nothing.
    """
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(str(error)) from None
    for name, value in read.items():
        if name not in _KINDS:
            raise Unreadable(f"Unknown field {name}. Available fields: {', '.join(_KINDS)}.")
        if not isinstance(value, _KINDS[name]):
            raise Unreadable(f"{name} must be {_TYPE_NAMES[_KINDS[name]]}.")
    headers, events = read.get("headers", {}), read.get("events", webhook.events)
    if not all(isinstance(value, str) for value in (*headers.values(), *events)):
        raise Unreadable("Events and header values must be strings. Put them in quotes.")
    draft = WebhookDraft(
        name=_change(read.get("name"), webhook.name),
        target_url=_change(read.get("target_url"), webhook.target_url),
        is_active=_change(read.get("active"), webhook.is_active),
        custom_headers=_change(read.get("headers"), dict(webhook.custom_headers)),
        query=_change(read.get("query", "").strip() or None, webhook.query.strip()),
    )
    # Where there is a query, it says itself what it is about.
    has_query = webhook.query or draft.query is not ABSENT
    return draft if has_query else replace(draft, events=_change(tuple(events), webhook.events))


def _change(value: Any, before: Any) -> Any:
    return ABSENT if value is None or value == before else value
