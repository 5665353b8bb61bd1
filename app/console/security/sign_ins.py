"""The sign-in log: every attempt with its result and reason; filtered, charted and exported."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import csv_file, json_file, started
from app.console.lists import ListOrder, active_filters, query_params, requested_page, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.security.sign_ins_page import PERIODS, make_sign_ins_page
from app.console.session import actor, now, ports
from app.console.sign_in_words import ACCOUNT_TYPES, METHODS, REASONS, RESULTS
from app.console.time_zone import local, time_zone
from app.domain.sign_in.sign_in_events import (
    MAX_TEXT_LENGTH,
    AccountType,
    SignInEvent,
    SignInFilter,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.sign_in.sign_in_statistics import Period
from app.domain.values.text import translatable
from app.services.sign_in_log.events import export_sign_ins, list_sign_ins
from app.services.sign_in_log.statistics import chart_sign_ins, count_sign_ins
from app.web.converters import one_of
from app.web.translation import texts

_NAMES = {
    "q": translatable("Search"),
    "result": translatable("Result"),
    "reason": translatable("Reason"),
    "method": translatable("Method"),
    "type": translatable("Account type"),
    "since": translatable("Time"),
}
_WORDS = {
    "result": RESULTS,
    "reason": REASONS,
    "method": METHODS,
    "type": ACCOUNT_TYPES,
    "since": PERIODS,
}
_CONVERTERS = {name: one_of(words) for name, words in _WORDS.items()}
_COLUMNS = (
    "at",
    "first_at",
    "attempts",
    "name",
    "account_type",
    "result",
    "reason",
    "method",
    "provider",
    "console",
    "address",
    "device",
    "detail",
)

blueprint = PageGroup(
    "sign_ins",
    __name__,
    Entry(
        "Sign-in log",
        "clock-history",
        "logins attempts failed incorrect password history export",
        Heading.SECURITY,
        needs=list_sign_ins,
    ),
    url_prefix="/sign-ins",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List attempts, newest first, with the filters of the URL, below a chart of the period."""
    filter_, period = _filter(), _period()
    found = list_sign_ins(ports(), actor(), requested_page(is_counted=False), filter_)
    words = {name: texts(labels) for name, labels in _WORDS.items()}
    filters = active_filters(texts(_NAMES), _CONVERTERS, words)
    return page(
        "sign_ins/index.html",
        sign_ins=make_sign_ins_page(
            found.items,
            count_sign_ins(ports(), actor(), filter_),
            chart_sign_ins(ports(), actor(), period, time_zone()),
            period,
            filters.applied,
            actor().permissions,
        ),
        turns=turns(found, ListOrder.NEWEST_FIRST),
        params=query_params(*_NAMES),
        filters=filters,
        words=words,
        kept_days=ports().configuration.sign_in_log_days,
        longest=MAX_TEXT_LENGTH,
        default_period=Period.TWO_WEEKS.value,
    )


@blueprint.get("/export.<any(csv, json):form>")
def export(form: str) -> BaseResponse:
    """Export every matching attempt, streamed while it is read."""
    rows = started(export_sign_ins(ports(), actor(), _filter()))
    if form == "json":
        return json_file("sign-ins", rows)
    return csv_file("sign-ins", _COLUMNS, map(_line, rows))


def _period() -> Period:
    return request.args.get("since", Period.TWO_WEEKS, type=Period)


def _filter() -> SignInFilter:
    args = request.args
    return SignInFilter(
        method=args.get("method", type=SignInMethod),
        result=args.get("result", type=SignInResult),
        reason=args.get("reason", type=SignInReason),
        account_type=args.get("type", type=AccountType),
        since=_period().edges(local(now()))[0],
        text=args.get("q", "").strip()[:MAX_TEXT_LENGTH],
    )


def _line(event: SignInEvent) -> tuple[str, ...]:
    return (
        event.at.isoformat(),
        event.first_at.isoformat(),
        str(event.attempts),
        event.name,
        event.account_type,
        event.result,
        event.reason or "",
        event.method,
        event.provider,
        "yes" if event.in_console else "no",
        event.address,
        event.device,
        event.detail,
    )
