"""The sign-in log: every attempt with its result and reason; filtered, charted and exported."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.charts import Kind, Span, StackChart, make_stack_chart
from app.console.frame.formatting import device_words, local, time_zone
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page
from app.console.frame.parts import Pill
from app.console.frame.session import actor, now, ports
from app.console.lists.files import csv_file, json_file, started
from app.console.lists.list_page import (
    ListOrder,
    RowCount,
    active_filters,
    query_params,
    requested_page,
    turns,
)
from app.console.people.sign_in_checks import (
    ACCOUNT_TYPES,
    METHODS,
    REASONS,
    RESULTS,
    method_words,
    reason_words,
    result_pill,
)
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import (
    MAX_TEXT_LENGTH,
    AccountType,
    Period,
    SignInEvent,
    SignInFilter,
    SignInMethod,
    SignInReason,
    SignInResult,
    SignInSpan,
)
from app.domain.values.pages import Counts
from app.domain.values.text import translatable
from app.services.sign_in_log.events import (
    chart_sign_ins,
    count_sign_ins,
    export_sign_ins,
    list_sign_ins,
)
from app.web.converters import one_of
from app.web.translation import reason_text, text, texts

PERIODS: Mapping[str, str] = {
    Period.DAY: translatable("Last 24 hours"),
    Period.TWO_WEEKS: translatable("Last 14 days"),
    Period.QUARTER: translatable("Last 90 days"),
}

COUNT = RowCount(
    none="No entries",
    no_match="No matching entries",
    one="1 entry",
    many="{count} entries",
    some="{matching} of {total} entries",
)

_TITLES = {
    Period.DAY: translatable("Sign-ins by hour"),
    Period.TWO_WEEKS: translatable("Sign-ins by day"),
    Period.QUARTER: translatable("Sign-ins by week"),
}
_PAGES = {
    AccountType.STAFF: ("console.staff.show", Permission.MANAGE_STAFF),
    AccountType.CUSTOMER: ("console.customers.show", Permission.MANAGE_USERS),
    AccountType.APP: ("console.apps.show", Permission.MANAGE_APPS),
}
_KINDS = {AccountType.STAFF: translatable("staff"), AccountType.APP: translatable("app")}
_OPTIONS = {"q": "search"}
_NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class SignInRow:
    """An entry in the list; ``endpoint`` is the page of its account, empty without one."""

    person: str
    detail: str
    endpoint: str
    key: int
    result: Pill
    reason: str
    provider_reason: str
    method: str
    place: str
    ip_address: str
    device: str
    at: datetime
    first_at: datetime | None


@dataclass(frozen=True, slots=True)
class SignInsPage:
    """The list of attempts and its chart."""

    rows: tuple[SignInRow, ...]
    summary: str
    caption: str
    command: str
    chart: StackChart


def make_sign_ins_page(
    events: Iterable[SignInEvent],
    counts: Counts,
    spans: Sequence[SignInSpan],
    period: Period,
    params: Mapping[str, str],
    permissions: frozenset[Permission],
) -> SignInsPage:
    """Return the page; ``params`` are its valid filters as the URL has them."""
    return SignInsPage(
        rows=tuple(_row(event, permissions) for event in events),
        summary=COUNT.of(counts),
        caption=text("Sign-in attempts, newest first"),
        command=_command(params),
        chart=_chart(spans, period),
    )


def _command(params: Mapping[str, str]) -> str:
    """Return the command that lists the same."""
    words = ["flask", "sign-ins", "list"]
    for name, value in ({"since": Period.TWO_WEEKS.value} | dict(params)).items():
        is_free = name in ("q", "since")
        option = value if is_free else value.lower().replace("_", "-")
        words += [f"--{_OPTIONS.get(name, name)}", option]
    return shlex.join(words)


def _row(event: SignInEvent, permissions: frozenset[Permission]) -> SignInRow:
    endpoint, key = _account_page(event, permissions)
    person, detail = _person(event)
    return SignInRow(
        person=person,
        detail=detail,
        endpoint=endpoint,
        key=key,
        result=result_pill(event),
        reason=reason_words(event),
        provider_reason=reason_text(event.detail),
        method=method_words(event),
        place=text("Console") if event.in_console else "",
        ip_address=event.address or _NONE,
        device=device_words(event.device),
        at=event.at,
        first_at=event.first_at if event.first_at != event.at else None,
    )


def _account_page(event: SignInEvent, permissions: frozenset[Permission]) -> tuple[str, int]:
    """Return the page of the account or app, if the reader can open it."""
    endpoint, permission = _PAGES.get(event.account_type, ("", None))
    key = event.app_id if event.account_type is AccountType.APP else event.user_id
    if key is None or permission not in permissions:
        return "", 0
    return endpoint, key


def _person(event: SignInEvent) -> tuple[str, str]:
    """Return who it was, and a second line about them."""
    if event.account_type is AccountType.UNKNOWN:
        if not event.name:
            return text("Unknown"), ""
        is_token = event.method is SignInMethod.APP_TOKEN
        return (text("Unknown token") if is_token else text("Unknown email")), event.name
    full_name = f"{event.first_name} {event.last_name}".strip()
    kind = text(_KINDS.get(event.account_type, ""))
    if not full_name:
        return event.name, kind
    if not kind:
        return full_name, event.name
    return full_name, text("{name} · {kind}", name=event.name, kind=kind)


_GROUPS = (
    Kind("ok", translatable("Successful"), translatable("{number:,} successful")),
    Kind("bad", translatable("Incorrect password"), translatable("{number:,} incorrect password")),
    Kind("warn", translatable("Blocked"), translatable("{number:,} blocked")),
    Kind("idle", translatable("Other"), translatable("{number:,} other")),
)


def _chart(spans: Sequence[SignInSpan], period: Period) -> StackChart:
    columns = [
        Span(span.began, (span.successful, span.incorrect_password, span.blocked, span.other))
        for span in spans
    ]
    return make_stack_chart(
        text(_TITLES[period]), translatable("{label}: no attempts"), _GROUPS, columns, period.step
    )


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
