"""``flask webhook create``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from app.commands.terminal.output import output, visible
from app.commands.webhooks.fields import Given, event_names, field_options
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_app
from app.commands.webhooks.permission_warnings import tell_unheard
from app.commands.webhooks.target_hints import targets_explained
from app.domain.urls.web_urls import is_web_address
from app.domain.values.errors import Problem, Refused
from app.ports.instance import Instance, KnownApp


@webhook_command(
    "create",
    examples=[
        ("flask webhook create", "asks for what it needs, on a terminal"),
        (
            "flask webhook create --target-url https://a.example.com/hook --event ORDER_PAID",
            "by flags alone",
        ),
        (
            "flask webhook create --target-url https://a.example.com/hook --query @paid.graphql",
            "told what a query asks for",
        ),
    ],
)
@click.option(
    "--app",
    help="Whose it is: an id, or a name that is unique. Where there is one app alone, that.",
)
@field_options
@click.option("--no-input", is_flag=True, help="Ask nothing; what is missing is a mistake.")
def create(*, app: str | None, no_input: bool, **fields: Any) -> None:
    """Make a webhook. Asks for what is missing on a terminal, and nowhere else."""
    given = Given(**fields)
    may_ask = sys.stdin.isatty() and not no_input
    missing = _missing(given)
    if missing and not may_ask:
        raise click.UsageError(f"Say {' and '.join(missing)}.")
    chosen = instance()
    owner = _owner(chosen, app, may_ask=may_ask)
    if missing:
        given = _asked(chosen, given)
    said = given.draft(chosen)
    with targets_explained(said):
        made = chosen.create(owner.id, said)
    out = output()
    out.one(made, given.columns(said))
    if tell_unheard(made):
        return
    is_on = made.is_active and owner.is_active
    when = "" if is_on else "Once both are active, "
    out.say(f"{when}{owner.name} hears of events at {made.target_url}.")


def _missing(given: Given) -> list[str]:
    """What a webhook cannot do without and nobody has said."""
    missing = [] if given.target_url else ["--target-url"]
    return missing if given.events or given.query else [*missing, "--event or --query"]


def _owner(instance: Instance, app: str | None, *, may_ask: bool) -> KnownApp:
    if app is not None:
        return find_app(instance, app)
    apps = instance.apps()
    if len(apps) == 1:
        return apps[0]
    if not apps:
        message = "There is no app that could have it. Make one: flask app create NAME"
        raise Refused(Problem("REQUIRED", message, "app"))
    names = visible(", ".join(one.name for one in apps[:20]))
    if not may_ask:
        raise click.UsageError(f"Say --app: there are {names}.")
    owner: KnownApp = click.prompt(
        f"App ({names})", value_proc=lambda typed: _app(instance, typed), err=True
    )
    return owner


def _asked(instance: Instance, given: Given) -> Given:
    """``given`` with what somebody at the terminal adds; asks again what cannot be meant."""
    if not given.target_url:
        question = "Where to (https://app.example.com/hook)"
        given = replace(given, target_url=click.prompt(question, value_proc=_address, err=True))
    if not (given.events or given.query):
        events: tuple[str, ...] = click.prompt(
            "Which events, separated by commas (`flask webhook events` lists them)",
            value_proc=lambda typed: _events(instance, typed),
            err=True,
        )
        given = replace(given, events=events)
    if given.name is None:
        given = replace(given, name=click.prompt("Name", default="", show_default=False, err=True))
    return given


def _app(instance: Instance, typed: str) -> KnownApp:
    try:
        return find_app(instance, typed.strip())
    except Refused as refused:
        raise click.UsageError(visible(str(refused))) from None


def _events(instance: Instance, typed: str) -> tuple[str, ...]:
    names = event_names(instance, filter(str.strip, typed.split(",")))
    if not names:
        raise click.UsageError("Name one at least: ORDER_PAID, for example.")
    return names


def _address(typed: str) -> str:
    if not is_web_address(typed.strip()):
        raise click.UsageError("Use a whole address: https://app.example.com/hook")
    return typed.strip()
