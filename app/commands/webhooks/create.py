"""``flask webhook create``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from app.commands.name_completion import complete_app_or_global_id
from app.commands.terminal.output import output, visible
from app.commands.webhooks.fields import WebhookOptions, event_names, field_options
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_app
from app.commands.webhooks.permission_warnings import warn_of_missing_permission
from app.commands.webhooks.target_hints import explain_target_errors
from app.domain.urls.web_urls import is_web_url
from app.domain.values.errors import Problem, Refused
from app.ports.instance import Instance, InstanceApp


@webhook_command(
    "create",
    examples=[
        ("flask webhook create", "prompts for missing values"),
        (
            "flask webhook create --target-url https://a.example.com/hook --event ORDER_PAID",
            "without prompts",
        ),
        (
            "flask webhook create --target-url https://a.example.com/hook --query @paid.graphql",
            "with a subscription query",
        ),
    ],
)
@click.option(
    "--app",
    shell_complete=complete_app_or_global_id,
    help="The app that owns it: an ID or a unique name. Optional if there is only one app.",
)
@field_options
@click.option("--no-input", is_flag=True, help="Never prompt; fail if a value is missing.")
def create(*, app: str | None, no_input: bool, **fields: Any) -> None:
    """Create a webhook. Prompts for missing values when running in a terminal."""
    options = WebhookOptions(**fields)
    may_ask = sys.stdin.isatty() and not no_input
    missing = _missing(options)
    if missing and not may_ask:
        raise click.UsageError(f"Missing {' and '.join(missing)}.")
    chosen = instance()
    owner = _owner(chosen, app, may_ask=may_ask)
    if missing:
        options = _ask_for_missing(chosen, options)
    draft = options.draft(chosen)
    with explain_target_errors(draft):
        webhook = chosen.create(owner.id, draft)
    out = output()
    out.one(webhook, options.columns(draft))
    if options.makes_secret:
        out.say("Store the secret now. It won't be shown again.")
    if warn_of_missing_permission(webhook):
        return
    is_on = webhook.is_active and owner.is_active
    when = "" if is_on else "Once both are active, "
    out.say(f"{when}{owner.name} receives events at {webhook.target_url}.")


def _missing(options: WebhookOptions) -> list[str]:
    """Return the names of required fields without a value."""
    missing = [] if options.target_url else ["--target-url"]
    return missing if options.events or options.query else [*missing, "either --event or --query"]


def _owner(instance: Instance, app: str | None, *, may_ask: bool) -> InstanceApp:
    if app is not None:
        return find_app(instance, app)
    apps = instance.apps()
    if len(apps) == 1:
        return apps[0]
    if not apps:
        message = "No apps. Create one with: flask app create NAME"
        raise Refused(Problem("REQUIRED", message, "app"))
    names = visible(", ".join(app.name for app in apps[:20]))
    if not may_ask:
        raise click.UsageError(f"Missing --app. Available apps: {names}.")
    owner: InstanceApp = click.prompt(
        f"App ({names})", value_proc=lambda text: _app(instance, text), err=True
    )
    return owner


def _ask_for_missing(instance: Instance, options: WebhookOptions) -> WebhookOptions:
    """Return ``options`` completed by prompts; an invalid answer is asked again."""
    if not options.target_url:
        question = "Endpoint URL (https://app.example.com/hook)"
        options = replace(
            options, target_url=click.prompt(question, value_proc=_address, err=True)
        )
    if not (options.events or options.query):
        events: tuple[str, ...] = click.prompt(
            "Events, separated by commas (`flask webhook events` lists them)",
            value_proc=lambda text: _events(instance, text),
            err=True,
        )
        options = replace(options, events=events)
    if options.name is None:
        options = replace(
            options, name=click.prompt("Name", default="", show_default=False, err=True)
        )
    return _ask_for_secret(options) if options.secret is None else options


def _ask_for_secret(options: WebhookOptions) -> WebhookOptions:
    """Return ``options`` with a new secret, a typed one, or none."""
    choice = click.prompt(
        "Secret to sign deliveries with: generate one, type one, or none (the shop's keys sign)",
        type=click.Choice(["generate", "type", "none"]),
        default="none",
        err=True,
    )
    if choice != "type":
        return replace(options, secret=choice)
    typed = click.prompt("Secret", hide_input=True, confirmation_prompt=True, err=True)
    return replace(options, typed_secret=typed.strip())


def _app(instance: Instance, text: str) -> InstanceApp:
    try:
        return find_app(instance, text.strip())
    except Refused as refused:
        raise click.UsageError(visible(str(refused))) from None


def _events(instance: Instance, text: str) -> tuple[str, ...]:
    names = event_names(instance, filter(str.strip, text.split(",")))
    if not names:
        raise click.UsageError("Enter at least one event, for example ORDER_PAID.")
    return names


def _address(text: str) -> str:
    if not is_web_url(text.strip()):
        raise click.UsageError("Enter a full URL, for example https://app.example.com/hook")
    return text.strip()
