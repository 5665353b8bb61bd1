"""Channels: made, changed, deleted, and what of carts and orders people see in them."""

from collections.abc import Callable
from functools import partial

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import Channel, ChannelChanges, NewChannel
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.commerce.channels import (
    create_channel,
    delete_channel,
    list_channels,
    set_channel_active,
    show_channel,
    update_channel,
)
from app.services.commerce.checkouts import (
    checkouts_of_users,
    create_checkout,
    list_checkouts,
    show_checkout,
    update_checkout_email,
)
from app.services.commerce.orders import (
    OrderFilter,
    cancel_order,
    confirm_order,
    fulfill_order,
    lines_of_orders,
    list_newest_orders_of,
    list_orders,
    mark_order_paid,
    orders_of_users,
    show_order,
)
from tests.builders.audit import trail
from tests.builders.orders import checkout_id, make_cart, make_order, order_id
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_group, make_staff, make_user
from tests.services.error_codes import codes

CHANNELS = Permission.MANAGE_CHANNELS
SALES = (Permission.MANAGE_ORDERS, Permission.MANAGE_CHECKOUTS)
POLAND = NewChannel("Poland", "pl", "EUR", "PL", is_active=True)
ALL = PageRequest(100)


def channel_id(channel: Channel) -> str:
    return to_global_id("Channel", channel.id)


def refusal(call: Callable[[], object]) -> list[tuple[str | None, str]]:
    """Return field and code of what ``call`` is refused for."""
    with pytest.raises(Refused) as refused:
        call()
    return codes(refused)


def first(ports: Ports) -> Channel:
    """The channel that the migration made."""
    channel = show_channel(ports, OPERATOR, slug="default-channel")
    assert channel is not None
    return channel


def restricted(ports: Ports, *channels: Channel) -> Actor:
    """Somebody who manages orders and carts in these channels alone."""
    keys = [channel.id for channel in channels]
    group = make_group(ports, f"Sales {keys}", *SALES, CHANNELS, channels=keys)
    return actor_of(ports, make_user(ports, "s@example.com", is_staff=True, groups=[group]))


def types(ports: Ports) -> list[str]:
    return [event.type for event in events(ports) if event.type.startswith("CHANNEL_")]


def test_shop_begins_with_one_channel(ports: Ports) -> None:
    assert [(one.slug, one.currency, one.is_active) for one in list_channels(ports, OPERATOR)] == [
        ("default-channel", "EUR", True)
    ]


def test_channel_is_created_changed_and_deleted(ports: Ports) -> None:
    manager = actor_of(ports, make_staff(ports, "m@example.com", CHANNELS))
    made = create_channel(ports, manager, POLAND)
    assert (made.name, made.slug, made.currency, made.country) == ("Poland", "pl", "EUR", "PL")
    changed = update_channel(ports, manager, channel_id(made), ChannelChanges(name=" Polska "))
    assert (changed.name, changed.slug) == ("Polska", "pl")
    update_channel(ports, manager, channel_id(made), ChannelChanges(name="Polska"))
    assert not set_channel_active(ports, manager, channel_id(made), active=False).is_active
    assert delete_channel(ports, manager, channel_id(made)).slug == "pl"
    assert [one.slug for one in list_channels(ports, manager)] == ["default-channel"]
    assert types(ports) == [
        "CHANNEL_CREATED",
        "CHANNEL_UPDATED",
        "CHANNEL_STATUS_CHANGED",
        "CHANNEL_DELETED",
    ]
    [renamed, deactivated] = trail(ports, "channel.update")
    assert (renamed.before, renamed.after) == ({"name": "Poland"}, {"name": "Polska"})
    assert deactivated.after == {"is_active": False}
    assert len(trail(ports, "channel.create")) == len(trail(ports, "channel.delete")) == 1


def test_channel_needs_a_free_slug(ports: Ports) -> None:
    made = create_channel(ports, OPERATOR, POLAND)
    taken = refusal(lambda: create_channel(ports, OPERATOR, POLAND))
    assert taken == [("slug", "UNIQUE")]
    renamed = ChannelChanges(slug="default-channel")
    assert refusal(lambda: update_channel(ports, OPERATOR, channel_id(made), renamed)) == [
        ("slug", "UNIQUE")
    ]


def test_state_that_a_channel_has_is_refused(ports: Ports) -> None:
    id_ = channel_id(first(ports))
    assert refusal(lambda: set_channel_active(ports, OPERATOR, id_, active=True)) == [
        ("id", "INVALID")
    ]


def test_last_channel_stays(ports: Ports) -> None:
    id_ = channel_id(first(ports))
    assert refusal(lambda: delete_channel(ports, OPERATOR, id_)) == [("id", "INVALID")]
    create_channel(ports, OPERATOR, POLAND)
    delete_channel(ports, OPERATOR, id_)


def test_orders_of_a_deleted_channel_move(ports: Ports) -> None:
    order, cart = make_order(ports), make_cart(ports)
    old, target = first(ports), create_channel(ports, OPERATOR, POLAND)
    other = create_channel(ports, OPERATOR, NewChannel("Zloty", "pln", "PLN", "PL"))
    ids = channel_id(old), channel_id(target)
    assert refusal(lambda: delete_channel(ports, OPERATOR, ids[0])) == [
        ("id", "CHANNEL_WITH_ORDERS")
    ]
    assert refusal(lambda: delete_channel(ports, OPERATOR, ids[0], ids[0])) == [
        ("channelId", "INVALID")
    ]
    assert refusal(lambda: delete_channel(ports, OPERATOR, ids[0], channel_id(other))) == [
        ("channelId", "CHANNELS_CURRENCY_MUST_BE_THE_SAME")
    ]
    gone = to_global_id("Channel", 10**6)
    assert refusal(lambda: delete_channel(ports, OPERATOR, ids[0], gone)) == [
        ("channelId", "NOT_FOUND")
    ]
    delete_channel(ports, OPERATOR, *ids)
    moved = show_order(ports, OPERATOR, order_id(order))
    assert moved is not None
    assert moved.channel_id == target.id
    found = show_checkout(ports, NOBODY, checkout_id(cart))
    assert found is not None
    assert found.channel_id == target.id


def test_carts_of_a_channel_without_orders_are_deleted_with_it(ports: Ports) -> None:
    made = create_channel(ports, OPERATOR, POLAND)
    cart, kept = (
        create_checkout(ports, NOBODY, channel=slug) for slug in ("pl", first(ports).slug)
    )
    delete_channel(ports, OPERATOR, channel_id(made))
    assert show_checkout(ports, NOBODY, checkout_id(cart)) is None
    assert show_checkout(ports, NOBODY, checkout_id(kept)) is not None


@pytest.mark.parametrize("slug", ["", "pl"])
def test_cart_is_made_in_an_active_channel_of_the_shops_currency(ports: Ports, slug: str) -> None:
    made = create_channel(ports, OPERATOR, POLAND)
    set_channel_active(ports, OPERATOR, channel_id(first(ports)), active=False)
    assert create_checkout(ports, NOBODY, channel=slug).channel_id == made.id


def test_cart_is_refused_in_other_channels(ports: Ports) -> None:
    create_channel(ports, OPERATOR, POLAND)
    create_channel(ports, OPERATOR, NewChannel("Off", "off", "EUR", "PL"))
    create_channel(ports, OPERATOR, NewChannel("Zloty", "pln", "PLN", "PL", is_active=True))
    refusals = {
        "": "MISSING_CHANNEL_SLUG",
        "none": "NOT_FOUND",
        "a\x00": "NOT_FOUND",
        "off": "CHANNEL_INACTIVE",
        "pln": "INVALID",
    }
    for slug, code in refusals.items():
        found = refusal(partial(create_checkout, ports, NOBODY, channel=slug))
        assert found == [("channel", code)], slug


def test_inactive_channel_is_shown_to_staff_and_apps(ports: Ports) -> None:
    made = create_channel(ports, OPERATOR, NewChannel("Off", "off", "EUR", "PL"))
    customer = actor_of(ports, make_user(ports))
    for caller in (NOBODY, customer):
        assert show_channel(ports, caller, slug="off") is None
        assert show_channel(ports, caller, channel_id=channel_id(made)) is None
    staff = actor_of(ports, make_staff(ports))
    assert show_channel(ports, staff, slug="off") == made
    names: list[dict[str, str]] = [{}, {"slug": "off", "channel_id": channel_id(made)}]
    for both in names:
        assert refusal(partial(show_channel, ports, staff, **both)) == [("id", "GRAPHQL_ERROR")]


def test_older_orders_are_of_the_first_channel(ports: Ports) -> None:
    order, cart = make_order(ports), make_cart(ports)
    with ports.database.transaction() as session:
        session.execute(update(models.Order).values(channel_id=None))
        session.execute(update(models.Checkout).values(channel_id=None))
    create_channel(ports, OPERATOR, POLAND)
    found = list_orders(ports, OPERATOR, ALL, OrderFilter(channel="default-channel"))
    assert [one.id for one in found.items] == [order.id]
    assert list_orders(ports, OPERATOR, ALL, OrderFilter(channel="pl")).items == ()
    manager = restricted(ports, first(ports))
    assert show_order(ports, manager, order_id(order)) is not None
    assert confirm_order(ports, manager, order_id(order)).channel_id == first(ports).id
    shown = show_checkout(ports, NOBODY, checkout_id(cart))
    assert shown is not None
    assert shown.channel_id == first(ports).id


def test_orders_of_other_channels_are_hidden_from_restricted_staff(ports: Ports) -> None:
    buyer = actor_of(ports, make_user(ports, "buyer@example.com"))
    seen, hidden = make_order(ports, buyer), make_order(ports, buyer)
    made = create_channel(ports, OPERATOR, POLAND)
    with ports.database.transaction() as session:
        session.get_one(models.Order, hidden.id).channel_id = made.id
    manager = restricted(ports, first(ports))
    assert [one.id for one in list_orders(ports, manager, ALL).items] == [seen.id]
    assert [one.id for one in list_orders(ports, OPERATOR, ALL).items] == [hidden.id, seen.id]
    assert buyer.user_id is not None
    page = orders_of_users(ports, manager, [buyer.user_id], ALL)[buyer.user_id]
    assert [one.id for one in page.items] == [seen.id]
    newest = list_newest_orders_of(ports, manager, buyer.user_id, ALL)
    assert [one.id for one in newest.items] == [seen.id]
    own = orders_of_users(ports, buyer, [buyer.user_id], ALL)[buyer.user_id]
    assert [one.id for one in own.items] == [hidden.id, seen.id]
    assert list(lines_of_orders(ports, manager, [seen.id, hidden.id])) == [seen.id]
    assert show_order(ports, manager, order_id(hidden)) is None
    for step in (confirm_order, mark_order_paid, cancel_order, fulfill_order):
        with pytest.raises(Refused) as foreign:
            step(ports, manager, order_id(hidden))
        with pytest.raises(Refused) as missing:
            step(ports, manager, to_global_id("Order", hidden.id + 1000))
        assert foreign.value.problems == missing.value.problems
    assert confirm_order(ports, manager, order_id(seen)).id == seen.id
    with pytest.raises(PermissionDenied, match="channel"):
        list_orders(ports, manager, ALL, OrderFilter(channel="pl"))


def test_carts_of_other_channels_are_hidden_from_restricted_staff(ports: Ports) -> None:
    buyer = actor_of(ports, make_user(ports, "buyer@example.com"))
    create_channel(ports, OPERATOR, POLAND)
    seen, hidden = (
        create_checkout(ports, buyer, channel=slug) for slug in ("default-channel", "pl")
    )
    manager = restricted(ports, first(ports))
    assert buyer.user_id is not None
    page = checkouts_of_users(ports, manager, [buyer.user_id], ALL)[buyer.user_id]
    assert [one.id for one in page.items] == [seen.id]
    assert [one.id for one in list_checkouts(ports, manager, ALL).items] == [seen.id]
    assert len(list_checkouts(ports, OPERATOR, ALL).items) == 2
    polish = list_checkouts(ports, OPERATOR, ALL, "pl").items
    assert [one.id for one in polish] == [hidden.id]
    assert show_checkout(ports, manager, checkout_id(seen)) is not None
    assert show_checkout(ports, manager, checkout_id(hidden)) is None
    with pytest.raises(Refused):
        update_checkout_email(ports, manager, checkout_id(hidden), "x@example.com")
    update_checkout_email(ports, manager, checkout_id(seen), "x@example.com")
    assert show_checkout(ports, buyer, checkout_id(hidden)) is not None


def test_restricted_staff_change_their_channels_alone(ports: Ports) -> None:
    made = create_channel(ports, OPERATOR, POLAND)
    manager = restricted(ports, first(ports))
    changes = ChannelChanges(name="Renamed")
    with pytest.raises(PermissionDenied, match="channel"):
        update_channel(ports, manager, channel_id(made), changes)
    assert update_channel(ports, manager, channel_id(first(ports)), changes).name == "Renamed"


def test_withdrawn_channel_ends_what_has_begun(ports: Ports) -> None:
    order = make_order(ports)
    manager = actor_of(ports, make_staff(ports, "m@example.com", *SALES))
    group = make_group(ports, "Nowhere", *SALES, channels=())
    with ports.database.transaction() as session:
        session.add(models.GroupMember(user_id=manager.user_id, group_id=group))
    with pytest.raises(PermissionDenied, match="channel"):
        confirm_order(ports, manager, order_id(order))
