"""``flask webhook deliveries``, ``retry`` and ``replay``: list, follow and resend deliveries."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice

import click

from app.commands.name_completion import complete_webhook
from app.commands.terminal.exit_codes import Exit, Failure, failure_of
from app.commands.terminal.options import fields_option, read_moment
from app.commands.terminal.output import Column, output
from app.commands.terminal.progress import progress, show_progress, steps
from app.commands.terminal.prompts import confirm_action, may_ask, yes_option
from app.commands.webhooks.fields import (
    DELIVERIES,
    complete_event,
    event_names,
    find_webhook,
    payload_of,
)
from app.commands.webhooks.follow import DeliveryFollower, WebhookDelivery, delivery_pages
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.deliveries.deliveries import DeliveryStatus, ReplayResult, ReplayScope
from app.domain.values.errors import Refused
from app.domain.values.installation import OnProgress
from app.ports.instance import DeliveryQuery, Instance, InstanceDelivery, InstanceWebhook
from app.web.installation import remote_access

_PAGE = 50
_MAX_DELIVERIES = 10_000


COLUMNS: tuple[Column[WebhookDelivery], ...] = (
    *(column.of(lambda row: row.delivery) for column in DELIVERIES),
    Column("webhook", "Webhook", lambda row: row.webhook.name or row.webhook.id),
    Column("webhookId", "Webhook ID", lambda row: row.webhook.id),
)
_WITH_PAYLOAD: tuple[Column[WebhookDelivery], ...] = (
    *COLUMNS,
    Column("payload", "Payload", lambda sent: payload_of(sent.delivery)),
    Column(
        "response",
        "Answered",
        lambda sent: None if sent.delivery.attempt is None else sent.delivery.attempt.response,
    ),
)
_RETRYING = "RETRYING"
"""A delivery that failed and waits for another attempt: ``PENDING`` with an attempt."""


@webhook_command(
    "deliveries",
    examples=[
        ("flask webhook deliveries hook --status FAILED --since 2h", "recent failures"),
        (
            "flask webhook deliveries --code 500 --payload --json",
            "with payloads and responses, as JSON",
        ),
        ("flask webhook deliveries --status RETRYING", "what waits for another attempt"),
        ("flask webhook deliveries --follow", "follow new deliveries until Ctrl-C"),
    ],
)
@click.argument("webhook", required=False, shell_complete=complete_webhook)
@click.option(
    "--status",
    type=click.Choice([*map(str, DeliveryStatus), _RETRYING], case_sensitive=False),
    help="Only deliveries with this status. RETRYING: failed so far, and will be tried again.",
)
@click.option("--event", shell_complete=complete_event, help="Only deliveries of this event.")
@click.option(
    "--code",
    type=click.IntRange(100, 599),
    help="Only deliveries whose last response had this HTTP status.",
)
@click.option("--since", help="Only deliveries since then: 30m, 2h, 3d or a date.")
@click.option(
    "--limit",
    type=click.IntRange(1, _MAX_DELIVERIES),
    default=_PAGE,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--payload", is_flag=True, help="Include payloads and responses.")
@click.option(
    "--follow",
    is_flag=True,
    help="Keep printing new deliveries until Ctrl-C. With --json, one object per line.",
)
@fields_option(_WITH_PAYLOAD)
def deliveries(  # noqa: PLR0913 - one for each option
    webhook: str | None,
    status: str | None,
    event: str | None,
    code: int | None,
    since: str | None,
    limit: int,
    *,
    payload: bool,
    follow: bool,
) -> None:
    """List deliveries of one webhook or all webhooks, newest first.

    Deliveries are kept for 14 days.
    """
    now = remote_access().clock.now()
    start = read_moment(since, now) if since else None
    chosen = instance()
    retrying = status == _RETRYING
    if retrying:
        status = DeliveryStatus.PENDING.value
    filter_ = DeliveryQuery(status or "", event_names(chosen, [event])[0] if event else "", _PAGE)
    webhooks = [find_webhook(chosen, webhook)] if webhook else list(chosen.webhooks())
    columns = _WITH_PAYLOAD if payload else COLUMNS
    out = output()
    if follow:
        follower = DeliveryFollower(chosen, webhooks, start or now, 1.0, filter_, say=out.say)
        for sent in follower.stream():
            if _is_shown(sent.delivery, code, retrying=retrying):
                out.show_next(sent, columns)
        return
    every = heapq.merge(
        *(_all_deliveries(chosen, webhook, filter_, start) for webhook in webhooks),
        key=lambda sent: sent.delivery.created_at,
        reverse=True,
    )
    fitting = (sent for sent in every if _is_shown(sent.delivery, code, retrying=retrying))
    out.rows(list(islice(fitting, limit)), columns, empty="No deliveries.")


def _all_deliveries(
    instance: Instance, webhook: InstanceWebhook, filter_: DeliveryQuery, since: datetime | None
) -> Iterator[WebhookDelivery]:
    """Yield a webhook's deliveries, newest first, fetching pages as they are needed."""
    for page in delivery_pages(instance, webhook, filter_):
        for item in page:
            if since is not None and item.created_at < since:
                return
            yield WebhookDelivery(webhook, item)


def _is_shown(delivery: InstanceDelivery, code: int | None, *, retrying: bool) -> bool:
    attempt = delivery.attempt
    if retrying and attempt is None:
        return False
    return code is None or (attempt is not None and attempt.response_status == code)


@dataclass(frozen=True, slots=True)
class Retried:
    """A delivery that was to be made again, or why it is not."""

    id: str
    delivery: InstanceDelivery | None = None
    problem: str = ""


_RETRIED: tuple[Column[Retried], ...] = (
    Column("id", "ID", lambda retried: retried.id, short=True),
    *(column.of(lambda retried: retried.delivery) for column in DELIVERIES[1:]),
    Column("problem", "Problem", lambda retried: retried.problem or None, short=True),
)
_SENT_NOW: tuple[Column[int], ...] = (
    Column("count", "Sent now", lambda count: count, short=True),
)
_COUNTED: tuple[Column[ReplayResult], ...] = (
    Column("failed", "Failed", lambda result: result.failed, short=True),
    Column("missing", "Missing", lambda result: result.missing, short=True),
    Column("earlier", "From before its creation", lambda result: result.earlier, short=True),
)
_REPLAYED: tuple[Column[ReplayResult], ...] = (
    Column("failed", "Failed, resent", lambda result: result.failed, short=True),
    Column("missing", "Missing, created", lambda result: result.missing, short=True),
)


@webhook_command(
    "retry", examples=[("flask webhook retry RXZlbnREZWxpdmVyeTox", "one delivery by ID")]
)
@click.argument("delivery_ids", metavar="DELIVERY...", nargs=-1, required=True)
def retry(delivery_ids: tuple[str, ...]) -> None:
    """Resend deliveries now, with the same webhook-id.

    DELIVERY is an ID, as shown by `flask webhook deliveries`. Exits with 3 if a delivery was
    refused; the others are resent.
    """
    done: list[Retried] = []
    failure = _retry_all(instance(), delivery_ids, done)
    out = output()
    out.rows(done, _RETRIED, empty="")
    troubled = [retried for retried in done if retried.problem]
    for retried in troubled:
        out.say(f"Error: {retried.id}: {retried.problem}")
    for webhook in _paused_webhooks(done):
        out.say(
            f"The webhook {webhook.name!r} is paused: its deliveries are sent, in order, once it "
            f"is resumed: `flask webhook resume {webhook.id}`."
        )
    if failure is not None:
        out.say(
            f"Not resent: {len(delivery_ids) - len(done)}. The failed request may still have "
            "been applied."
        )
        click.get_current_context().exit(failure.exit)
    if troubled:
        click.get_current_context().exit(Exit.REFUSED)


def _retry_all(instance: Instance, ids: Sequence[str], done: list[Retried]) -> Failure | None:
    """Add to ``done`` what became of each; what kept it from going on after the first."""
    with closing(steps(ids, "Retrying")) as every:
        for delivery_id in every:
            try:
                done.append(_retry(instance, delivery_id))
            except (Exception, KeyboardInterrupt) as error:
                failure = failure_of(error)
                if failure is None or not done:
                    raise
                done.append(Retried(delivery_id, problem=failure.errors[0].message))
                return failure
    return None


def _paused_webhooks(done: Sequence[Retried]) -> list[InstanceWebhook]:
    """Return the paused webhooks that have resent deliveries, which wait then."""
    resent = [one.delivery for one in done if one.delivery is not None]
    if not resent:
        return []
    try:
        chosen = instance()
        paused = [one for one in chosen.webhooks() if one.is_paused]
        return [one for one in paused if _has_any(chosen, one, resent)]
    except Exception as error:
        if failure_of(error) is None:
            raise
        return []  # what was resent is resent


def _has_any(
    instance: Instance, webhook: InstanceWebhook, resent: Sequence[InstanceDelivery]
) -> bool:
    """Return whether one of ``resent`` is among the waiting deliveries of ``webhook``."""
    keys = {one.id for one in resent}
    waiting = DeliveryQuery(DeliveryStatus.PENDING.value, size=_PAGE)
    oldest = min(one.created_at for one in resent)
    every = islice(_all_deliveries(instance, webhook, waiting, oldest), _MAX_DELIVERIES)
    return any(sent.delivery.id in keys for sent in every)


def _retry(instance: Instance, delivery_id: str) -> Retried:
    try:
        return Retried(delivery_id, instance.retry(delivery_id))
    except Refused as refused:
        return Retried(delivery_id, problem=str(refused))


@webhook_command(
    "replay",
    examples=[
        ("flask webhook replay hook --since 2h", "failed and missed events of the last 2 hours"),
        ("flask webhook replay hook --since 2026-03-01 --failed", "only failed deliveries"),
        ("flask webhook replay hook --since 1d --missing", "only missed events"),
    ],
)
@click.argument("webhook", shell_complete=complete_webhook)
@click.option("--since", required=True, help="Start of the period: 30m, 2h, 3d or a date.")
@click.option("--failed", is_flag=True, help="Only failed deliveries.")
@click.option(
    "--missing",
    is_flag=True,
    help="Only events the webhook never received, for example while it was disabled.",
)
@click.option(
    "--before-creation", is_flag=True, help="Also send events from before the webhook was created."
)
@click.option("--preview", is_flag=True, help="Count what would be sent, and send nothing.")
@yes_option
def replay(
    webhook: str,
    since: str,
    *,
    failed: bool,
    missing: bool,
    before_creation: bool,
    preview: bool,
    yes: bool,
) -> None:
    """Resend a webhook's failed deliveries and send the events it missed.

    Says how many it sends before it does, and asks on a terminal. Events from before the webhook
    was created aren't sent, unless you pass --before-creation.
    """
    start = read_moment(since, remote_access().clock.now())
    chosen = instance()
    target = find_webhook(chosen, webhook)
    scope = ReplayScope(failed or not missing, missing or not failed, before_creation)
    out = output()
    counted = chosen.replay(target.id, start, scope, preview=True)
    if preview:
        out.show_item(counted, _COUNTED)
        return
    out.say(_announcement(counted, target.target_url))
    if counted.failed or counted.missing:
        # Scripts that can't be asked are told and go on: replaying takes nothing away.
        confirm_action("Send these deliveries?", yes=yes or not may_ask())
    with progress("Scheduling deliveries") as report:
        done = chosen.replay(target.id, start, scope, on_progress=report)
        rest = partial(chosen.replay, target.id, start, replace(scope, failed=False, missing=True))
        done, failure = _replay_rest(rest, done, report)
    out.show_item(done, _REPLAYED)
    out.say(f"Deliveries scheduled to {target.target_url}: {done.failed + done.missing}.")
    if target.is_paused:
        out.say(_paused_words(target))
    if failure is not None:
        out.say(
            f"{failure.errors[0].message} More events are missing. Run the command again to "
            "replay the rest."
        )
        click.get_current_context().exit(failure.exit)


def _paused_words(webhook: InstanceWebhook) -> str:
    """Say why nothing is sent now, and what to do."""
    return (
        f"The webhook is paused: its deliveries are sent, in order, once it is resumed: "
        f"`flask webhook resume {webhook.id}`."
    )


def _announcement(counted: ReplayResult, url: str) -> str:
    """Say what a replay is about to send."""
    more = " or more" if counted.has_more else ""
    said = (
        f"Failed deliveries to resend: {counted.failed:,}. Missed events to send: "
        f"{counted.missing:,}{more}. To: {url}."
    )
    if counted.earlier:
        said += (
            f" Left out, from before the webhook was created: {counted.earlier:,}. "
            "--before-creation sends them too."
        )
    return said


@webhook_command(
    "send-waiting",
    examples=[("flask webhook send-waiting hook", "after its endpoint was repaired")],
)
@click.argument("webhook", shell_complete=complete_webhook)
def send_waiting(webhook: str) -> None:
    """Send a webhook's deliveries now that wait for a later attempt.

    When an endpoint works again after 5 minutes or more, this happens by itself, with 20
    deliveries a second. Those of a paused webhook wait until it is resumed.
    """
    chosen = instance()
    target = find_webhook(chosen, webhook)
    count = chosen.send_waiting(target.id)
    out = output()
    out.show_item(count, _SENT_NOW)
    if target.is_paused:
        out.say(_paused_words(target))
        return
    out.say(f"Deliveries that are sent to {target.target_url} now: {count:,}.")


def _replay_rest(
    run: Callable[..., ReplayResult], done: ReplayResult, report: OnProgress
) -> tuple[ReplayResult, Failure | None]:
    """Replay what one call left over; return the sum, and what ended it early."""
    while done.has_more:
        before = done.failed + done.missing
        show_progress(f"{before:,} deliveries scheduled.")
        try:
            rest = run(on_progress=partial(_report_further, report, before))
        except (Exception, KeyboardInterrupt) as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return done, failure
        done = ReplayResult(done.failed, done.missing + rest.missing, rest.has_more)
    return done, None


def _report_further(report: OnProgress, before: int, done: int, total: int) -> None:
    report(before + done, before + total)
