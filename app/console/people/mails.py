"""The mail log: each email with its result; filtered, exported, and sent again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import abort
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import done, not_done, page, set_password_url
from app.console.frame.parts import Pill
from app.console.frame.session import actor, ports
from app.console.lists.list_page import (
    Columns,
    ListOrder,
    RowCount,
    active_filters,
    export_list,
    query_params,
    requested_days,
    requested_page,
    turns,
)
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.mails.mail_log import (
    MAX_TEXT_LENGTH,
    MailEntry,
    MailFilter,
    MailStatus,
    error_problem,
    kind_label,
)
from app.domain.values.errors import Refused
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.operations.mail_log import list_mails, show_mail
from app.services.operations.mail_resends import resend_mail, resend_problem
from app.web.converters import day, one_of
from app.web.translation import problem_text, text, texts

STATUSES: Mapping[str, str] = {
    MailStatus.QUEUED: translatable("Queued"),
    MailStatus.WAITING: translatable("Waiting for app"),
    MailStatus.SENT: translatable("Sent"),
    MailStatus.SENT_BY_APP: translatable("Sent by app"),
    MailStatus.DEFERRED: translatable("Deferred"),
    MailStatus.FAILED: translatable("Failed"),
}

COUNT = RowCount(
    none="No emails",
    no_match="No matching emails",
    one="1 email",
    many="{count} emails",
    some="{matching} of {total} emails",
)
COLUMNS: Columns[MailEntry] = {
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
}
"""The columns of the list as a file."""

_STATES = {
    MailStatus.QUEUED: "info",
    MailStatus.WAITING: "info",
    MailStatus.SENT: "ok",
    MailStatus.SENT_BY_APP: "ok",
    MailStatus.DEFERRED: "warn",
    MailStatus.FAILED: "bad",
}
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
    "An app is to send this email. It's sent without the app 30 minutes after it was queued, or "
    "as soon as no app can send it."
)
_ANEW = translatable(
    "A new link is sent to the account's current email. Earlier links stop working."
)
_NEEDED = translatable("To send this email again, you need the permission “{permission}”.")


@dataclass(frozen=True, slots=True)
class MailRow:
    """An email in a list; ``endpoint`` is the page of its account, empty without one.

    ``app`` is the name of the app that sent it, or that it waits for.
    """

    id: int
    kind: str
    recipient: str
    name: str
    endpoint: str
    key: int
    result: Pill
    app: str
    error: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MailPage:
    """One email; ``action`` is the label of the button that sends it again, empty without one.

    ``next_label`` and ``sent_label`` say what the two times are.
    """

    row: MailRow
    title: str
    attempts: int
    attempted_at: datetime | None
    next_label: str
    next_attempt_at: datetime | None
    sent_label: str
    sent_at: datetime | None
    resend_note: str
    action: str


def make_mail_rows(
    mails: Iterable[MailEntry], permissions: frozenset[Permission]
) -> tuple[MailRow, ...]:
    """Return the rows of a list for a reader with ``permissions``."""
    return tuple(_row(mail, permissions) for mail in mails)


def make_mail_page(mail: MailEntry, permissions: frozenset[Permission]) -> MailPage:
    """Return the page of one email for a reader with ``permissions``."""
    note, action = _resend(mail, permissions)
    row = _row(mail, permissions)
    return MailPage(
        row=row,
        title=text("{kind} to {recipient}", kind=row.kind, recipient=row.recipient),
        attempts=mail.attempts,
        attempted_at=mail.attempted_at,
        next_label=text(_WAITS if mail.status is MailStatus.WAITING else _NEXT),
        next_attempt_at=mail.next_attempt_at,
        sent_label=text(_APP_ACCEPTED if mail.sent_by else _ACCEPTED),
        sent_at=mail.sent_at,
        resend_note=note,
        action=action,
    )


def resent_message(sent: MailEntry, key: int) -> str:
    """Say what became of the email with that ``key``, which was sent again as ``sent``."""
    if sent.id == key:
        return text("Retrying the email to {recipient} now.", recipient=sent.recipient)
    return text("A new email was queued for {recipient}.", recipient=sent.recipient)


def _row(mail: MailEntry, permissions: frozenset[Permission]) -> MailRow:
    endpoint, key = _account_page(mail, permissions)
    return MailRow(
        id=mail.id,
        kind=text(kind_label(mail.kind)),
        recipient=mail.recipient,
        name=_name(mail),
        endpoint=endpoint,
        key=key,
        result=Pill(_STATES[mail.status], text(STATUSES[mail.status])),
        app=mail.sent_by or mail.waits_for or "",
        error=problem_text(error_problem(mail.error)) if mail.error else "",
        at=mail.created_at,
    )


def _account_page(mail: MailEntry, permissions: frozenset[Permission]) -> tuple[str, int]:
    if mail.is_staff is None or mail.user_id is None:
        return "", 0
    endpoint, permission = _PAGES[mail.is_staff]
    return (endpoint, mail.user_id) if permission in permissions else ("", 0)


def _name(mail: MailEntry) -> str:
    return text("{first} {last}", first=mail.first_name, last=mail.last_name).strip()


def _resend(mail: MailEntry, permissions: frozenset[Permission]) -> tuple[str, str]:
    """Return what sending it again does, or why it can't be, and the button's label."""
    if mail.status is MailStatus.QUEUED:
        return text(_QUEUED), ""
    if mail.status is MailStatus.WAITING:
        return text(_APP_WAITS), text("Send without the app")
    if mail.status is MailStatus.DEFERRED:
        return text(_WAITING), text("Retry now")
    problem = resend_problem(mail)
    if problem is not None:
        return problem_text(problem), ""
    permission = _PAGES[bool(mail.is_staff)][1]
    if permission not in permissions:
        return text(_NEEDED, permission=text(permission.label)), ""
    return text(_ANEW), text("Resend")


_NAMES = {
    "q": translatable("Search"),
    "result": translatable("Result"),
    "kind": translatable("Email"),
    "from": translatable("From"),
    "to": translatable("To"),
}
_WORDS = {"result": STATUSES, "kind": KIND_LABELS}
_CONVERTERS = {"result": one_of(STATUSES), "kind": one_of(KIND_LABELS), "from": day, "to": day}

_NEWEST = 5

blueprint = PageGroup(
    "mails",
    __name__,
    Entry(
        "Mail log",
        "envelope",
        "emails sent failed deferred queued bounced resend invitation reset smtp export",
        Heading.PEOPLE,
        needs=list_mails,
    ),
    url_prefix="/mails",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List emails, newest first, with the filters of the URL."""
    found = list_mails(ports(), actor(), requested_page(), _filter())
    words = {name: texts(labels) for name, labels in _WORDS.items()}
    return page(
        "mails/index.html",
        rows=make_mail_rows(found.items, actor().permissions),
        summary=COUNT.of(found.counts),
        turns=turns(found, ListOrder.NEWEST_FIRST),
        params=query_params(*_NAMES),
        filters=active_filters(texts(_NAMES), _CONVERTERS, words),
        words=words,
        kept_days=ports().configuration.mail_log_days,
        is_sent=ports().configuration.sends_mail,
        longest=MAX_TEXT_LENGTH,
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching email, streamed while it is read."""
    filter_ = _filter()
    return export_list("emails", COLUMNS, lambda page: list_mails(ports(), actor(), page, filter_))


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one email: its result, and whether it can be sent again."""
    mail = show_mail(ports(), actor(), key)
    if mail is None:
        abort(404)
    return page("mails/show.html", mail=make_mail_page(mail, actor().permissions))


@blueprint.post("/<key:key>/resend")
def resend(key: int) -> BaseResponse:
    """Send the email again, with a new link unless it still waits."""
    try:
        sent = resend_mail(ports(), actor(), key, set_password_url())
    except Refused as refused:
        if show_mail(ports(), actor(), key) is None:
            abort(404)
        return not_done(refused, "console.mails.show", key=key)
    return done(resent_message(sent, key), "console.mails.show", key=sent.id)


def newest_mails(user_id: int) -> tuple[MailRow, ...]:
    """Return the newest emails to a person, for their page."""
    found = list_mails(ports(), actor(), PageRequest(_NEWEST), MailFilter(user_id=user_id))
    return make_mail_rows(found.items, actor().permissions)


def _filter() -> MailFilter:
    values = query_params("q", "result", "kind")
    days = requested_days()
    return MailFilter(
        kind=MailKind(values["kind"]) if values.get("kind") in KIND_LABELS else None,
        status=MailStatus(values["result"]) if values.get("result") in STATUSES else None,
        since=days.gte,
        until=days.lte,
        text=values.get("q", "")[:MAX_TEXT_LENGTH],
    )
