"""``flask webhook dry-run`` and ``trigger``: preview a payload, or send it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import click

from app.commands.name_completion import complete_app_or_global_id, complete_webhook
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.options import read_text
from app.commands.terminal.output import Column, Form, json_text, output, write
from app.commands.webhooks import fields
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.values.errors import Problem, Refused
from app.domain.values.line_diff import diff_lines, unified_diff
from app.ports.instance import DeliveryQuery, Instance, InstanceDelivery, InstanceWebhook

_LOOKED_AT = 100
_OBJECT_ID = "API ID of the object. Repeatable. Default: the newest matching object."


@dataclass(frozen=True, slots=True)
class Trial:
    """One dry run; ``diff`` are lines against the delivery ``compared_with``, none if the same."""

    object_id: str | None
    payload: Mapping[str, object] | None = field(default=None, repr=False)
    problems: tuple[Problem, ...] = ()
    compared_with: str | None = None
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    instance: Instance
    query: str | None
    app_id: str | None
    webhook: InstanceWebhook | None
    diff_last: bool


_COLUMNS: tuple[Column[Trial], ...] = (
    Column("objectId", "Object", lambda trial: trial.object_id),
    Column("payload", "Payload", lambda trial: trial.payload),
    Column(
        "errors",
        "Errors",
        lambda trial: [
            {"code": it.code, "message": it.message, "field": it.field} for it in trial.problems
        ],
    ),
    Column("comparedWith", "Compared with", lambda trial: trial.compared_with),
    Column("diff", "Difference", lambda trial: list(trial.diff)),
)


@webhook_command(
    "dry-run",
    examples=[
        ("flask webhook dry-run --query @paid.graphql", "with the newest matching object"),
        ("flask webhook dry-run --object-id UHJvZHVjdDox", "with the object's default query"),
        ("flask webhook dry-run --webhook hook --object-id T3JkZXI6MQ==", "an existing webhook"),
        ("flask webhook dry-run --webhook hook --diff-last", "compare with the last delivery"),
        ("flask webhook dry-run --query - --json < paid.graphql", "for a script"),
    ],
)
@click.option("--object-id", "object_ids", multiple=True, help=_OBJECT_ID)
@click.option("--query", help="The subscription query: text, @FILE or - for standard input.")
@click.option(
    "--webhook", shell_complete=complete_webhook, help="Use the query and app of this webhook."
)
@click.option(
    "--app",
    shell_complete=complete_app_or_global_id,
    help="Run as this app. Default: the app of --webhook, or your account.",
)
@click.option(
    "--diff-last", is_flag=True, help="Compare with the last delivery of --webhook, line by line."
)
def dry_run(
    object_ids: tuple[str, ...],
    query: str | None,
    webhook: str | None,
    app: str | None,
    *,
    diff_last: bool,
) -> None:
    """Preview a webhook's payload without sending it.

    Exits with 3 if a preview fails.
    """
    if not (object_ids or query or webhook):
        raise click.UsageError("Missing --query, --object-id or --webhook.")
    if diff_last and not webhook:
        raise click.UsageError("--diff-last requires --webhook.")
    text = None if query is None else read_text(query)
    chosen = instance()
    webhook_record = fields.find_webhook(chosen, webhook) if webhook else None
    owner = None if webhook_record is None else webhook_record.app.id
    if app:
        owner = fields.find_app(chosen, app).id
    subscription = text or (
        webhook_record.query if webhook_record and webhook_record.query else None
    )
    if subscription is None and not object_ids:
        raise click.UsageError("This webhook has no query. Add --object-id.")
    plan = _Plan(chosen, subscription, owner, webhook_record, diff_last)
    trials = [_try(plan, object_id) for object_id in object_ids or (_subject(plan),)]
    _show(trials)
    if any(trial.problems for trial in trials):
        click.get_current_context().exit(Exit.REFUSED)


@webhook_command(
    "trigger",
    examples=[
        ("flask webhook trigger hook", "with the newest matching object"),
        ("flask webhook trigger hook --event ORDER_PAID", "one of the webhook's events"),
        ("flask webhook trigger hook --object-id T3JkZXI6MQ==", "with this object"),
    ],
)
@click.argument("webhook", shell_complete=complete_webhook)
@click.option(
    "--event",
    shell_complete=fields.complete_event,
    help="The event to send, one of the webhook's. Default: its first with a matching object.",
)
@click.option("--object-id", "object_ids", multiple=True, help=_OBJECT_ID)
def trigger(webhook: str, event: str | None, object_ids: tuple[str, ...]) -> None:
    """Send a webhook a sample event now: the payload for an object."""
    chosen = instance()
    target = fields.find_webhook(chosen, webhook)
    name = fields.event_names(chosen, [event])[0] if event else ""
    sent = [chosen.trigger(target.id, object_id, name) for object_id in object_ids or (None,)]
    output().rows(sent, fields.DELIVERIES, empty="Nothing was sent.")


def _try(plan: _Plan, object_id: str | None) -> Trial:
    try:
        payload = plan.instance.dry_run(object_id=object_id, query=plan.query, app_id=plan.app_id)
    except Refused as refused:
        return Trial(object_id, problems=refused.problems)
    payload = json.loads(payload)
    last = _last(plan, object_id) if plan.diff_last and plan.webhook else None
    if last is None:
        return Trial(object_id, payload)
    lines = diff_lines(_lines(fields.payload_of(last)), _lines(payload))
    diff = unified_diff(lines, f"delivery {last.id}", "dry run")
    return Trial(object_id, payload, (), last.id, tuple(diff))


def _last(plan: _Plan, object_id: str | None) -> InstanceDelivery | None:
    """Return the last delivery about that object, or else the last delivery."""
    if plan.webhook is None:
        return None
    filter_ = DeliveryQuery(size=_LOOKED_AT)
    sent = [
        delivery
        for delivery in plan.instance.deliveries(plan.webhook.id, filter_).items
        if delivery.payload
    ]
    about = (delivery for delivery in sent if object_id and f'"{object_id}"' in delivery.payload)
    return next(about, sent[0] if sent else None)


def _subject(plan: _Plan) -> str | None:
    """What the last delivery was about, where that is to be compared; else the newest object."""
    last = _last(plan, None) if plan.diff_last else None
    last_payload = {} if last is None else fields.payload_of(last) or {}
    ids = (part.get("id") for part in last_payload.values() if isinstance(part, dict))
    return next((id_ for id_ in ids if isinstance(id_, str)), None)


def _lines(payload: object) -> list[str]:
    return json_text(payload, indent=2).splitlines()


def _show(trials: list[Trial]) -> None:
    out = output()
    if out.form is Form.JSON:
        out.rows(trials, _COLUMNS, empty="")
        return
    for trial in trials:
        for line in _lines_of(trial, short=out.form is Form.SHORT):
            write(line)
        about = f"{trial.object_id}: " if trial.object_id and len(trials) > 1 else ""
        for problem in trial.problems:
            where = f"{problem.field}: " if problem.field else ""
            out.say(f"Error: {about}{where}{problem.message}")
        if trial.compared_with:
            what = "differs from" if trial.diff else "is the same as"
            out.say(f"{about}The payload {what} delivery {trial.compared_with}.")


def _lines_of(trial: Trial, *, short: bool) -> Iterator[str]:
    if trial.payload is None:
        return
    if short:
        yield json_text(trial.payload)
    elif trial.compared_with is None:
        yield from _lines(trial.payload)
    yield from trial.diff
