"""What the first page says, made of an overview without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.home_page import make_home_page
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.shop.traffic import TrafficKind
from app.services.console.home import Overview, PeopleCounts, ProviderStatus, TrafficCounts
from app.services.webhooks.failing_webhooks import FailingWebhook

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
)
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
    last_attempt_at=NOW,
    last_status=503,
)


def test_calm_shop_needs_no_attention() -> None:
    page = make_home_page(CALM)
    assert page.summary == "Nothing wants a look."
    assert (page.attention, page.statistics, page.chart, page.changes) == ((), (), None, None)


@pytest.mark.parametrize(
    ("people", "summary"),
    [
        (replace(PEOPLE, untrusted_peers=3), "One thing wants a look."),
        (replace(PEOPLE, untrusted_peers=3, blocked_ips=1), "2 things want a look."),
        (replace(PEOPLE, blocked_ips=None), "Nothing wants a look."),
        (replace(PEOPLE, staff_without_sign_on=2), "Nothing wants a look."),
    ],
)
def test_summary_counts_what_needs_attention(people: PeopleCounts, summary: str) -> None:
    assert make_home_page(replace(CALM, people=people)).summary == summary


def test_staff_without_sign_on_need_attention_where_sign_on_is_used() -> None:
    people = replace(PEOPLE, staff_without_sign_on=1)
    page = make_home_page(replace(CALM, people=people, providers=(PROVIDER,)))
    assert [item.title for item in page.attention] == [
        "1 member of the staff has no single sign-on identity."
    ]


def test_failing_webhook_comes_first_with_its_escaped_name() -> None:
    paused = replace(PROVIDER, is_paused=True)
    page = make_home_page(replace(CALM, webhooks=(WEBHOOK,), providers=(paused,)))
    webhook, provider = page.attention
    assert webhook.title == "&lt;Stock&gt; of Labels is failing."
    assert webhook.detail.startswith("Its endpoint answered 503 since <time ")
    assert webhook.arguments == {"key": 7}
    assert provider.title == "Harbour ID does not answer."


def test_disabled_webhook_tells_its_reason() -> None:
    webhook = replace(WEBHOOK, disabled_reason="It failed for five days.")
    (item,) = make_home_page(replace(CALM, webhooks=(webhook,))).attention
    assert item.title == "&lt;Stock&gt; of Labels was switched off."
    assert item.detail == "It failed for five days."


@pytest.mark.parametrize(
    ("is_open", "requests", "sentence"),
    [
        (True, 0, "Everybody reaches the API."),
        (False, 0, "Only staff and apps pass."),
        (True, 1, "1 request by customers and visitors in the last hour."),
        (True, 1240, "1,240 requests by customers and visitors in the last hour."),
        (False, 2, "2 requests by customers and visitors in the last hour, all refused."),
    ],
)
def test_storefront_card_counts_requests(is_open: bool, requests: int, sentence: str) -> None:
    switches = Switches(PasswordLoginMode.ENABLED, allow_storefront_traffic=is_open)
    traffic = TrafficCounts(dict.fromkeys(TrafficKind, 0), requests)
    page = make_home_page(replace(CALM, switches=switches, traffic=traffic))
    assert page.storefront.sentences == (sentence,)


@pytest.mark.parametrize(
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
    assert card.sentences[1] == "1 password session of staff is open."


@pytest.mark.parametrize(
    ("providers", "state", "sentence"),
    [
        ((), "off", "No identity provider is active, so everybody comes in by password."),
        ((replace(PROVIDER, is_active=False),), "off", "No identity provider is active"),
        ((PROVIDER,), "ok", "Harbour ID answered <time "),
        ((replace(PROVIDER, is_paused=True),), "bad", "Harbour ID answered"),
        ((replace(PROVIDER, answered_at=None),), "ok", "Harbour ID is active."),
    ],
)
def test_single_sign_on_card_shows_the_providers(
    providers: tuple[ProviderStatus, ...], state: str, sentence: str
) -> None:
    card = make_home_page(replace(CALM, providers=providers)).single_sign_on
    assert card.state == state
    assert card.sentences[0].startswith(sentence)
