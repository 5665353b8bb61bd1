"""The view model of the sign-in log: its rows, its chart, the command that shows the same."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.charts import Stack, stacked_by_kind
from app.console.formatting import amount
from app.console.parts import Pill
from app.console.sign_in_words import method_words, reason_words, result_pill
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_events import AccountType, SignInEvent, SignInMethod
from app.domain.sign_in.sign_in_statistics import MAX_COUNTED, Period, SignInCount, SignInSpan
from app.domain.values.text import text

PERIODS: Mapping[str, str] = {
    Period.DAY: "Last 24 hours",
    Period.TWO_WEEKS: "Last 14 days",
    Period.QUARTER: "Last 90 days",
}

_TITLES = {
    Period.DAY: "Sign-ins by hour",
    Period.TWO_WEEKS: "Sign-ins by day",
    Period.QUARTER: "Sign-ins by week",
}
_TOPS = {
    Period.DAY: "{number:,} per hour",
    Period.TWO_WEEKS: "{number:,} per day",
    Period.QUARTER: "{number:,} per week",
}
_PAGES = {
    AccountType.STAFF: ("console.staff.show", Permission.MANAGE_STAFF),
    AccountType.CUSTOMER: ("console.customers.show", Permission.MANAGE_USERS),
    AccountType.APP: ("console.apps.show", Permission.MANAGE_APPS),
}
_KINDS = {AccountType.STAFF: "staff", AccountType.APP: "app"}
_OPTIONS = {"q": "search"}
_LABELLED_HOURS = 6
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
    method: str
    place: str
    ip_address: str
    device: str
    at: datetime
    first_at: datetime | None


@dataclass(frozen=True, slots=True)
class Legend:
    """A kind of the chart's parts, with its sum in words."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A span of the chart as a row of its table."""

    label: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SignInChart:
    """The chart and its table; ``stacks`` is empty if there were no attempts."""

    title: str
    legend: tuple[Legend, ...]
    stacks: tuple[Stack, ...]
    width: int
    top: str
    summary: str
    labels: tuple[tuple[str, str], ...]
    is_by_day: bool
    first_column: str
    columns: tuple[str, ...]
    table: tuple[FigureRow, ...]


@dataclass(frozen=True, slots=True)
class SignInsPage:
    """The list of attempts and its chart."""

    rows: tuple[SignInRow, ...]
    summary: str
    caption: str
    command: str
    chart: SignInChart


def make_sign_ins_page(
    events: Iterable[SignInEvent],
    count: SignInCount,
    spans: Sequence[SignInSpan],
    period: Period,
    asked: Mapping[str, str],
    permissions: frozenset[Permission],
) -> SignInsPage:
    """Return the page; ``asked`` are its filters as the URL has them."""
    return SignInsPage(
        rows=tuple(_row(event, permissions) for event in events),
        summary=_summary(count),
        caption="Sign-in attempts, newest first",
        command=_command(asked),
        chart=_chart(spans, period),
    )


def _summary(count: SignInCount) -> str:
    """Return how many entries there are, of all in the period if a filter leaves some out."""
    total = _at_most(count.total)
    if count.matching != count.total:
        return text(
            "{matching} of {total} entries", matching=_at_most(count.matching), total=total
        )
    if count.total > MAX_COUNTED:
        return text("{total} entries", total=total)
    return text("{count:,} entry", "{count:,} entries", count=count.total)


def _at_most(number: int) -> str:
    if number > MAX_COUNTED:
        return text("more than {number:,}", number=MAX_COUNTED)
    return amount(number)


def _command(asked: Mapping[str, str]) -> str:
    """Return the command that lists the same."""
    words = ["flask", "sign-ins", "list"]
    for name, value in ({"since": Period.TWO_WEEKS.value} | dict(asked)).items():
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
        method=method_words(event),
        place="Console" if event.in_console else "",
        ip_address=event.address or _NONE,
        device=event.device,
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
            return "Unknown", ""
        is_token = event.method is SignInMethod.APP_TOKEN
        return ("Unknown token" if is_token else "Unknown email"), event.name
    full_name = f"{event.first_name} {event.last_name}".strip()
    kind = _KINDS.get(event.account_type, "")
    if not full_name:
        return event.name, kind
    if not kind:
        return full_name, event.name
    return full_name, text("{name} · {kind}", name=event.name, kind=kind)


_GROUPS: tuple[tuple[str, str, str], ...] = (
    ("ok", "Successful", "{number:,} successful"),
    ("bad", "Incorrect password", "{number:,} incorrect password"),
    ("warn", "Blocked", "{number:,} blocked"),
    ("idle", "Other", "{number:,} other"),
)


def _figures(span: SignInSpan) -> tuple[int, int, int, int]:
    return span.successful, span.incorrect_password, span.blocked, span.other


def _chart(spans: Sequence[SignInSpan], period: Period) -> SignInChart:
    kinds = tuple(kind for kind, _, _ in _GROUPS)
    figures = [_figures(span) for span in spans]
    stacks = stacked_by_kind(figures, kinds, [_tooltip(one, period) for one in spans])
    sums = [sum(column) for column in zip(*figures, strict=True)]
    legend = tuple(
        Legend(kind, text(words, number=number))
        for (kind, _, words), number in zip(_GROUPS, sums, strict=True)
        if number or kind == "ok"
    )
    return SignInChart(
        title=_TITLES[period],
        legend=legend,
        stacks=stacks.stacks if any(sums) else (),
        width=stacks.width,
        top=text(_TOPS[period], number=stacks.top),
        summary=text(
            "{title}: {figures}.",
            title=_TITLES[period],
            figures=", ".join(one.words for one in legend),
        ),
        labels=_labels(spans, period),
        is_by_day=period is Period.TWO_WEEKS,
        first_column={Period.DAY: "Hour", Period.QUARTER: "Week from"}.get(period, "Day"),
        columns=tuple(label for _, label, _ in _GROUPS),
        table=tuple(
            FigureRow(
                _label(span.began, period),
                tuple(
                    (label, amount(number))
                    for (_, label, _), number in zip(_GROUPS, row, strict=True)
                ),
            )
            for span, row in zip(reversed(spans), reversed(figures), strict=True)
        ),
    )


def _label(began: datetime, period: Period) -> str:
    if period is Period.DAY:
        return f"{began:%a %H:%M}"
    return f"{began.day} {began:%b}"


def _tooltip(span: SignInSpan, period: Period) -> str:
    parts = [
        text(words, number=number)
        for (_, _, words), number in zip(_GROUPS, _figures(span), strict=True)
        if number
    ]
    if not parts:
        return text("{label}: no attempts", label=_label(span.began, period))
    return text("{label}: {parts}", label=_label(span.began, period), parts=", ".join(parts))


def _labels(spans: Sequence[SignInSpan], period: Period) -> tuple[tuple[str, str], ...]:
    """Return the labels below the chart, each with a part that narrow screens leave out."""
    if period is Period.TWO_WEEKS:
        return tuple((str(span.began.day), f" {span.began:%b}") for span in spans)
    step = _LABELLED_HOURS if period is Period.DAY else 4
    return tuple((_label(span.began, period), "") for span in spans[::step])
