"""The mail log: each email with its result; filtered, exported, and sent again."""

from flask import abort
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import export_list
from app.console.lists import (
    ListOrder,
    active_filters,
    query_params,
    requested_days,
    requested_page,
    turns,
)
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, not_done, page, set_password_url
from app.console.people.mails_page import (
    COLUMNS,
    COUNT,
    STATUSES,
    MailRow,
    make_mail_page,
    make_mail_rows,
    resent_message,
)
from app.console.session import actor, ports
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.mails.mail_log import MAX_TEXT_LENGTH, MailFilter, MailStatus
from app.domain.values.errors import Refused
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.operations.mail_log import list_mails, show_mail
from app.services.operations.mail_resends import resend_mail
from app.web.converters import day, one_of
from app.web.translation import texts

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
