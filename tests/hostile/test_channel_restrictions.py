"""People whose groups are restricted to some channels gain no others by what acts for them."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from app.domain.accounts.search import UserFilter, UserSort
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.channels import NewChannel
from app.domain.events import EventType
from app.domain.single_sign_on.waiting_changes import changer_of
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest, Range
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, deactivate_app, update_app
from app.services.apps.app_tokens import create_app_token
from app.services.apps.installation_requests import InstallationRequest, install_app
from app.services.commerce.channels import create_channel, delete_channel, show_channel_use
from app.services.console.search import HitKind, search_everything
from app.services.deliveries.dry_runs import sample_payload
from app.services.deliveries.lists import DeliverySearch, search_deliveries
from app.services.lists.filters import Where
from app.services.lists.paging import _statements
from app.services.people.directory import _of_kinds_query, list_customers
from app.services.webhooks.changes import WebhookInput, create_webhook
from tests.builders.apps import make_app
from tests.builders.orders import make_order
from tests.builders.people import actor_of, make_group, make_user
from tests.builders.webhooks import make_delivery, make_webhook
from tests.services.error_codes import codes

APPS, ORDERS, PRODUCTS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_PRODUCTS,
)
BY_CHANNEL = (
    Permission.HANDLE_CHECKOUTS,
    Permission.MANAGE_CHANNELS,
    Permission.MANAGE_CHECKOUTS,
    ORDERS,
)
MANIFEST = "https://app.example.com/manifest"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: these rules stand above it."""
    return sqlite_url


@pytest.fixture
def other_channel(ports: Ports) -> int:
    return create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL")).id


@pytest.fixture
def limited(ports: Ports, other_channel: int) -> Actor:
    """Who holds every permission, in a channel without orders alone."""
    return member(ports, "limited@example.com", [other_channel])


@pytest.fixture
def free(ports: Ports) -> Actor:
    """Who holds the same everywhere."""
    return member(ports, "free@example.com", None)


def member(ports: Ports, email: str, channels: list[int] | None) -> Actor:
    group = make_group(ports, email, *ALL_PERMISSIONS, channels=channels)
    return actor_of(ports, make_user(ports, email, is_staff=True, groups=[group]))


def refusal(call: Callable[[], object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        call()
    return codes(refused)


@pytest.mark.parametrize("permission", BY_CHANNEL)
def test_app_gets_no_permission_that_its_creator_has_in_some_channels(
    ports: Ports, limited: Actor, free: Actor, permission: Permission
) -> None:
    new = NewApp("Reader", frozenset({permission}))
    assert refusal(lambda: create_app(ports, limited, new)) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]
    app = create_app(ports, limited, NewApp("Catalogue", frozenset({PRODUCTS}))).app
    change = AppChange(permissions=frozenset({PRODUCTS, permission}))
    assert refusal(lambda: update_app(ports, limited, app.id, change)) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]
    request = InstallationRequest("Reader", MANIFEST, frozenset({permission}))
    assert refusal(lambda: install_app(ports, limited, request)) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]
    assert update_app(ports, free, app.id, change).permissions == {PRODUCTS, permission}


def test_app_that_reads_all_channels_is_out_of_scope(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    app, _ = make_app(ports, "orders", ORDERS)
    assert refusal(lambda: create_app_token(ports, limited, app)) == [("app", "OUT_OF_SCOPE_APP")]
    assert create_app_token(ports, free, app).secret
    # Stopping an app gives its permissions to no one.
    assert not deactivate_app(ports, limited, app).is_active


def test_webhook_of_an_app_that_reads_all_channels_is_out_of_reach(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    app, _ = make_app(ports, "orders", ORDERS)
    input_ = WebhookInput(name="Mine", target_url="https://mine.example/")
    with pytest.raises(Exception, match="MANAGE_ORDERS"):
        create_webhook(ports, limited, input_, app)
    assert create_webhook(ports, free, input_, app).target_url == "https://mine.example/"


def test_payloads_of_all_channels_are_withheld(ports: Ports, limited: Actor, free: Actor) -> None:
    app, _ = make_app(ports, "orders", ORDERS)
    make_delivery(ports, make_webhook(ports, app, EventType.ORDER_CREATED), '{"number": "4711"}')
    for actor, lacking, found in ((limited, (ORDERS,), 0), (free, (), 1)):
        [line] = search_deliveries(ports, actor, PageRequest(10), DeliverySearch()).items
        assert line.lacking == lacking
        by_text = search_deliveries(ports, actor, PageRequest(10), DeliverySearch(text="4711"))
        assert len(by_text.items) == found


def test_webhook_that_was_saved_before_is_asked_about_at_a_grant(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    app, _ = make_app(ports, "harmless")
    input_ = WebhookInput(name="Trap", target_url="https://mine.example/")
    create_webhook(ports, limited, input_, app)
    change = AppChange(permissions=frozenset({ORDERS}))
    assert refusal(lambda: update_app(ports, free, app, change)) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]
    assert update_app(ports, free, app, change, confirmed=True).permissions == {ORDERS}


def test_changes_of_a_provider_are_confirmed_by_people_with_all_channels(
    limited: Actor, free: Actor
) -> None:
    changer = changer_of(limited)
    assert changer is not None
    assert changer.held == ALL_PERMISSIONS - {*BY_CHANNEL}
    assert changer_of(free) is None


def test_customers_are_found_by_the_orders_that_the_caller_sees_alone(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    key = make_user(ports, "a-buyer@example.com")
    make_user(ports, "b-other@example.com")
    make_order(ports, actor_of(ports, key))
    ever = Range(datetime(2000, 1, 1, tzinfo=UTC), None)
    cases = {
        UserFilter(order_count=Range(None, 0)): ("ab", "b"),
        UserFilter(order_counts=(1,)): ("", "a"),
        UserFilter(ordered_at=ever): ("", "a"),
    }
    by_count = UserFilter(sort=UserSort.ORDER_COUNT)
    for place, actor in enumerate((limited, free)):

        def found(filter_: UserFilter, where: UserFilter, actor: Actor = actor) -> str:
            page = list_customers(ports, actor, PageRequest(9), filter_, Where(where))
            return "".join(user.email[0] for user in page.items)

        for filter_, expected in cases.items():
            assert found(filter_, UserFilter()) == expected[place]
            assert found(UserFilter(), filter_) == expected[place]
        assert found(by_count, UserFilter()) == ("ab", "ba")[place]


def test_sample_payload_shows_no_order_of_another_channel(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    make_order(ports)
    assert sample_payload(ports, limited, EventType.ORDER_CREATED) is None
    assert sample_payload(ports, free, EventType.ORDER_CREATED)


def test_order_of_customers_by_orders_keeps_no_statement(ports: Ports, limited: Actor) -> None:
    """Its statement differs for each caller, so it must not be kept with the common query."""
    make_user(ports, "buyer@example.com")
    common = _of_kinds_query(False)  # noqa: FBT003
    by_count = UserFilter(sort=UserSort.ORDER_COUNT)
    list_customers(ports, limited, PageRequest(9), UserFilter())
    before = len(_statements[common])
    for _ in range(3):
        list_customers(ports, limited, PageRequest(9), by_count)
    assert len(_statements[common]) == before


def test_console_search_finds_no_order_of_another_channel(
    ports: Ports, limited: Actor, free: Actor
) -> None:
    order = make_order(ports)
    for text in (f"#{order.id}", to_global_id("Order", order.id)):
        for actor, found in ((limited, []), (free, [HitKind.ORDER])):
            hits = search_everything(ports, actor, text)
            assert [hit.kind for hit in hits if hit.kind is HitKind.ORDER] == found


def test_channel_out_of_reach_is_neither_counted_nor_deleted(
    ports: Ports, limited: Actor, free: Actor, other_channel: int
) -> None:
    make_order(ports)
    first, other = to_global_id("Channel", 1), to_global_id("Channel", other_channel)
    for call in (
        lambda: show_channel_use(ports, limited, first),
        lambda: delete_channel(ports, limited, first, other),
    ):
        with pytest.raises(PermissionDenied):
            call()
    assert refusal(lambda: delete_channel(ports, limited, other, first)) == [
        ("channelId", "NOT_FOUND")
    ]
    assert show_channel_use(ports, free, first).orders == 1
    assert show_channel_use(ports, limited, other).groups == 1
    assert delete_channel(ports, free, first, other).id == 1
