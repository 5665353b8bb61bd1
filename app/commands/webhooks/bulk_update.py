"""``flask webhook update``: many at once, shown before it happens."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import click

from app.commands.name_completion import complete_app_or_global_id, complete_webhook
from app.commands.terminal.exit_codes import Exit, Failure, failure_of
from app.commands.terminal.output import Column, output
from app.commands.terminal.progress import steps
from app.commands.terminal.prompts import confirm_action, yes_option
from app.commands.webhooks.fields import find_app, find_webhook, new_secret
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.urls.web_urls import WebUrl, parse_web_url
from app.domain.values.errors import Refused
from app.domain.values.inputs import ABSENT
from app.ports.instance import Instance, InstanceWebhook, WebhookDraft

_NEW = "new"


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of one webhook; ``state`` is its progress."""

    webhook: InstanceWebhook
    target_url: str
    is_active: bool
    rotates: bool
    state: str = "planned"
    secret_key: str = field(default="", repr=False)
    problem: str = ""

    @property
    def is_change(self) -> bool:
        before = (self.webhook.target_url, self.webhook.is_active)
        return self.rotates or before != (self.target_url, self.is_active)


_COLUMNS: tuple[Column[Change], ...] = (
    Column("id", "ID", lambda change: change.webhook.id, short=True),
    Column("name", "Name", lambda change: change.webhook.name, short=True),
    Column("app", "App", lambda change: change.webhook.app.name),
    Column("before", "Target", lambda change: change.webhook.target_url),
    Column("targetUrl", "New URL", lambda change: change.target_url, short=True),
    Column("isActive", "Active", lambda change: change.is_active, short=True),
    Column("state", "State", lambda change: change.state, short=True),
    Column("problem", "Problem", lambda change: change.problem or None),
)


def _secret(change: Change) -> str | None:
    return change.secret_key or (_NEW if change.rotates else None)


_SECRETS: tuple[Column[Change], ...] = (
    # A secret that is broken over two lines cannot be copied.
    *(replace(column, yields=column.name in ("targetUrl", "isActive")) for column in _COLUMNS),
    Column("secretKey", "Secret", _secret, short=True),
)


@webhook_command(
    "update",
    examples=[
        ("flask webhook update --domain old.example.com new.example.com", "asks to confirm"),
        (
            "flask webhook update --domain old.example.com localhost:3000 --preview",
            "preview the changes",
        ),
        (
            "flask webhook update --app Warehouse --inactive --yes",
            "disable all webhooks of an app",
        ),
        ("flask webhook update --webhook hook --rotate-secret --yes", "shows the new secret"),
    ],
)
@click.option("--app", shell_complete=complete_app_or_global_id, help="Only webhooks of this app.")
@click.option(
    "--webhook",
    "names",
    multiple=True,
    shell_complete=complete_webhook,
    help="Only this webhook. Repeatable.",
)
@click.option(
    "--domain", nargs=2, metavar="OLD NEW", help="Replace host OLD with NEW in endpoint URLs."
)
@click.option(
    "--active/--inactive", "is_active", default=None, help="Enable or disable the webhooks."
)
@click.option(
    "--rotate-secret",
    is_flag=True,
    help="Give each webhook a new secret. The old secret also signs for one more day.",
)
@click.option("--preview", is_flag=True, help="Show the changes without applying them.")
@yes_option
def update(
    app: str | None,
    names: tuple[str, ...],
    domain: tuple[str, str] | None,
    *,
    is_active: bool | None,
    rotate_secret: bool,
    preview: bool,
    yes: bool,
) -> None:
    """Update all webhooks, or the selected ones.

    Shows the changes first. Exits with 3 if an update was refused; the others are applied.
    """
    if domain is None and is_active is None and not rotate_secret:
        raise click.UsageError(
            "Nothing to update. Use --domain, --active, --inactive or --rotate-secret."
        )
    chosen = instance()
    planned = [
        plan
        for webhook in _chosen(chosen, app, names)
        if (plan := _plan(webhook, domain, is_active=is_active, rotates=rotate_secret)).is_change
    ]
    out = output()
    columns = _SECRETS if rotate_secret else _COLUMNS
    if preview or not planned:
        out.rows(planned, columns, empty="No webhooks to update.")
        return
    _print_plan(planned)
    confirm_action(f"Update {_count(planned)}?", yes=yes)
    failure = _carry_out(chosen, planned)
    out.rows(planned, columns, empty="")
    _end(planned, failure)


def _chosen(
    instance: Instance, app: str | None, names: Sequence[str]
) -> Iterator[InstanceWebhook]:
    owner = None if app is None else find_app(instance, app).id
    ids = {find_webhook(instance, name).id for name in names}
    for webhook in instance.webhooks():
        if owner in (None, webhook.app.id) and (not ids or webhook.id in ids):
            yield webhook


def _plan(
    webhook: InstanceWebhook,
    domain: tuple[str, str] | None,
    *,
    is_active: bool | None,
    rotates: bool,
) -> Change:
    target = webhook.target_url if domain is None else _moved(webhook.target_url, *domain)
    will_be = webhook.is_active if is_active is None else is_active
    if domain is not None and target == webhook.target_url:
        # Who moves a domain means those that are there, whatever else is to happen to them.
        return Change(webhook, target, webhook.is_active, rotates=False)
    return Change(webhook, target, will_be, rotates)


def _moved(url: str, old: str, new: str) -> str:
    """Return ``url`` moved from host ``old`` to ``new``; a port counts if one is given."""
    address = parse_web_url(url)
    if address is None:
        return url
    old_host, target = _host(old, address.scheme), _host(new, address.scheme)
    has_port = old.rstrip("/").endswith(f":{old_host.port}")
    if old_host.host != address.host or (has_port and old_host.port != address.port):
        return url
    return replace(target, rest=address.rest).url


def _host(text: str, scheme: str) -> WebUrl:
    address = parse_web_url(text if "://" in text else f"{scheme}://{text}")
    if address is None or address.rest not in ("", "/"):
        message = f"{text!r} is not a host. Use new.example.com or localhost:3000."
        raise click.UsageError(message)
    return address


def _print_plan(planned: Sequence[Change]) -> None:
    out = output()
    for change in planned:
        name = change.webhook.name or change.webhook.id
        out.say(f"{name} ({change.webhook.app.name}): {'; '.join(_facts(change))}")


def _facts(change: Change) -> Iterator[str]:
    if change.target_url != change.webhook.target_url:
        yield f"{change.webhook.target_url} -> {change.target_url}"
    if change.is_active != change.webhook.is_active:
        yield "on" if change.is_active else "off"
    if change.rotates:
        yield "new secret"


def _carry_out(instance: Instance, planned: list[Change]) -> Failure | None:
    """Make the changes one after the other; return the failure that stopped them, if any.

    A secret is printed in any case if it was set, or may have been set.
    """
    with closing(steps(list(planned), "Changing")) as every:
        for index, change in enumerate(every):
            secret = new_secret() if change.rotates else ""
            try:
                planned[index] = _apply_change(instance, change, secret)
            except (Exception, KeyboardInterrupt) as error:
                failure = failure_of(error)
                if failure is None:
                    raise
                problem = failure.errors[0].message
                planned[index] = replace(
                    change, state="failed", problem=problem, secret_key=secret
                )
                return failure
    return None


def _apply_change(instance: Instance, change: Change, secret: str) -> Change:
    before = change.webhook
    draft = WebhookDraft(
        target_url=ABSENT if change.target_url == before.target_url else change.target_url,
        is_active=ABSENT if change.is_active == before.is_active else change.is_active,
        secret_key=secret or ABSENT,
    )
    try:
        instance.change(before, draft)
    except Refused as refused:
        return replace(change, state="refused", problem=str(refused))
    return replace(change, state="changed", secret_key=secret)


def _end(done: Sequence[Change], failure: Failure | None) -> None:
    out = output()
    out.say(f"{_count([change for change in done if change.state == 'changed'])} updated.")
    for change in done:
        if change.problem:
            out.say(f"Error: {change.webhook.name or change.webhook.id}: {change.problem}")
    if failure is not None:
        out.say("The failed update may have been applied. The remaining planned updates weren't.")
        click.get_current_context().exit(failure.exit)
    if any(change.problem for change in done):
        click.get_current_context().exit(Exit.REFUSED)


def _count(changes: Sequence[Change]) -> str:
    return f"{len(changes)} webhook{'' if len(changes) == 1 else 's'}"
