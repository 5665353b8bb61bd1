"""``flask sign-ins``: the sign-in log."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

import click

from app.commands.terminal.command import Group
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.options import Word, page_options, read_moment
from app.commands.terminal.output import Column, output
from app.domain.authorization.actor import OPERATOR
from app.domain.sign_in.sign_in_log import (
    AccountType,
    SignInEvent,
    SignInFilter,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.pages import PageRequest, read_cursor
from app.services.sign_in_log.events import list_sign_ins
from app.web.installation import installation

Choice = TypeVar("Choice", bound=StrEnum)

command = Group(
    "sign-ins",
    short_help="List sign-in attempts and why they failed.",
    help="List sign-in attempts by staff, customers and apps, and why they failed.",
    examples=[
        ("flask sign-ins list --result failed --since 14d", "what failed in the last two weeks"),
        ("flask sign-ins list --search ann@example.com", "one person's attempts"),
    ],
)


def _option_value(choice: StrEnum) -> str:
    return choice.value.lower().replace("_", "-")


_REASONS = ", ".join(map(_option_value, SignInReason))
_COLUMNS = (
    Column[SignInEvent]("at", "Time", lambda event: event.at, short=True),
    Column[SignInEvent]("name", "Person or app", lambda event: event.name, short=True),
    Column[SignInEvent]("result", "Result", lambda event: _option_value(event.result), short=True),
    Column[SignInEvent](
        "reason", "Reason", lambda event: event.reason and _option_value(event.reason), short=True
    ),
    Column[SignInEvent]("attempts", "Attempts", lambda event: event.attempts),
    Column[SignInEvent]("method", "Method", lambda event: _option_value(event.method)),
    Column[SignInEvent]("address", "IP address", lambda event: event.address),
    Column[SignInEvent]("device", "Device", lambda event: event.device),
    Column[SignInEvent]("accountType", "Type", lambda event: _option_value(event.account_type)),
    Column[SignInEvent]("provider", "Provider", lambda event: event.provider or None),
    Column[SignInEvent]("inConsole", "Console", lambda event: event.in_console),
    Column[SignInEvent]("firstAt", "First", lambda event: event.first_at),
    Column[SignInEvent]("detail", "Detail", lambda event: event.detail or None),
    Column[SignInEvent](
        "secondFactor",
        "Second factor",
        lambda event: event.second_factor and _option_value(event.second_factor),
    ),
)


def _words(choices: type[StrEnum]) -> Word:
    return Word([_option_value(choice) for choice in choices])


@command.command(
    "list",
    examples=[
        ("flask sign-ins list --result failed --since 14d", "what failed in the last two weeks"),
        ("flask sign-ins list --reason blocked-ip --json", "for a script"),
    ],
)
@click.option("--result", type=_words(SignInResult), help="Only attempts with this result.")
@click.option(
    "--reason",
    type=_words(SignInReason),
    metavar="REASON",
    help=f"Only attempts that failed for this reason: {_REASONS}.",
)
@click.option("--method", type=_words(SignInMethod), help="Only attempts with this method.")
@click.option("--type", "account_type", type=_words(AccountType), help="Only these accounts.")
@click.option("--since", default="", help="Only attempts since then: 2h, 14d or 2026-03-01.")
@click.option(
    "--search",
    default="",
    help="Only attempts whose name, email, app or IP address contains this text.",
)
@page_options
@fields_option(_COLUMNS)
def list_(  # noqa: PLR0913 - one for each option
    *,
    result: str | None,
    reason: str | None,
    method: str | None,
    account_type: str | None,
    since: str,
    search: str,
    limit: int,
    after: str,
) -> None:
    """List sign-in attempts, newest first. Failed attempts appear within a minute."""
    ports = installation().ports
    filter_ = SignInFilter(
        result=_chosen(SignInResult, result),
        reason=_chosen(SignInReason, reason),
        method=_chosen(SignInMethod, method),
        account_type=_chosen(AccountType, account_type),
        since=read_moment(since, ports.clock.now()) if since else None,
        text=search,
    )
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    page = list_sign_ins(ports, OPERATOR, request, filter_)
    out = output()
    out.rows(page.items, _COLUMNS, empty="No matching sign-in attempts")
    if page.has_next:
        out.say(f"More results: --after {page.cursors[-1]}")


def _chosen(choices: type[Choice], word: str | None) -> Choice | None:
    return None if word is None else choices(word.upper().replace("-", "_"))
