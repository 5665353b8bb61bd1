"""``flask mail``: the mail log, and sending its emails again."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

import click

from app.commands.app_output import MAX_KEY
from app.commands.mail_templates import templates
from app.commands.terminal.choices import Id, Word
from app.commands.terminal.command import Group
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.output import Column, output
from app.commands.terminal.paging import page_options
from app.commands.terminal.time_options import read_moment
from app.domain.authorization.actor import OPERATOR
from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailFilter, MailStatus
from app.domain.values.pages import PageRequest, read_cursor
from app.services.accounts.password_resets import set_password_page
from app.services.mails.mail_log import list_mails, resend_mail
from app.web.installation import installation

Choice = TypeVar("Choice", bound=StrEnum)

command = Group(
    "mail",
    short_help="List and resend emails, and edit their templates.",
    help="List which emails were sent, with which result, and resend them. Entries are kept for "
    "MAIL_LOG_DAYS, without the emails' content. An email counts as sent when the mail server "
    "accepted it: bounces that arrive later aren't recorded.",
    examples=[
        ("flask mail list --status failed --since 7d", "what failed in the last week, and why"),
        ("flask mail list --search ann@example.com", "one person's emails"),
        ("flask mail resend 12", "send one again, with a new link"),
    ],
)
command.add_command(templates)


def _option_value(choice: str) -> str:
    return choice.lower().replace("_", "-")


_KINDS = ", ".join(map(_option_value, MailKind))
_COLUMNS = (
    Column[MailEntry]("id", "ID", lambda mail: mail.id, short=True),
    Column[MailEntry]("createdAt", "Time", lambda mail: mail.created_at, short=True),
    Column[MailEntry]("recipient", "Recipient", lambda mail: mail.recipient, short=True),
    Column[MailEntry]("kind", "Email", lambda mail: _option_value(mail.kind), short=True),
    Column[MailEntry]("status", "Status", lambda mail: _option_value(mail.status), short=True),
    Column[MailEntry]("error", "Last error", lambda mail: mail.error or None, short=True),
    Column[MailEntry]("attempts", "Attempts", lambda mail: mail.attempts),
    Column[MailEntry]("attemptedAt", "Last attempt", lambda mail: mail.attempted_at),
    Column[MailEntry]("nextAttemptAt", "Next attempt", lambda mail: mail.next_attempt_at),
    Column[MailEntry]("sentAt", "Sent", lambda mail: mail.sent_at),
    Column[MailEntry]("sentBy", "Sent by app", lambda mail: mail.sent_by or None),
    Column[MailEntry]("waitsFor", "Waits for app", lambda mail: mail.waits_for or None),
)


@command.command(
    "list",
    examples=[
        ("flask mail list --status failed --since 7d", "what failed in the last week, and why"),
        ("flask mail list --kind staff-invitation --json", "for a script"),
    ],
)
@click.option(
    "--status",
    type=Word([_option_value(status) for status in MailStatus]),
    help="Only emails with this status.",
)
@click.option(
    "--kind",
    type=Word([_option_value(kind) for kind in MailKind]),
    metavar="KIND",
    help=f"Only emails of this kind: {_KINDS}.",
)
@click.option("--since", default="", help="Only emails since then: 2h, 14d or 2026-03-01.")
@click.option(
    "--search", default="", help="Only emails whose recipient or name contains this text."
)
@page_options
@fields_option(_COLUMNS)
def list_(
    *, status: str | None, kind: str | None, since: str, search: str, limit: int, after: str
) -> None:
    """List emails, newest first: to which address, when and with which result."""
    ports = installation().ports
    filter_ = MailFilter(
        kind=None if kind is None else MailKind(kind.replace("-", "_")),
        status=None if status is None else MailStatus(status.upper().replace("-", "_")),
        since=read_moment(since, ports.clock.now()) if since else None,
        text=search,
    )
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    page = list_mails(ports, OPERATOR, request, filter_)
    out = output()
    out.rows(page.items, _COLUMNS, empty="No matching emails")
    if page.has_next:
        out.say(f"More results: --after {page.cursors[-1]}")


@command.command("resend", examples=[("flask mail resend 12", "send this email again")])
@click.argument("mail_id", metavar="ID", type=Id(1, MAX_KEY))
def resend(mail_id: int) -> None:
    """Send an email again. ID is the email's, as shown by the list command.

    A queued or deferred email is sent at once. Password resets and invitations are sent with a new
    link, at most once per RESET_PASSWORD_LOCK_TIME and person; earlier links stop working. Other
    emails can't be sent again.
    """
    ports = installation().ports
    sent = resend_mail(ports, OPERATOR, mail_id, set_password_page(ports, OPERATOR))
    out = output()
    out.one(sent, _COLUMNS)
    out.say("The worker sends the email.")
