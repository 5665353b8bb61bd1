"""``flask webhook``: the group, and all of its commands."""

from app.commands.webhooks import (
    bulk,
    creation,
    deliveries,
    editing,
    listening,
    lists,
    replays,
    trials,
    verification,
)
from app.commands.webhooks.group import command

__all__ = [
    "bulk",
    "command",
    "creation",
    "deliveries",
    "editing",
    "listening",
    "lists",
    "replays",
    "trials",
    "verification",
]
