"""The sign-in log: every attempt with its result and reason; filtered, charted and exported."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from flask import url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import formatting
from app.console.frame.charts import Kind, Span, StackChart, make_stack_chart
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.parts import lines, moment, pill, small
from app.console.frame.session import actor, now, ports
from app.console.lists.filters import ListOrder, choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, reader
from app.console.people import sign_in_checks
from app.domain.authorization.permissions import Permission
from app.domain.sign_in import sign_in_log
from app.domain.values.text import translatable
from app.services.sign_in_log.events import (
    chart_sign_ins,
    count_sign_ins,
    export_sign_ins,
    list_sign_ins,
)
from app.web.translation import reason_text, text

PERIODS: Mapping[str, str] = {
    sign_in_log.Period.DAY: translatable("Last 24 hours"),
    sign_in_log.Period.TWO_WEEKS: translatable("Last 14 days"),
    sign_in_log.Period.QUARTER: translatable("Last 90 days"),
}

_TITLES = {
    sign_in_log.Period.DAY: translatable("Sign-ins by hour"),
    sign_in_log.Period.TWO_WEEKS: translatable("Sign-ins by day"),
    sign_in_log.Period.QUARTER: translatable("Sign-ins by week"),
}
_PAGES = {
    sign_in_log.AccountType.STAFF: ("console.staff.show", Permission.MANAGE_STAFF),
    sign_in_log.AccountType.CUSTOMER: ("console.customers.show", Permission.MANAGE_USERS),
    sign_in_log.AccountType.APP: ("console.apps.show", Permission.MANAGE_APPS),
}
_KINDS = {
    sign_in_log.AccountType.STAFF: translatable("staff"),
    sign_in_log.AccountType.APP: translatable("app"),
}
_OPTIONS = {"q": "search"}
_NONE = "\N{EN DASH}"


def sign_ins_command(params: Mapping[str, str]) -> str:
    """Return the command that lists the same; ``params`` are the valid filters of the URL."""
    words = ["flask", "sign-ins", "list"]
    for name, value in ({"since": sign_in_log.Period.TWO_WEEKS.value} | dict(params)).items():
        is_free = name in ("q", "since")
        option = value if is_free else value.lower().replace("_", "-")
        words += [f"--{_OPTIONS.get(name, name)}", option]
    return shlex.join(words)


def account_url(event: sign_in_log.SignInEvent, permissions: frozenset[Permission]) -> str:
    """Return the page of the account or app for a reader who can open it, else nothing."""
    endpoint, permission = _PAGES.get(event.account_type, ("", None))
    key = event.app_id if event.account_type is sign_in_log.AccountType.APP else event.user_id
    if key is None or permission not in permissions:
        return ""
    return url_for(endpoint, key=key)


def _person_cell(event: sign_in_log.SignInEvent) -> Markup:
    person, detail = person_words(event)
    url = account_url(event, actor().permissions)
    name = formatting.breakable(person)
    title = Markup('<a href="{}">{}</a>').format(url, name) if url else lines(name)
    return title + small(formatting.breakable(detail))


def _result_cell(event: sign_in_log.SignInEvent) -> Markup:
    first = (
        formatting.html_text("first: {moment}", moment=moment(event.first_at))
        if event.first_at != event.at
        else ""
    )
    return lines(
        pill(sign_in_checks.result_pill(event)),
        sign_in_checks.reason_words(event),
        formatting.breakable(reason_text(event.detail)),
        first,
    )


def person_words(event: sign_in_log.SignInEvent) -> tuple[str, str]:
    """Return who it was, and a second line about them."""
    if event.account_type is sign_in_log.AccountType.UNKNOWN:
        if not event.name:
            return text("Unknown"), ""
        is_token = event.method is sign_in_log.SignInMethod.APP_TOKEN
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


def make_chart(spans: Sequence[sign_in_log.SignInSpan], period: sign_in_log.Period) -> StackChart:
    columns = [
        Span(span.began, (span.successful, span.incorrect_password, span.blocked, span.other))
        for span in spans
    ]
    return make_stack_chart(
        text(_TITLES[period]), translatable("{label}: no attempts"), _GROUPS, columns, period.step
    )


def _filter(
    *, period: sign_in_log.Period = sign_in_log.Period.TWO_WEEKS, **values: Any
) -> sign_in_log.SignInFilter:
    return sign_in_log.SignInFilter(since=period.edges(formatting.local(now()))[0], **values)


SIGN_INS = ListPage[sign_in_log.SignInEvent](
    template="sign_ins/index.html",
    title="Sign-in log",
    label="Sign-in attempts",
    filter_label="Filter sign-ins",
    caption="Sign-in attempts, newest first",
    count=RowCount(
        none="No entries",
        no_match="No matching entries",
        one="1 entry",
        many="{count} entries",
        some="{matching} of {total} entries",
    ),
    read=reader(list_sign_ins, _filter),
    read_all=reader(export_sign_ins, _filter),
    is_counted=False,
    filters=(
        search(
            "Search",
            "Name, email, app or IP address",
            longest=sign_in_log.MAX_TEXT_LENGTH,
            argument="text",
        ),
        choice("result", "Result", sign_in_checks.RESULTS, sign_in_log.SignInResult),
        choice("reason", "Reason", sign_in_checks.REASONS, sign_in_log.SignInReason),
        choice("method", "Method", sign_in_checks.METHODS, sign_in_log.SignInMethod),
        choice(
            "type",
            "Account type",
            sign_in_checks.ACCOUNT_TYPES,
            sign_in_log.AccountType,
            argument="account_type",
        ),
        choice(
            "since",
            "Time",
            PERIODS,
            sign_in_log.Period,
            argument="period",
            default=sign_in_log.Period.TWO_WEEKS.value,
        ),
    ),
    order=ListOrder.NEWEST_FIRST,
    columns=(
        Column("Person or app", _person_cell, ("is-cut",), is_title=True),
        Column("Result and reason", _result_cell, ("is-cut",), short="Result"),
        Column(
            "Method",
            lambda event: lines(
                sign_in_checks.method_words(event), text("Console") if event.in_console else ""
            ),
            ("is-name", "is-third"),
        ),
        Column(
            "IP address",
            lambda event: formatting.breakable_ip(event.address or _NONE),
            ("lk-mono", "is-whole", "is-when"),
        ),
        Column(
            "Device", lambda event: formatting.device_words(event.device), ("is-extra", "is-wide")
        ),
        Column("Time", lambda event: moment(event.at), ("is-num", "is-state")),
    ),
    file="sign-ins",
    file_columns={
        "at": lambda event: event.at,
        "first_at": lambda event: event.first_at,
        "attempts": lambda event: event.attempts,
        "name": lambda event: event.name,
        "account_type": lambda event: event.account_type,
        "result": lambda event: event.result,
        "reason": lambda event: event.reason,
        "method": lambda event: event.method,
        "second_factor": lambda event: event.second_factor,
        "provider": lambda event: event.provider,
        "console": lambda event: event.in_console,
        "address": lambda event: event.address,
        "device": lambda event: event.device,
        "detail": lambda event: event.detail,
    },
    forms=("csv", "json"),
    no_match="No matching sign-in attempts",
    hint="Try removing a filter or choosing a longer time.",
    empty=EmptyState(
        "clock-history", "No sign-in attempts yet", "Failed attempts appear within a minute."
    ),
)

blueprint = PageGroup(
    "sign_ins",
    __name__,
    Entry(
        "Sign-in log",
        "clock-history",
        "logins attempts failed incorrect password history export",
        Heading.PEOPLE,
        needs=list_sign_ins,
    ),
    url_prefix="/sign-ins",
    list_name="sign-ins",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List attempts, newest first, with the filters of the URL, below a chart of the period."""
    requested = SIGN_INS.requested()
    period = requested.values.get("period", sign_in_log.Period.TWO_WEEKS)
    found = SIGN_INS.load_page(requested)
    counts = count_sign_ins(ports(), actor(), _filter(**requested.values))
    return SIGN_INS.show(
        found,
        summary=SIGN_INS.count.sentence(counts),
        chart=make_chart(chart_sign_ins(ports(), actor(), period, formatting.time_zone()), period),
        command=sign_ins_command(requested.applied),
        kept_days=ports().configuration.sign_in_log_days,
    )


blueprint.add_url_rule("/export.<any(csv, json):form>", "export", SIGN_INS.export)
