"""The mail log: each email with its result; filtered, exported, and sent again."""

from flask import abort, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import page_layout
from app.console.frame.formatting import breakable
from app.console.frame.navigation import EMAILS, Entry, Heading, PageGroup
from app.console.frame.parts import lines, link, moment, pill
from app.console.frame.session import actor, ports
from app.console.lists.filters import ListOrder, choice, day_filters, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, Table, reader
from app.domain.authorization.permissions import Permission
from app.domain.mails import mail_log
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.values.errors import Refused
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.mails.mail_log import list_mails, resend_mail, resend_problem, show_mail
from app.web.translation import problem_text, text

_PAGES = {
    True: ("console.staff.show", Permission.MANAGE_STAFF),
    False: ("console.customers.show", Permission.MANAGE_USERS),
}
_WAITS, _NEXT = translatable("Waits until"), translatable("Next attempt")
_APP_ACCEPTED = translatable("Accepted by the app")
_ACCEPTED = translatable("Accepted by the mail server")
_WAITING = translatable(
    "It's tried again automatically. If the cause is gone, you can retry it now."
)
_QUEUED = translatable("It's sent within seconds while the background worker is running.")
_APP_WAITS = translatable(
    "An app is set to send this email. It's sent without the app 30 minutes after it was queued, "
    "or as soon as no app can send it."
)
_ANEW = translatable(
    "A new link is sent to the account's current email. Earlier links stop working."
)
_NEEDED = translatable("To send this email again, you need the permission “{permission}”.")


def _app(mail: mail_log.MailEntry) -> str:
    """Return the name of the app that sent an email, or that it waits for."""
    return mail.sent_by or mail.waits_for or ""


def _error(mail: mail_log.MailEntry) -> str:
    return problem_text(mail_log.error_problem(mail.error)) if mail.error else ""


def _account_url(mail: mail_log.MailEntry) -> str:
    if mail.is_staff is None or mail.user_id is None:
        return ""
    endpoint, permission = _PAGES[mail.is_staff]
    return url_for(endpoint, key=mail.user_id) if actor().holds(permission) else ""


def _name(mail: mail_log.MailEntry) -> str:
    return text("{first} {last}", first=mail.first_name, last=mail.last_name).strip()


def _resend(mail: mail_log.MailEntry) -> tuple[str, str]:
    """Return what sending it again does, or why it can't be, and the button's label."""
    if mail.status is mail_log.MailStatus.QUEUED:
        return text(_QUEUED), ""
    if mail.status is mail_log.MailStatus.WAITING:
        return text(_APP_WAITS), text("Send without the app")
    if mail.status is mail_log.MailStatus.DEFERRED:
        return text(_WAITING), text("Retry now")
    problem = resend_problem(mail)
    if problem is not None:
        return problem_text(problem), ""
    permission = _PAGES[bool(mail.is_staff)][1]
    if not actor().holds(permission):
        return text(_NEEDED, permission=text(permission.label)), ""
    return text(_ANEW), text("Resend")


_KIND = Column[mail_log.MailEntry](
    "Email",
    lambda mail: link(text(mail_log.kind_label(mail.kind)), "console.mails.show", key=mail.id),
    ("is-cut", "is-some"),
    is_title=True,
)
_RECIPIENT = "Recipient"
_OUTCOME = Column[mail_log.MailEntry](
    "Result",
    lambda mail: lines(pill(page_layout.mail_pill(mail)), _error(mail) or _app(mail)),
    ("is-cut", "is-state"),
)
_TIME = Column[mail_log.MailEntry](
    "Time", lambda mail: moment(mail.created_at), ("is-num", "is-when")
)

MAILS = ListPage[mail_log.MailEntry](
    template="mails/index.html",
    title="Emails",
    label="Emails",
    filter_label="Filter emails",
    caption="Emails, newest first",
    count=RowCount(
        none="No emails",
        no_match="No matching emails",
        one="1 email",
        many="{count} emails",
        some="{matching} of {total} emails",
    ),
    read=reader(list_mails, mail_log.MailFilter),
    filters=(
        search("Search", "Name or email", longest=mail_log.MAX_TEXT_LENGTH, argument="text"),
        choice("result", "Result", mail_log.STATUS_LABELS, mail_log.MailStatus, argument="status"),
        choice("kind", "Email", KIND_LABELS, MailKind),
        *day_filters(),
    ),
    order=ListOrder.NEWEST_FIRST,
    columns=(
        _KIND,
        Column(_RECIPIENT, lambda mail: lines(mail.recipient, _name(mail)), ("is-cut",)),
        _OUTCOME,
        _TIME,
    ),
    file="emails",
    file_columns={
        "created_at": lambda mail: mail.created_at,
        "recipient": lambda mail: mail.recipient,
        "name": lambda mail: f"{mail.first_name} {mail.last_name}".strip(),
        "email": lambda mail: mail.kind,
        "result": lambda mail: mail.status.lower(),
        "sent_by": lambda mail: mail.sent_by,
        "error": lambda mail: mail.error,
        "attempts": lambda mail: mail.attempts,
        "last_attempt_at": lambda mail: mail.attempted_at,
        "next_attempt_at": lambda mail: mail.next_attempt_at,
        "sent_at": lambda mail: mail.sent_at,
    },
    hint="Try removing a filter or choosing other dates.",
    empty=EmptyState(
        "envelope", "No emails yet", "Invitations, password resets and notices appear here."
    ),
)

_NEWEST = 5

blueprint = PageGroup(
    "mails",
    __name__,
    Entry(
        "Email log",
        "envelope",
        "mail log emails sent failed deferred queued bounced resend invitation reset smtp export",
        Heading.SHOP,
        needs=list_mails,
        area=EMAILS,
    ),
    url_prefix="/emails/log",
    list_name="mails",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List emails, newest first, with the filters of the URL."""
    configuration = ports().configuration
    return MAILS.show(kept_days=configuration.mail_log_days, is_sent=configuration.sends_mail)


blueprint.add_url_rule("/export.csv", "export", MAILS.export)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one email: its result, and whether it can be sent again."""
    mail = show_mail(ports(), actor(), key)
    if mail is None:
        abort(404)
    kind, (note, action) = text(mail_log.kind_label(mail.kind)), _resend(mail)
    return page_layout.page(
        "mails/show.html",
        mail=mail,
        kind=kind,
        title=text("{kind} to {recipient}", kind=kind, recipient=mail.recipient),
        name=_name(mail),
        account_url=_account_url(mail),
        result=page_layout.mail_pill(mail),
        app=_app(mail),
        error=_error(mail),
        next_label=text(_WAITS if mail.status is mail_log.MailStatus.WAITING else _NEXT),
        sent_label=text(_APP_ACCEPTED)
        if mail.sent_by
        else page_layout.mail_message(_ACCEPTED, page_layout.WRITTEN),
        resend_note=note,
        action=action,
    )


@blueprint.post("/<key:key>/resend")
def resend(key: int) -> BaseResponse:
    """Send the email again, with a new link unless it still waits."""
    try:
        sent = resend_mail(ports(), actor(), key, page_layout.set_password_url())
    except Refused as refused:
        if show_mail(ports(), actor(), key) is None:
            abort(404)
        return page_layout.redirect_with_error(refused, "console.mails.show", key=key)
    message = text("A new email was queued for {recipient}.", recipient=sent.recipient)
    if sent.id == key:
        message = text("Retrying the email to {recipient} now.", recipient=sent.recipient)
    return page_layout.redirect_with_success(message, "console.mails.show", key=sent.id)


def newest_mails(user_id: int) -> Table[mail_log.MailEntry]:
    """Return the newest emails to a person, for their page."""
    found = list_mails(
        ports(), actor(), PageRequest(_NEWEST), mail_log.MailFilter(user_id=user_id)
    )
    recipient = Column[mail_log.MailEntry](
        _RECIPIENT, lambda mail: lines(breakable(mail.recipient)), ("is-wide",)
    )
    return Table((_KIND, recipient, _OUTCOME, _TIME), found.items)
