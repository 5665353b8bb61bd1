"""``flask webhook retry`` and ``replay``: deliveries made again."""

from __future__ import annotations

import click

from app.commands.exits import Exit
from app.commands.moments import read_moment
from app.commands.output import Column, output
from app.commands.progress import steps
from app.commands.webhooks.group import webhook_command
from app.commands.webhooks.instances import instance
from app.commands.webhooks.rows import DELIVERIES, find_webhook
from app.domain.deliveries import Replayed
from app.domain.errors import Refused
from app.web.elsewhere import elsewhere

_REPLAYED = (
    Column[Replayed]("failed", "Failed, due again", lambda one: one.failed, short=True),
    Column[Replayed]("missing", "Missing, made now", lambda one: one.missing, short=True),
)


@webhook_command(
    "retry",
    examples=[
        ("flask webhook retry RXZlbnREZWxpdmVyeTox", "one delivery, by its id"),
    ],
)
@click.argument("delivery_ids", metavar="DELIVERY...", nargs=-1, required=True)
def retry(delivery_ids: tuple[str, ...]) -> None:
    """Make deliveries again, at once and with the same webhook-id.

    Ends with 3 when one of them was refused; the others are on their way.
    """
    chosen = instance()
    out = output()
    made = []
    refused = []
    for one in steps(delivery_ids, "Retrying"):
        try:
            made.append(chosen.retry(one))
        except Refused as error:
            refused.append(f"Error: {one}: {error}")
    out.rows(made, DELIVERIES, empty="Nothing is sent again.")
    for line in refused:
        out.say(line)
    if refused:
        click.get_current_context().exit(Exit.REFUSED)


@webhook_command(
    "replay",
    examples=[
        ("flask webhook replay hook --since 2h", "what failed or never came in two hours"),
        ("flask webhook replay hook --since 2026-03-01 --failed", "what failed alone"),
        ("flask webhook replay hook --since 1d --missing", "what it was never told"),
    ],
)
@click.argument("webhook")
@click.option("--since", required=True, help="From when on: 30m, 2h, 3d ago, or a date.")
@click.option("--failed", is_flag=True, help="Those alone that failed.")
@click.option("--missing", is_flag=True, help="Those alone that it never got: it was off, say.")
def replay(webhook: str, since: str, *, failed: bool, missing: bool) -> None:
    """Make all deliveries of a webhook again that failed, and those that it never got."""
    start = read_moment(since, elsewhere().clock.now())
    chosen = instance()
    found = find_webhook(chosen, webhook)
    both = failed == missing
    done = chosen.replay(found.id, start, failed=failed or both, missing=missing or both)
    out = output()
    out.one(done, _REPLAYED)
    out.say(f"{done.failed + done.missing} deliveries are on their way to {found.target_url}.")
