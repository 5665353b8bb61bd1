"""Home: the state of access, what needs attention, and the last day."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from flask import url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import formatting
from app.console.frame.charts import Kind, Span, StackChart, make_stack_chart
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, redirect_with_success
from app.console.frame.parts import link
from app.console.frame.session import actor, ports
from app.console.lists.filters import MOMENT
from app.console.overview.attention import AttentionItem, Checklist, make_checklist, people_items
from app.console.security.audit_sentences import done_to, what_was_done, who_did
from app.console.shop.access_positions import closing_text, rejected_requests
from app.domain.audit import AuditEntry
from app.domain.deliveries.statistics import DeliveryDay
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.shop.settings import PasswordLoginMode, TrafficHour, TrafficKind
from app.domain.single_sign_on.waiting_changes import ANY_CLIENT
from app.domain.values.text import translatable
from app.services.console.home import (
    Overview,
    PeopleCounts,
    ProviderStatus,
    TrafficCounts,
    dismiss_setup,
    show_overview,
)
from app.services.webhooks.failing_webhooks import FailingWebhook
from app.web.translation import enumeration, reason_text, text

_KINDS = {
    TrafficKind.CUSTOMER: Kind(
        "ok", translatable("Customers"), translatable("{number:,} from customers")
    ),
    TrafficKind.ANONYMOUS: Kind(
        "idle", translatable("Anonymous"), translatable("{number:,} anonymous")
    ),
    TrafficKind.APP: Kind("app", translatable("Apps"), translatable("{number:,} from apps")),
    TrafficKind.STAFF: Kind("staff", translatable("Staff"), translatable("{number:,} from staff")),
    TrafficKind.INVALID: Kind(
        "bad", translatable("Unauthorized"), translatable("{number:,} unauthorized")
    ),
}
"""The parts of a column, from below."""


def make_requests_chart(hours: Iterable[TrafficHour]) -> StackChart:
    spans = [Span(hour.began, tuple(hour.by_kind[kind] for kind in _KINDS)) for hour in hours]
    return make_stack_chart(
        text("API requests by hour"),
        translatable("{label}: no requests"),
        tuple(_KINDS.values()),
        spans,
        timedelta(hours=1),
    )


_NO_NUMBER = "\N{EN DASH}"
_UNNAMED = translatable("Unnamed webhook")
_ANYONE = translatable("Anyone can reach the API.")
_ONLY_STAFF = translatable("Only staff and apps can reach the API.")
_OFF_MEANS = translatable(
    "Signing in with a password or passkey, refreshing, and changing or resetting a password are "
    "disabled."
)


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


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the audit log in words; ``others`` are the earlier ones that repeat its act."""

    actor: str
    sentence: str
    at: datetime
    others: tuple["Change", ...] = ()


@dataclass(frozen=True, slots=True)
class HomePage:
    """The first page; ``changes`` is ``None`` for people who can't see the audit log."""

    at: datetime
    summary: str
    checklist: Checklist | None
    attention: tuple[AttentionItem, ...]
    password_login: StatusCard
    storefront: StatusCard
    single_sign_on: StatusCard
    delivery_statistics: tuple[Statistic, ...]
    request_statistics: tuple[Statistic, ...]
    deliveries: StackChart | None
    requests: StackChart | None
    changes: tuple[Change, ...] | None


def make_home_page(seen: Overview) -> HomePage:
    active = [provider for provider in seen.providers if provider.is_active]
    checklist = make_checklist(seen.setup)
    attention = (
        *(_webhook_item(webhook, seen.at) for webhook in seen.webhooks or ()),
        *_switch_items(seen, can_change=seen.traffic is not None),
        *(_provider_item(provider) for provider in active if provider.is_paused),
        *_provider_settings_items(seen),
        *_held_items(is_held=seen.is_held),
        *_template_items(seen.broken_templates),
        *_sender_items(seen.mails_without_app),
        *people_items(seen.people, seen.switches, seen.at, sign_on_is_used=bool(active)),
    )
    return HomePage(
        at=seen.at,
        summary=_summary(len(attention), checklist),
        checklist=checklist,
        attention=attention,
        password_login=_password_login(seen.switches.password_login_mode, seen.people),
        storefront=_storefront(seen),
        single_sign_on=_single_sign_on(active, seen.at),
        delivery_statistics=tuple(_delivery_statistics(seen.deliveries)),
        request_statistics=tuple(_traffic_statistics(seen.traffic)),
        deliveries=None if seen.deliveries is None else _deliveries_chart(seen.deliveries),
        requests=None if seen.traffic is None else make_requests_chart(seen.traffic.hours),
        changes=None if seen.last_changes is None else _changes(seen.last_changes),
    )


def _summary(items: int, checklist: Checklist | None) -> str:
    if not items and checklist is not None:
        return text(
            "{count} setup step is open.",
            "{count} setup steps are open.",
            count=len(checklist.steps) - checklist.number_done,
        )
    if not items:
        return text("All clear.")
    return formatting.html_text(
        "{count} item needs attention.", "{count} items need attention.", count=items
    )


def _webhook_item(webhook: FailingWebhook, now: datetime) -> AttentionItem:
    values = {"name": webhook.name or text(_UNNAMED), "app": webhook.app_name}
    if webhook.disabled_reason:
        title = formatting.html_text("Webhook “{name}” ({app}) is disabled.", **values)
        detail = reason_text(webhook.disabled_reason)
    else:
        title = formatting.html_text("Webhook “{name}” ({app}) is failing.", **values)
        detail = _failure(webhook, now)
    return AttentionItem(
        "bad",
        title,
        detail,
        "console.webhooks.show",
        {"key": webhook.id},
        text("View webhook"),
        formatting.html_text("View webhook {name}", name=webhook.name or text(_UNNAMED)),
    )


def _failure(webhook: FailingWebhook, now: datetime) -> str:
    since = formatting.clock_element(webhook.failing_since, now) if webhook.failing_since else ""
    if webhook.last_status:
        return formatting.html_text(
            "Last response: {status}. Failing since {since}. We'll keep retrying and disable it "
            "after 5 days.",
            status=webhook.last_status,
            since=since,
        )
    return formatting.html_text(
        "No response since {since}. We'll keep retrying and disable it after 5 days.", since=since
    )


def _switch_items(seen: Overview, *, can_change: bool) -> Iterable[AttentionItem]:
    switches = seen.switches
    if seen.closing is not None:
        item = AttentionItem(
            "warn",
            text("The storefront is closed."),
            closing_text(seen.closing, seen.at) or text(_ONLY_STAFF),
        )
        question = {"ask": "storefront", "open": "true"}
        action = text("Open storefront …")
        yield _with_action(item, question, action) if can_change else item
    if switches.password_login_mode is PasswordLoginMode.DISABLED:
        item = AttentionItem("bad", text("Password login is off."), text(_OFF_MEANS))
        question = {"ask": "mode", "mode": PasswordLoginMode.ENABLED.value}
        action = text("Turn on password login …")
        yield _with_action(item, question, action) if can_change else item


def _with_action(
    item: AttentionItem, question: Mapping[str, object], action: str
) -> AttentionItem:
    return replace(item, endpoint="console.access.index", arguments=question, action=action)


def _held_items(*, is_held: bool) -> Iterable[AttentionItem]:
    if is_held:
        yield AttentionItem(
            "bad",
            text("Deliveries, emails and app installations are held."),
            text(
                "This database was restored, copied or moved here. A server administrator says "
                "what to send: flask resume"
            ),
        )


def _template_items(broken: int) -> Iterable[AttentionItem]:
    if broken:
        yield AttentionItem(
            "warn",
            formatting.html_text(
                "{count} email template can't be used.",
                "{count} email templates can't be used.",
                count=broken,
            ),
            text("The default is sent instead."),
            "console.mail_templates.index",
            action=text("View templates"),
        )


def _sender_items(kinds: Sequence[MailKind]) -> Iterable[AttentionItem]:
    if kinds:
        yield AttentionItem(
            "warn",
            formatting.html_text(
                "{count} kind of email has no app that can send it.",
                "{count} kinds of email have no app that can send them.",
                count=len(kinds),
            ),
            text(
                "An active app must get the links. Until then, this shop sends: {emails}.",
                emails=enumeration([text(KIND_LABELS[kind]) for kind in kinds]),
            ),
            "console.emails.sending",
            {"_anchor": "mail-senders"},
            text("Choose senders"),
        )


def _provider_item(provider: ProviderStatus) -> AttentionItem:
    return AttentionItem(
        "bad",
        formatting.html_text("{provider} doesn't respond.", provider=provider.name),
        text("People can't sign in with it right now. Passwords and apps keep working."),
    )


def _provider_settings_items(seen: Overview) -> Iterable[AttentionItem]:
    """Yield the providers whose settings wait for confirmation, or give rights too widely."""
    for provider in seen.providers:
        words = []
        if provider.waits:
            title = formatting.html_text("Changes to {name} aren't confirmed.", name=provider.name)
            words.append((title, text(_UNCONFIRMED)))
        if provider.is_active and provider.serves_staff_of_any_client:
            title = formatting.html_text(
                "{name} accepts tokens of any client.", name=provider.name
            )
            words.append((title, text(ANY_CLIENT)))
        for title, detail in words:
            item = AttentionItem("warn", title, detail)
            if seen.manages_plugins:
                item = replace(
                    item,
                    endpoint="console.single_sign_on.show",
                    arguments={"slug": provider.slug},
                    action=text("View provider"),
                )
            yield item


_UNCONFIRMED = translatable(
    "Until a superuser confirms them, linked accounts can't sign in with it, and it makes no one "
    "staff."
)
_PASSWORD_LOGIN = {
    PasswordLoginMode.ENABLED: (
        "ok",
        translatable("Everyone"),
        translatable("Customers and staff can sign in with a password or passkey."),
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: (
        "warn",
        translatable("Customers only"),
        translatable(
            "Staff sign in with SSO. Passwords and passkeys give customer-level access only."
        ),
    ),
    PasswordLoginMode.DISABLED: ("bad", translatable("Off"), _OFF_MEANS),
}


def _password_login(mode: PasswordLoginMode, people: PeopleCounts | None) -> StatusCard:
    state, *words = _PASSWORD_LOGIN[mode]
    label, sentence = map(text, words)
    if people is None or not people.staff_sessions:
        return StatusCard(state, label, (sentence,))
    sessions = formatting.html_text(
        "{count:,} staff session started with a password or passkey.",
        "{count:,} staff sessions started with a password or passkey.",
        count=people.staff_sessions,
    )
    return StatusCard(state, label, (sentence, sessions))


def _storefront(seen: Overview) -> StatusCard:
    if seen.closing is not None:
        only_staff = text(_ONLY_STAFF)
        if seen.traffic is None:
            return StatusCard("warn", text("Closed"), (only_staff,))
        rejected = rejected_requests(seen.traffic.rejected)
        return StatusCard("warn", text("Closed"), (only_staff, rejected))
    anyone = text(_ANYONE)
    if seen.traffic is None or not seen.traffic.from_outside:
        return StatusCard("ok", text("Open"), (anyone,))
    requests = formatting.html_text(
        "Customers and visitors sent {count:,} request in the last hour.",
        "Customers and visitors sent {count:,} requests in the last hour.",
        count=seen.traffic.from_outside,
    )
    return StatusCard("ok", text("Open"), (anyone, requests))


def _single_sign_on(active: list[ProviderStatus], now: datetime) -> StatusCard:
    if not active:
        sentence = text(
            "No identity provider is active. Everyone signs in with a password or passkey."
        )
        return StatusCard("off", text("Not set up"), (sentence,))
    answers = tuple(_provider_answer(provider, now) for provider in active)
    if any(provider.is_paused for provider in active):
        return StatusCard("bad", text("Unreachable"), answers)
    return StatusCard("ok", text("On"), answers)


def _provider_answer(provider: ProviderStatus, now: datetime) -> Markup:
    if provider.answered_at is None:
        return formatting.html_text("{provider} is active.", provider=provider.name)
    moment = formatting.time_element(provider.answered_at, now)
    return formatting.html_text(
        "{provider} responded {moment}.", provider=provider.name, moment=moment
    )


def _delivery_statistics(day: DeliveryDay | None) -> Iterable[Statistic]:
    if day is None:
        return
    yield Statistic(text("Deliveries"), formatting.amount(day.total), _growth(day))
    share, before = day.first_try_share, day.first_try_share_before
    yield Statistic(
        text("Delivered on first attempt"),
        _NO_NUMBER if share is None else formatting.percent(share, 1),
        text("No earlier deliveries")
        if before is None
        else formatting.html_text("Previous day: {share}", share=formatting.percent(before, 1)),
    )
    if day.times is None:
        yield Statistic(text("Median response time"), _NO_NUMBER, text("No responses"))
        return
    slowest = formatting.html_text(
        "Slowest: {app}, {duration}",
        app=day.times.slowest_app,
        duration=formatting.milliseconds(1000 * day.times.slowest),
    )
    median = formatting.milliseconds(1000 * day.times.median)
    yield Statistic(text("Median response time"), median, slowest)


def _growth(day: DeliveryDay) -> str:
    if day.growth is None:
        return text("None the previous day")
    share = formatting.percent(abs(day.growth))
    if day.growth >= 0:
        return formatting.html_text("{share} more than the previous day", share=share)
    return formatting.html_text("{share} fewer than the previous day", share=share)


def _traffic_statistics(traffic: TrafficCounts | None) -> Iterable[Statistic]:
    if traffic is None:
        return
    refused = text("None unauthorized")
    if traffic.refused:
        refused = formatting.html_text("{number:,} unauthorized", number=traffic.refused)
    yield Statistic(text("API requests"), formatting.amount(traffic.requests), refused)


_OUTCOMES = (
    Kind("ok", translatable("Delivered"), translatable("{number:,} delivered")),
    Kind("bad", translatable("Not delivered"), translatable("{number:,} not delivered")),
)


def _deliveries_chart(day: DeliveryDay) -> StackChart:
    return make_stack_chart(
        text("Deliveries by hour"),
        translatable("{label}: no deliveries"),
        _OUTCOMES,
        [Span(hour.began, (hour.delivered, hour.not_delivered)) for hour in day.hours],
        timedelta(hours=1),
        _deliveries_url,
    )


def _deliveries_url(hour: Span) -> str:
    began = formatting.local(hour.began)
    last = began + timedelta(hours=1)
    values = {"from": began.strftime(MOMENT), "to": last.strftime(MOMENT)}
    return url_for("console.deliveries.index", **values)  # type: ignore[arg-type]


def _changes(entries: Iterable[AuditEntry]) -> tuple[Change, ...]:
    """Return the entries in words; those of one person that repeat an act are folded."""
    groups = groupby(entries, lambda entry: (who_did(entry), entry.action))
    folded = []
    for _, group in groups:
        newest, *others = (Change(who_did(one), _sentence(one), one.at) for one in group)
        folded.append(replace(newest, others=tuple(others)))
    return tuple(folded)


def _sentence(entry: AuditEntry) -> Markup:
    values = {"actor": who_did(entry), "action": what_was_done(entry)}
    subject = done_to(entry)
    if not subject:
        return formatting.html_text("{actor} {action}", **values)
    shown = link(subject, "console.audit.show", key=entry.id)
    return formatting.html_text(Markup("{actor} {action} {subject}"), subject=shown, **values)


blueprint = PageGroup(
    "home",
    __name__,
    Entry("Home", "house", "overview dashboard start", Heading.TOP, needs=show_overview),
)


@blueprint.post("/setup/dismiss")
def dismiss() -> BaseResponse:
    """Hide the setup checklist for everyone."""
    dismiss_setup(ports(), actor())
    return redirect_with_success(
        text("Setup checklist dismissed for everyone."), "console.home.index"
    )


@blueprint.get("/")
def index() -> BaseResponse:
    return page("home/index.html", home=make_home_page(show_overview(ports(), actor())))
