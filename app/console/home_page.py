"""The first page's view model: its sentences, states and numbers, made of an overview."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from markupsafe import Markup

from app.console.charts import Bars, Spark, spark, stacked
from app.console.formatting import amount, html_text, milliseconds, percent, time_element
from app.console.security.audit_sentences import done_to, what_was_done, who_did
from app.domain.audit.entries import AuditEntry
from app.domain.deliveries.daily_statistics import DeliveryDay
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.services.console.home import Overview, PeopleCounts, ProviderStatus, TrafficCounts
from app.services.webhooks.failing_webhooks import FailingWebhook

_LABELLED_HOURS = (0, 6, 12, 18)
_NO_NUMBER = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """Something that needs attention: ``state`` is bad or warn, ``endpoint`` where to look."""

    state: str
    title: str
    detail: str
    endpoint: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    action: str = ""
    label: str = ""

    @property
    def icon(self) -> str:
        return "x-circle-fill" if self.state == "bad" else "exclamation-triangle-fill"


@dataclass(frozen=True, slots=True)
class StatusCard:
    """A card with a state (ok, warn, bad or off), its label and a sentence or two."""

    state: str
    label: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number of the last day, and what to compare it with."""

    title: str
    number: str
    comparison: str
    spark: Spark | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Deliveries by hour; ``bars`` is ``None`` when there were none."""

    arrived: str
    failed: str
    summary: str
    top: str
    bars: Bars | None
    hours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the audit log in words."""

    actor: str
    action: str
    subject: str
    at: datetime


@dataclass(frozen=True, slots=True)
class HomePage:
    """The first page; ``changes`` is ``None`` for people who can't see the audit log."""

    at: datetime
    summary: str
    attention: tuple[AttentionItem, ...]
    password_login: StatusCard
    storefront: StatusCard
    single_sign_on: StatusCard
    statistics: tuple[Statistic, ...]
    chart: Chart | None
    changes: tuple[Change, ...] | None


def make_home_page(seen: Overview) -> HomePage:
    """Return the page that shows ``seen``."""
    active = [provider for provider in seen.providers if provider.is_active]
    attention = (
        *(_webhook_item(webhook, seen.at) for webhook in seen.webhooks or ()),
        *(_provider_item(provider) for provider in active if provider.is_paused),
        *_people_items(seen.people, sign_on_is_used=bool(active)),
    )
    return HomePage(
        at=seen.at,
        summary=_summary(len(attention)),
        attention=attention,
        password_login=_password_login(seen.switches.password_login_mode, seen.people),
        storefront=_storefront(seen.switches, seen.traffic),
        single_sign_on=_single_sign_on(active, seen.at),
        statistics=(*_delivery_statistics(seen.deliveries), *_traffic_statistics(seen.traffic)),
        chart=None if seen.deliveries is None else _chart(seen.deliveries),
        changes=None if seen.last_changes is None else _changes(seen.last_changes),
    )


def _summary(items: int) -> str:
    if not items:
        return html_text("Nothing wants a look.")
    return html_text("One thing wants a look.", "{count} things want a look.", count=items)


def _webhook_item(webhook: FailingWebhook, now: datetime) -> AttentionItem:
    values = {"name": webhook.name or "A webhook", "app": webhook.app_name}
    if webhook.is_disabled:
        title = html_text("{name} of {app} was switched off.", **values)
        detail = webhook.disabled_reason
    else:
        title = html_text("{name} of {app} is failing.", **values)
        detail = _failure(webhook, now)
    return AttentionItem(
        "bad",
        title,
        detail,
        "console.webhooks.show",
        {"key": webhook.id},
        "Look at it",
        html_text("Look at it: {name}", name=webhook.name or "a webhook"),
    )


def _failure(webhook: FailingWebhook, now: datetime) -> str:
    since = time_element(webhook.failing_since, now) if webhook.failing_since else ""
    if webhook.last_status:
        return html_text(
            "Its endpoint answered {status} since {since}; tried again on schedule, switched off "
            "after five days.",
            status=webhook.last_status,
            since=since,
        )
    return html_text(
        "Its endpoint did not answer since {since}; tried again on schedule, switched off after "
        "five days.",
        since=since,
    )


def _provider_item(provider: ProviderStatus) -> AttentionItem:
    return AttentionItem(
        "bad",
        html_text("{provider} does not answer.", provider=provider.name),
        "Nobody can come in by it at the moment. Passwords and apps are not concerned.",
    )


def _people_items(
    people: PeopleCounts | None, *, sign_on_is_used: bool
) -> Iterable[AttentionItem]:
    if people is None:
        return
    if people.staff_without_sign_on and sign_on_is_used:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} member of the staff has no single sign-on identity.",
                "{count:,} of the staff have no single sign-on identity.",
                count=people.staff_without_sign_on,
            ),
            "They would lose their rights if passwords were for customers only.",
            "console.staff.index",
            {"status": "active", "by": "no-sso"},
            "See who",
        )
    if people.untrusted_peers:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} machine that nobody named as a proxy passes on requests.",
                "{count:,} machines that nobody named as a proxy pass on requests.",
                count=people.untrusted_peers,
            ),
            "If it is your own, everybody behind it shares one wait after wrong passwords.",
            "console.throttle.index",
            action="Look at it",
            label="Look at it: machines that pass on requests",
        )
    if people.blocked_ips:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} address is blocked from signing in.",
                "{count:,} addresses are blocked from signing in.",
                count=people.blocked_ips,
            ),
            "After wrong passwords; each block ends by itself.",
            "console.throttle.index",
            action="Look at blocks",
        )


_PASSWORD_LOGIN = {
    PasswordLoginMode.ENABLED: ("ok", "Everyone", "Customers and staff sign in by password."),
    PasswordLoginMode.CUSTOMERS_ONLY: (
        "warn",
        "Customers only",
        "Staff need single sign-on; a password gives them no rights.",
    ),
    PasswordLoginMode.DISABLED: (
        "bad",
        "Nobody",
        "Password login, refresh, change and reset are refused.",
    ),
}


def _password_login(mode: PasswordLoginMode, people: PeopleCounts | None) -> StatusCard:
    state, label, sentence = _PASSWORD_LOGIN[mode]
    if people is None or not people.staff_sessions:
        return StatusCard(state, label, (sentence,))
    sessions = html_text(
        "{count:,} password session of staff is open.",
        "{count:,} password sessions of staff are open.",
        count=people.staff_sessions,
    )
    return StatusCard(state, label, (sentence, sessions))


def _storefront(switches: Switches, traffic: TrafficCounts | None) -> StatusCard:
    is_open = switches.allow_storefront_traffic
    state, label = ("ok", "Open") if is_open else ("warn", "Closed")
    if traffic is None or not traffic.from_outside:
        sentence = "Everybody reaches the API." if is_open else "Only staff and apps pass."
    elif is_open:
        sentence = html_text(
            "{count:,} request by customers and visitors in the last hour.",
            "{count:,} requests by customers and visitors in the last hour.",
            count=traffic.from_outside,
        )
    else:
        sentence = html_text(
            "{count:,} request by customers and visitors in the last hour, refused.",
            "{count:,} requests by customers and visitors in the last hour, all refused.",
            count=traffic.from_outside,
        )
    return StatusCard(state, label, (sentence,))


def _single_sign_on(active: list[ProviderStatus], now: datetime) -> StatusCard:
    if not active:
        sentence = "No identity provider is active, so everybody comes in by password."
        return StatusCard("off", "Not set up", (sentence,))
    answers = tuple(_provider_answer(provider, now) for provider in active)
    if any(provider.is_paused for provider in active):
        return StatusCard("bad", "Not reachable", answers)
    return StatusCard("ok", "On", answers)


def _provider_answer(provider: ProviderStatus, now: datetime) -> Markup:
    if provider.answered_at is None:
        return html_text("{provider} is active.", provider=provider.name)
    moment = time_element(provider.answered_at, now)
    return html_text("{provider} answered {moment}.", provider=provider.name, moment=moment)


def _delivery_statistics(day: DeliveryDay | None) -> Iterable[Statistic]:
    if day is None:
        return
    line = spark([float(hour.made) for hour in day.hours])
    yield Statistic("Deliveries", amount(day.made), _growth(day), line)
    share, before = day.first_try_share, day.first_try_share_before
    yield Statistic(
        "Arrived at first try",
        _NO_NUMBER if share is None else percent(share, 1),
        "nothing to compare with"
        if before is None
        else html_text("the day before {share}", share=percent(before, 1)),
    )
    if day.times is None:
        yield Statistic("Median answer", _NO_NUMBER, "nothing has answered")
        return
    slowest = html_text(
        "slowest: {app}, {duration}",
        app=day.times.slowest.app_name,
        duration=milliseconds(1000 * day.times.slowest.duration),
    )
    yield Statistic("Median answer", milliseconds(1000 * day.times.median), slowest)


def _growth(day: DeliveryDay) -> str:
    if day.growth is None:
        return "none the day before"
    share = percent(abs(day.growth))
    if day.growth >= 0:
        return html_text("{share} more than the day before", share=share)
    return html_text("{share} fewer than the day before", share=share)


def _traffic_statistics(traffic: TrafficCounts | None) -> Iterable[Statistic]:
    if traffic is None:
        return
    refused = "none with a bad credential"
    if traffic.refused:
        refused = html_text("{number:,} with a bad credential", number=traffic.refused)
    yield Statistic("API requests", amount(traffic.requests), refused)


def _chart(day: DeliveryDay) -> Chart:
    bars = stacked([(hour.arrived, hour.not_arrived) for hour in day.hours])
    made, failed = amount(day.made), amount(day.not_arrived)
    return Chart(
        arrived=html_text("{number:,} arrived", number=day.arrived),
        failed=html_text("{number} failed", number=failed),
        summary=html_text(
            "Deliveries by hour, {made} in all, {failed} failed.", made=made, failed=failed
        ),
        top=html_text("{number:,} an hour", number=bars.top),
        bars=bars if day.made else None,
        hours=tuple(
            f"{day.hours[place].began:%a %H:%M}"
            if place == 0
            else f"{day.hours[place].began:%H:%M}"
            for place in _LABELLED_HOURS
        ),
    )


def _changes(entries: Iterable[AuditEntry]) -> tuple[Change, ...]:
    return tuple(
        Change(who_did(entry), what_was_done(entry), done_to(entry), entry.at) for entry in entries
    )
