"""The view model of the sign-in log: its rows, its chart, the command that shows the same."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import device_words
from app.console.lists import RowCount
from app.console.parts import Pill
from app.console.sign_in_words import method_words, reason_words, result_pill
from app.console.stack_charts import Kind, Span, StackChart, make_stack_chart
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_events import AccountType, SignInEvent, SignInMethod
from app.domain.sign_in.sign_in_statistics import Period, SignInSpan
from app.domain.values.pages import Counts
from app.domain.values.text import translatable
from app.web.translation import reason_text, text

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
