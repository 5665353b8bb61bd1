"""``flask mail``: the mail log, sending its emails again, and the shop's own templates."""

from dataclasses import dataclass, replace

import click

from app.commands.terminal import options
from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, output
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailFilter, MailStatus
from app.domain.mails.own_templates import OwnTemplate
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import PageRequest
from app.services.accounts.password_resets import set_password_page
from app.services.mails import mail_templates
from app.services.mails.mail_log import list_mails, resend_mail
from app.web.installation import installation, operator

_SAVE = (
    "flask mail template save password-reset --subject Welcome --html @reset.html "
    "--text @reset.txt"
)

templates = Group(
    "template",
    short_help="List, show, save and reset the shop's email templates.",
    help="List, show, save and reset the shop's own email templates. KIND is the email's, as in "
    "the list command of `flask mail`. Without a template, the default is sent.",
    examples=[
        ("flask mail template show password-reset --json", "the sources to begin with"),
        (_SAVE, "check and use a template"),
        ("flask mail template reset password-reset", "use the default again"),
    ],
)


@dataclass(frozen=True, slots=True)
class _Shown:
    kind: MailKind
    language: str
    version: int
    template: OwnTemplate


_TEMPLATE_COLUMNS: tuple[Column[mail_templates.TemplateEntry], ...] = (
    Column("kind", "Email", lambda entry: options.option_word(entry.kind), short=True),
    Column("language", "Language", lambda entry: entry.language_code or "all", short=True),
    Column("source", "Source", lambda entry: "console" if entry.version else "folder", short=True),
    Column("version", "Version", lambda entry: entry.version or None),
    Column("savedAt", "Saved", lambda entry: entry.saved_at),
    Column("savedBy", "By", lambda entry: entry.saved_by or None),
    Column(
        "fault",
        "Can't be used",
        lambda entry: mail_templates.described(entry.fault) if entry.fault else None,
        short=True,
    ),
)
_SOURCES: tuple[Column[_Shown], ...] = (
    Column("kind", "Email", lambda shown: options.option_word(shown.kind), short=True),
    Column("language", "Language", lambda shown: shown.language or "all", short=True),
    Column("version", "Version", lambda shown: shown.version or None, short=True),
    Column("subject", "Subject", lambda shown: shown.template.subject, short=True),
    Column("html", "HTML", lambda shown: shown.template.html, has_lines=True),
    Column("text", "Text", lambda shown: shown.template.text, has_lines=True),
)
_kind = click.argument("kind", metavar="KIND", type=options.MemberWord(MailKind))
_language = click.option(
    "--language",
    type=options.Word(list(SHIPPED_LANGUAGES)),
    default=None,
    metavar="CODE",
    help=f"Only for this language: {', '.join(SHIPPED_LANGUAGES)}. Without it, for all.",
)


@templates.command("list", examples=[("flask mail template list", "which emails have one")])
@options.fields_option(_TEMPLATE_COLUMNS)
def list_own_templates() -> None:
    """List the templates in use, and why those can't be used that can't."""
    entries = mail_templates.list_templates(*operator())
    output().rows(
        entries, _TEMPLATE_COLUMNS, empty="No templates; the default is sent for every email"
    )


@templates.command(
    "show",
    examples=[("flask mail template show password-reset --language DE", "the one for German")],
)
@_kind
@_language
@click.option("--version-number", type=click.IntRange(1), help="An earlier version.")
@options.fields_option(_SOURCES)
def show(*, kind: MailKind, language: str | None, version_number: int | None) -> None:
    """Show the sources of a template, or of the default if there is none."""
    code = language or ""
    details = mail_templates.show_template(*operator(), kind, code, version_number or 0)
    if details is None:
        raise Refused(Problem("NOT_FOUND", "There is no such version.", "version"))
    output().show_item(_Shown(kind, code, details.version, details.template), _SOURCES)


@templates.command("save", examples=[(_SAVE, "for all languages")])
@_kind
@_language
@click.option("--subject", required=True, help="The subject; values such as {{ shop.name }}.")
@click.option("--html", required=True, help="The HTML, @FILE, or - for standard input.")
@click.option("--text", required=True, help="The text, @FILE, or - for standard input.")
def save(*, kind: MailKind, language: str | None, subject: str, html: str, text: str) -> None:
    """Check a template, save it as a new version, and use it for new emails."""
    caller = operator()
    code = language or ""
    sources = options.read_text(html), options.read_text(text)
    template = OwnTemplate.entered(subject, *sources)
    details = mail_templates.show_template(*caller, kind, code)
    used = [one.version for one in details.versions if one.is_current] if details else []
    try:
        version = mail_templates.save_template(*caller, kind, code, template, based_on=sum(used))
    except Refused as refused:
        raise Refused(*map(_with_line, refused.problems)) from None
    output().show_item(_Shown(kind, code, version, template), _SOURCES[:4], "New emails use it.")


@templates.command(
    "reset", examples=[("flask mail template reset password-reset", "for all languages")]
)
@_kind
@_language
def reset(*, kind: MailKind, language: str | None) -> None:
    """Use the default again. Versions of the template are kept."""
    code = language or ""
    changed = mail_templates.reset_template(*operator(), kind, code)
    name, out = mail_templates.template_name(kind, code), output()
    details = mail_templates.show_template(*operator(), kind, code)
    if details is not None:
        out.show_item(_Shown(kind, code, details.version, details.template), _SOURCES[:4])
    out.say(f"{name}: the default is used again." if changed else f"{name} has no template.")


def _with_line(problem: Problem) -> Problem:
    if not problem.lines:
        return problem
    return replace(problem, place=f"line {problem.lines[0]}")


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


_KINDS = ", ".join(map(options.option_word, MailKind))
_COLUMNS: tuple[Column[MailEntry], ...] = (
    Column("id", "ID", lambda mail: mail.id, short=True),
    Column("createdAt", "Time", lambda mail: mail.created_at, short=True),
    Column("recipient", "Recipient", lambda mail: mail.recipient, short=True),
    Column("kind", "Email", lambda mail: options.option_word(mail.kind), short=True),
    Column("status", "Status", lambda mail: options.option_word(mail.status), short=True),
    Column("error", "Last error", lambda mail: mail.error or None, short=True),
    Column("attempts", "Attempts", lambda mail: mail.attempts),
    Column("attemptedAt", "Last attempt", lambda mail: mail.attempted_at),
    Column("nextAttemptAt", "Next attempt", lambda mail: mail.next_attempt_at),
    Column("sentAt", "Sent", lambda mail: mail.sent_at),
    Column("sentBy", "Sent by app", lambda mail: mail.sent_by or None),
    Column("waitsFor", "Waits for app", lambda mail: mail.waits_for or None),
)


@command.command(
    "list",
    examples=[
        ("flask mail list --status failed --since 7d", "what failed in the last week, and why"),
        ("flask mail list --kind staff-invitation --json", "for a script"),
    ],
)
@click.option(
    "--status", type=options.MemberWord(MailStatus), help="Only emails with this status."
)
@click.option(
    "--kind",
    type=options.MemberWord(MailKind),
    metavar="KIND",
    help=f"Only emails of this kind: {_KINDS}.",
)
@click.option("--since", default="", help="Only emails since then: 2h, 14d or 2026-03-01.")
@click.option(
    "--search", default="", help="Only emails whose recipient or name contains this text."
)
@options.page_options
@options.fields_option(_COLUMNS)
def list_(
    *,
    status: MailStatus | None,
    kind: MailKind | None,
    since: str,
    search: str,
    request: PageRequest,
) -> None:
    """List emails, newest first: to which address, when and with which result."""
    ports = installation().ports
    filter_ = MailFilter(
        kind=kind,
        status=status,
        since=options.read_moment(since, ports.clock.now()) if since else None,
        text=search,
    )
    page = list_mails(*operator(), request, filter_)
    options.show_page(page, _COLUMNS, empty="No matching emails")


@command.command("resend", examples=[("flask mail resend 12", "send this email again")])
@click.argument("mail_id", metavar="ID", type=options.Id())
def resend(mail_id: int) -> None:
    """Send an email again. ID is the email's, as shown by the list command.

    A queued or deferred email is sent at once. Password resets and invitations are sent with a new
    link, at most once per RESET_PASSWORD_LOCK_TIME and person; earlier links stop working. Other
    emails can't be sent again.
    """
    sent = resend_mail(*operator(), mail_id, set_password_page(*operator()))
    output().show_item(sent, _COLUMNS, "The worker sends the email.")
