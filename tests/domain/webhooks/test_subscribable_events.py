"""Of which events an app is told, by what it holds."""

import pytest

from app.domain.events import EVENTS
from app.domain.webhooks.subscribable_events import is_deaf, needed, unheard

ORDERS, PRODUCTS = "MANAGE_ORDERS", "MANAGE_PRODUCTS"


@pytest.mark.parametrize(
    ("events", "held", "lacking", "deaf"),
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
def test_what_an_app_lacks_is_told_with_the_events_that_need_it(
    events: tuple[str, ...],
    held: tuple[str, ...],
    lacking: dict[str, tuple[str, ...]],
    deaf: bool,
) -> None:
    assert unheard(events, held) == lacking
    assert is_deaf(events, held) is deaf


def test_whoever_asks_for_all_and_may_hear_of_none_is_told_of_all() -> None:
    told = unheard(["ANY_EVENTS"], ["MANAGE_DISCOUNTS"])
    assert {name for names in told.values() for name in names} == set(EVENTS)
    assert is_deaf(["ANY_EVENTS"], ["MANAGE_DISCOUNTS"])


def test_every_event_but_all_of_them_needs_a_permission() -> None:
    assert all(needed(name.value) == kind.permission for name, kind in EVENTS.items())
    assert needed("ANY_EVENTS") is needed("EVENT_OF_LATER") is None
