"""What the first page says, made of an overview without HTTP."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.console.frame.page_layout import banner_text
from app.console.overview.home import make_home_page
from app.domain.shop.settings import PasswordLoginMode, Switches, TrafficHour, TrafficKind
from app.services.console.home import Overview, PeopleCounts, ProviderStatus, Setup, TrafficCounts
from app.services.shop.settings import Closing
from app.services.webhooks.failing_webhooks import FailingWebhook
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CALM = Overview(
    at=NOW,
    switches=Switches(PasswordLoginMode.ENABLED, allow_storefront_traffic=True),
    providers=(),
    people=None,
    traffic=None,
    deliveries=None,
    webhooks=None,
    last_changes=None,
    setup=None,
    closing=None,
)
MINUTES = timedelta(minutes=12)
CLOSING = Closing("", None, None)
PEOPLE = PeopleCounts(staff_without_sign_on=0, staff_sessions=0, blocked_ips=0, untrusted_peers=0)
PROVIDER = ProviderStatus(
    "default",
    "Harbour ID",
    is_active=True,
    answered_at=NOW - timedelta(minutes=5),
    is_paused=False,
)
WEBHOOK = FailingWebhook(
    id=7,
    name="<Stock>",
    app_id=1,
    app_name="Labels",
    target_url="https://labels.example.com/",
    failing_since=NOW - timedelta(hours=2),
    disabled_reason="",
    last_status=503,
)


def test_calm_shop_needs_no_attention() -> None:
    page = make_home_page(CALM)
    assert page.summary == "All clear."
    assert (page.attention, page.delivery_statistics, page.request_statistics) == ((), (), ())
    assert (page.deliveries, page.requests, page.changes) == (None, None, None)


@cases(
    ("people", "summary"),
    [
        (replace(PEOPLE, untrusted_peers=3), "1 item needs attention."),
        (replace(PEOPLE, untrusted_peers=3, blocked_ips=1), "2 items need attention."),
        (replace(PEOPLE, blocked_ips=None), "All clear."),
        (replace(PEOPLE, staff_without_sign_on=2), "All clear."),
    ],
)
def test_summary_counts_what_needs_attention(people: PeopleCounts, summary: str) -> None:
    assert make_home_page(replace(CALM, people=people)).summary == summary


def test_staff_without_sign_on_need_attention_where_sign_on_is_used() -> None:
    people = replace(PEOPLE, staff_without_sign_on=1)
    page = make_home_page(replace(CALM, people=people, providers=(PROVIDER,)))
    assert [item.title for item in page.attention] == ["1 staff member has no SSO identity."]


def test_failing_webhook_comes_first_with_its_escaped_name() -> None:
    paused = replace(PROVIDER, is_paused=True)
    page = make_home_page(replace(CALM, webhooks=(WEBHOOK,), providers=(paused,)))
    webhook, provider = page.attention
    assert webhook.title == "Webhook “&lt;Stock&gt;” (Labels) is failing."
    assert webhook.detail.startswith("Last response: 503. Failing since <time ")
    assert webhook.arguments == {"key": 7}
    assert provider.title == "Harbour ID doesn&#39;t respond."


def test_disabled_webhook_tells_its_reason() -> None:
    webhook = replace(WEBHOOK, disabled_reason="It failed for five days.")
    (item,) = make_home_page(replace(CALM, webhooks=(webhook,))).attention
    assert item.title == "Webhook “&lt;Stock&gt;” (Labels) is disabled."
    assert item.detail == "It failed for five days."


@cases(
    ("is_open", "requests", "sentences"),
    [
        (True, 0, ("Anyone can reach the API.",)),
        (
            False,
            0,
            ("Only staff and apps can reach the API.", "No requests have been rejected yet."),
        ),
        (
            True,
            1,
            (
                "Anyone can reach the API.",
                "Customers and visitors sent 1 request in the last hour.",
            ),
        ),
        (
            False,
            1240,
            (
                "Only staff and apps can reach the API.",
                "<b>1,240 requests</b> from customers and visitors rejected since it closed.",
            ),
        ),
    ],
)
def test_storefront_card_counts_requests(
    is_open: bool, requests: int, sentences: tuple[str, ...]
) -> None:
    switches = Switches(PasswordLoginMode.ENABLED, allow_storefront_traffic=is_open)
    traffic = TrafficCounts((), requests, requests)
    closing = None if is_open else CLOSING
    page = make_home_page(replace(CALM, switches=switches, traffic=traffic, closing=closing))
    assert page.storefront.sentences == sentences


@cases(
    ("switches", "titles"),
    [
        (Switches(), []),
        (Switches(PasswordLoginMode.CUSTOMERS_ONLY), []),
        (Switches(PasswordLoginMode.DISABLED), ["Password login is off."]),
        (Switches(allow_storefront_traffic=False), ["The storefront is closed."]),
        (
            Switches(PasswordLoginMode.DISABLED, allow_storefront_traffic=False),
            ["The storefront is closed.", "Password login is off."],
        ),
    ],
)
def test_closed_storefront_and_disabled_passwords_need_attention(
    switches: Switches, titles: list[str]
) -> None:
    closing = None if switches.allow_storefront_traffic else CLOSING
    page = make_home_page(replace(CALM, switches=switches, closing=closing))
    assert [item.title for item in page.attention] == titles
    assert not any(item.endpoint for item in page.attention)
    traffic = TrafficCounts((), 0, 0)
    page = make_home_page(replace(CALM, switches=switches, closing=closing, traffic=traffic))
    assert [item.title for item in page.attention] == titles
    assert all(item.endpoint == "console.access.index" for item in page.attention)


@cases(
    ("mode", "detail"),
    [
        (PasswordLoginMode.ENABLED, "They sign in with a password or passkey."),
        (PasswordLoginMode.CUSTOMERS_ONLY, "They have no staff access while"),
        (PasswordLoginMode.DISABLED, "They can't sign in while"),
    ],
)
def test_staff_without_sign_on_are_described_as_the_mode_treats_them(
    mode: PasswordLoginMode, detail: str
) -> None:
    people = replace(PEOPLE, staff_without_sign_on=2)
    overview = replace(CALM, people=people, providers=(PROVIDER,), switches=Switches(mode))
    item = make_home_page(overview).attention[-1]
    assert item.detail.startswith(detail)
    assert "disabled providers don't count" in item.detail


@cases(
    ("switches", "text"),
    [
        (Switches(), ""),
        (Switches(PasswordLoginMode.CUSTOMERS_ONLY), "Password login is limited to customers."),
        (Switches(PasswordLoginMode.DISABLED), "Password login is off."),
        (
            Switches(PasswordLoginMode.DISABLED, allow_storefront_traffic=False),
            (
                "The storefront is closed. Customers and visitors get a 401 error. Password login "
                "is off."
            ),
        ),
    ],
)
def test_banner_names_each_switch_that_is_off_its_default(switches: Switches, text: str) -> None:
    assert banner_text(switches, None, NOW).striptags() == text


@cases(
    ("closing", "about"),
    [
        (Closing("", None, None), ""),
        (Closing("<Stocktake>", None, None), "Note: “&lt;Stocktake&gt;”."),
        (Closing("", NOW - MINUTES, None), "Closed 12 min ago."),
        (Closing("", None, NOW + timedelta(hours=2)), "Opens today at 14:00 UTC."),
        (
            Closing("Stocktake", NOW - MINUTES, NOW + timedelta(days=1)),
            "Closed 12 min ago. Note: “Stocktake”. Opens tomorrow at 12:00 UTC.",
        ),
    ],
)
def test_closed_storefront_says_why_and_until_when(closing: Closing, about: str) -> None:
    switches = Switches(allow_storefront_traffic=False)
    (item,) = make_home_page(replace(CALM, switches=switches, closing=closing)).attention
    words = re.sub("<[^>]+>", "", item.detail)
    assert words == (about or "Only staff and apps can reach the API.")
    banner = re.sub("<[^>]+>", "", banner_text(switches, closing, NOW))
    assert banner.startswith("The storefront is closed. Customers and visitors get a 401 error.")
    assert banner.endswith(about.removeprefix("Closed 12 min ago.").strip())


@cases(
    ("mode", "state"),
    [
        (PasswordLoginMode.ENABLED, "ok"),
        (PasswordLoginMode.CUSTOMERS_ONLY, "warn"),
        (PasswordLoginMode.DISABLED, "bad"),
    ],
)
def test_password_login_card_shows_the_mode(mode: PasswordLoginMode, state: str) -> None:
    switches = Switches(mode, allow_storefront_traffic=True)
    people = replace(PEOPLE, staff_sessions=1)
    card = make_home_page(replace(CALM, switches=switches, people=people)).password_login
    assert card.state == state
    assert card.sentences[1] == "1 staff session started with a password or passkey."


@cases(
    ("providers", "state", "sentence"),
    [
        (
            (),
            "off",
            "No identity provider is active. Everyone signs in with a password or passkey.",
        ),
        ((replace(PROVIDER, is_active=False),), "off", "No identity provider is active"),
        ((PROVIDER,), "ok", "Harbour ID responded <time "),
        ((replace(PROVIDER, is_paused=True),), "bad", "Harbour ID responded"),
        ((replace(PROVIDER, answered_at=None),), "ok", "Harbour ID is active."),
    ],
)
def test_single_sign_on_card_shows_the_providers(
    providers: tuple[ProviderStatus, ...], state: str, sentence: str
) -> None:
    card = make_home_page(replace(CALM, providers=providers)).single_sign_on
    assert card.state == state
    assert card.sentences[0].startswith(sentence)


NEW = Setup(sends_mail=False, has_staff=False, has_sign_on=False, has_app=False, has_webhook=False)


def test_checklist_says_which_steps_are_done() -> None:
    setup = replace(NEW, has_staff=True, sends_mail=True)
    checklist = make_home_page(replace(CALM, setup=setup)).checklist
    assert checklist is not None
    assert (checklist.number_done, checklist.summary) == (2, "2 of 5 steps done")
    assert [step.is_done for step in checklist.steps] == [True, True, False, False, False]
    assert checklist.steps[0].detail == "Mail is sent by your mail server."
    (mail, *_) = make_home_page(replace(CALM, setup=NEW)).checklist.steps  # type: ignore[union-attr]
    assert mail.detail.startswith("Mail is written to a file and not sent")
    # No page of the console sets it up.
    assert (mail.endpoint, mail.command.partition("=")[0]) == ("", "MAIL_URL")


def test_open_setup_steps_are_in_the_summary_unless_something_needs_attention() -> None:
    assert make_home_page(replace(CALM, setup=NEW)).summary == "5 setup steps are open."
    almost = replace(NEW, has_staff=True, has_app=True, has_sign_on=True, has_webhook=True)
    assert make_home_page(replace(CALM, setup=almost)).summary == "1 setup step is open."
    people = replace(PEOPLE, untrusted_peers=3)
    page = make_home_page(replace(CALM, setup=NEW, people=people))
    assert page.summary == "1 item needs attention."


@cases("setup", [None, Setup(*[True] * 5)])
def test_finished_or_dismissed_checklist_is_gone(setup: Setup | None) -> None:
    assert make_home_page(replace(CALM, setup=setup)).checklist is None


@cases(
    ("requests", "summary"),
    [
        ({}, "API requests by hour: 0 from customers."),
        (
            {TrafficKind.APP: 1, TrafficKind.CUSTOMER: 1},
            "API requests by hour: 1 from customers, 1 from apps.",
        ),
        (
            dict.fromkeys(TrafficKind, 1200),
            (
                "API requests by hour: 1,200 from customers, 1,200 anonymous, 1,200 from apps, "
                "1,200 from staff, 1,200 unauthorized."
            ),
        ),
    ],
)
def test_requests_are_charted_by_kind(requests: dict[TrafficKind, int], summary: str) -> None:
    by_kind = dict.fromkeys(TrafficKind, 0) | requests
    hour = TrafficHour(NOW - timedelta(hours=1), by_kind)
    page = make_home_page(replace(CALM, traffic=TrafficCounts((hour,), 0, 0)))
    assert page.requests is not None
    assert page.requests.summary == summary
    assert bool(page.requests.stacks) is bool(requests)
    (row,) = page.requests.table
    assert row.label == "Sun 11:00"
    assert [label for label, _ in row.figures] == [
        "Customers",
        "Anonymous",
        "Apps",
        "Staff",
        "Unauthorized",
    ]
