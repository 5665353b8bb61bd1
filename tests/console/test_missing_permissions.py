"""What an app doesn't receive, and who can grant it the permission."""

from app.console.integrations.missing_permissions import missing_permissions
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.fixtures.cases import cases

ORDERS, PRODUCTS = Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS
PERSON = Actor(ActorKind.USER, user_id=1, permissions=frozenset({PRODUCTS}))
PAID, UPDATED = EventType.ORDER_PAID, EventType.PRODUCT_UPDATED


@cases(("events", "held"), [((), ()), ((PAID,), (ORDERS,)), ((EventType.ANY_EVENTS,), (ORDERS,))])
def test_app_with_the_permissions_misses_nothing(
    events: tuple[EventType, ...], held: tuple[Permission, ...]
) -> None:
    assert missing_permissions(OPERATOR, "Labels", events, held) is None


@cases(
    ("events", "title", "detail", "grant"),
    [
        (
            (PAID,),
            "Labels doesn't receive “Order paid”.",
            "The app needs the permission Manage orders.",
            "Grant Manage orders",
        ),
        (
            (PAID, UPDATED),
            "Labels doesn't receive “Order paid” and “Product updated”.",
            "The app needs the permission Manage orders and Manage products.",
            "Grant Manage orders and Manage products",
        ),
        (
            (EventType.APP_UPDATED,),
            "Labels doesn't receive “App updated”.",
            "No app can receive events about apps.",
            "",
        ),
        (
            (EventType.ANY_EVENTS,),
            "Labels doesn't receive any events.",
            "The app has no permission that an event requires.",
            "",
        ),
    ],
)
def test_missing_permissions_are_named(
    events: tuple[EventType, ...], title: str, detail: str, grant: str
) -> None:
    missing = missing_permissions(OPERATOR, "Labels", events, ())
    assert missing is not None
    assert (missing.title, missing.detail, missing.grant) == (title, detail, grant)


def test_person_without_the_permission_cannot_grant_it() -> None:
    missing = missing_permissions(PERSON, "Labels", (PAID,), ())
    assert missing is not None
    assert missing.grant == ""
    assert "which you can't grant because you don't have it yourself" in missing.detail
    granted = missing_permissions(PERSON, "Labels", (UPDATED,), ())
    assert granted is not None
    assert granted.grant == "Grant Manage products"
