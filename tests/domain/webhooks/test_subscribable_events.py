"""Of which events an app is told, by what it holds."""

from app.domain.events import EVENTS
from app.domain.webhooks import not_permitted, receives_nothing, required_permission
from tests.fixtures.cases import cases

ORDERS, PRODUCTS = "MANAGE_ORDERS", "MANAGE_PRODUCTS"


@cases(
    ("events", "permissions", "lacking", "deaf"),
    [
        ((), (), {}, False),
        (("ORDER_PAID",), (ORDERS,), {}, False),
        (("ORDER_PAID",), (PRODUCTS,), {ORDERS: ("ORDER_PAID",)}, True),
        (
            ("PRODUCT_UPDATED", "ORDER_PAID", "ORDER_CREATED"),
            (PRODUCTS,),
            {ORDERS: ("ORDER_CREATED", "ORDER_PAID")},
            False,
        ),
        (("ANY_EVENTS",), (ORDERS,), {}, False),
        (("ANY_EVENTS", "PRODUCT_UPDATED"), (ORDERS,), {}, False),
        (("EVENT_OF_LATER",), (), {}, False),
        (("EVENT_OF_LATER", "ORDER_PAID"), (), {ORDERS: ("ORDER_PAID",)}, False),
    ],
)
def test_missing_permissions_are_reported_by_event(
    events: tuple[str, ...],
    permissions: tuple[str, ...],
    lacking: dict[str, tuple[str, ...]],
    deaf: bool,
) -> None:
    assert not_permitted(events, permissions) == lacking
    assert receives_nothing(events, permissions) is deaf


def test_all_events_without_any_permission_are_reported() -> None:
    missing = not_permitted(["ANY_EVENTS"], ["MANAGE_DISCOUNTS"])
    assert {name for names in missing.values() for name in names} == set(EVENTS)
    assert receives_nothing(["ANY_EVENTS"], ["MANAGE_DISCOUNTS"])


def test_every_event_except_any_events_needs_a_permission() -> None:
    assert all(required_permission(name.value) == kind.permission for name, kind in EVENTS.items())
    assert required_permission("ANY_EVENTS") is required_permission("EVENT_OF_LATER") is None
