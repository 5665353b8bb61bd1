"""``flask sign-ins``: the sign-in log."""

import click

from app.commands.terminal.command import Group
from app.commands.terminal.options import (
    MemberWord,
    fields_option,
    option_word,
    page_options,
    read_moment,
    show_page,
)
from app.commands.terminal.output import Column
from app.domain.sign_in.sign_in_log import (
    AccountType,
    SignInEvent,
    SignInFilter,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.pages import PageRequest
from app.services.sign_in_log.events import list_sign_ins
from app.web.installation import installation, operator

command = Group(
    "sign-ins",
    short_help="List sign-in attempts and why they failed.",
    help="List sign-in attempts by staff, customers and apps, and why they failed.",
    examples=[
        ("flask sign-ins list --result failed --since 14d", "what failed in the last two weeks"),
        ("flask sign-ins list --search ann@example.com", "one person's attempts"),
    ],
)

_REASONS = ", ".join(map(option_word, SignInReason))
_COLUMNS: tuple[Column[SignInEvent], ...] = (
    Column("at", "Time", lambda event: event.at, short=True),
    Column("name", "Person or app", lambda event: event.name, short=True),
    Column("result", "Result", lambda event: option_word(event.result), short=True),
    Column(
        "reason", "Reason", lambda event: event.reason and option_word(event.reason), short=True
    ),
    Column("attempts", "Attempts", lambda event: event.attempts),
    Column("method", "Method", lambda event: option_word(event.method)),
    Column("address", "IP address", lambda event: event.address),
    Column("device", "Device", lambda event: event.device),
    Column("accountType", "Type", lambda event: option_word(event.account_type)),
    Column("provider", "Provider", lambda event: event.provider or None),
    Column("inConsole", "Console", lambda event: event.in_console),
    Column("firstAt", "First", lambda event: event.first_at),
    Column("detail", "Detail", lambda event: event.detail or None),
    Column(
        "secondFactor",
        "Second factor",
        lambda event: event.second_factor and option_word(event.second_factor),
    ),
)


@command.command(
    "list",
    examples=[
        ("flask sign-ins list --result failed --since 14d", "what failed in the last two weeks"),
        ("flask sign-ins list --reason blocked-ip --json", "for a script"),
    ],
)
@click.option("--result", type=MemberWord(SignInResult), help="Only attempts with this result.")
@click.option(
    "--reason",
    type=MemberWord(SignInReason),
    metavar="REASON",
    help=f"Only attempts that failed for this reason: {_REASONS}.",
)
@click.option("--method", type=MemberWord(SignInMethod), help="Only attempts with this method.")
@click.option("--type", "account_type", type=MemberWord(AccountType), help="Only these accounts.")
@click.option("--since", default="", help="Only attempts since then: 2h, 14d or 2026-03-01.")
@click.option(
    "--search",
    default="",
    help="Only attempts whose name, email, app or IP address contains this text.",
)
@page_options
@fields_option(_COLUMNS)
def list_(
    *,
    result: SignInResult | None,
    reason: SignInReason | None,
    method: SignInMethod | None,
    account_type: AccountType | None,
    since: str,
    search: str,
    request: PageRequest,
) -> None:
    """List sign-in attempts, newest first. Failed attempts appear within a minute."""
    ports = installation().ports
    filter_ = SignInFilter(
        result=result,
        reason=reason,
        method=method,
        account_type=account_type,
        since=read_moment(since, ports.clock.now()) if since else None,
        text=search,
    )
    page = list_sign_ins(*operator(), request, filter_)
    show_page(page, _COLUMNS, empty="No matching sign-in attempts")
