"""Channels in the console, those of a group, and the company's address."""

from app.domain.accounts.addresses import NO_DETAILS
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.values.ids import key_of, to_global_id
from app.ports import Ports
from app.services.commerce.channels import all_channels, create_channel
from app.services.commerce.orders import show_order
from app.services.people.groups import NewGroup, create_group, show_group
from app.services.shop.settings import show_company_address
from tests.builders.orders import make_cart, make_order, order_id
from tests.builders.people import make_group
from tests.console.conftest import StaffConsole

LIST = "/console/channels/"
GROUPS = "/console/staff/groups/"


def make_channel(ports: Ports, slug: str, currency: str = "EUR") -> int:
    new = NewChannel(slug.title(), slug, currency, "PL", is_active=True)
    return create_channel(ports, OPERATOR, new).id


def test_channel_is_created_edited_and_deactivated(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_CHANNELS)
    given = {"name": "Poland", "slug": "poland", "country": "PL", "currency": "eur"}
    made = console.follow(console.send(f"{LIST}new", {**given, "is_active": "y"}))
    assert "Created the channel Poland." in made.text
    channel = next(one for one in all_channels(shop) if one.slug == "poland")
    assert (channel.currency, channel.is_active) == ("EUR", True)
    here = f"{LIST}{channel.id}"
    again = console.send(f"{LIST}new", given)
    assert again.status == 422
    assert "Slug: Channel with this slug already exists." in again.text
    changed = {"name": "Poland, retail", "slug": "pl", "country": "PL"}
    saved = console.follow(console.send(f"{here}/save", changed, seen_at=here))
    assert "Saved the channel Poland, retail." in saved.text
    refused = console.send(f"{here}/save", {**changed, "slug": "p l"}, seen_at=here)
    assert refused.status == 422
    assert "Use letters, digits, hyphens and underscores" in refused.text
    asked = console.open(f"{here}?ask=deactivate").text
    assert "No cart can be created in it." in asked
    off = console.follow(console.send(f"{here}/deactivate", seen_at=here))
    assert "Deactivated the channel Poland, retail." in off.text
    assert "Poland, retail" in console.open(f"{LIST}?on=no").text
    assert "Poland, retail" not in console.open(f"{LIST}?on=yes").text
    twice = console.follow(console.send(f"{here}/deactivate", seen_at=here))
    assert "already deactivated" in twice.text
    on = console.follow(console.send(f"{here}/activate", seen_at=here))
    assert "Activated the channel Poland, retail." in on.text
    assert "Poland, retail" in console.open(f"{LIST}?q=pl").text


def test_channel_is_deleted_and_what_is_in_it_moves(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_CHANNELS)
    order = make_order(shop)
    make_cart(shop)
    first = all_channels(shop)[0]
    here = f"{LIST}{first.id}"
    assert "A shop has at least one channel" in console.open(f"{here}?ask=delete").text
    make_channel(shop, "nordics", currency="SEK")
    assert "and there is none" in console.open(f"{here}?ask=delete").text
    poland = make_channel(shop, "poland")
    channels = (to_global_id("Channel", first.id),)
    create_group(shop, OPERATOR, NewGroup("Support", is_restricted=True, channels=channels))
    asked = console.open(f"{here}?ask=delete").text
    for sentence in ("1 order moves", "1 cart moves with them", "1 group that is limited"):
        assert sentence in asked
    assert "Nordics" not in asked
    refused = console.follow(console.send(f"{here}/delete", seen_at=here))
    assert "This channel has orders" in refused.text
    target = {"target": to_global_id("Channel", poland)}
    gone = console.follow(console.send(f"{here}/delete", target, seen_at=here))
    assert f"Deleted the channel {first.name}." in gone.text
    moved = show_order(shop, OPERATOR, order_id(order))
    assert moved is not None
    assert moved.channel_id == poland
    assert console.open(here).status == 404


def test_carts_of_a_channel_are_deleted_or_moved(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_CHANNELS)
    make_cart(shop)
    first = all_channels(shop)[0]
    make_channel(shop, "poland")
    here = f"{LIST}{first.id}"
    asked = console.open(f"{here}?ask=delete").text
    assert "1 cart moves to the channel that you choose, or is deleted." in asked
    assert "No channel: delete the carts" in asked
    console.follow(console.send(f"{here}/delete", {"target": ""}, seen_at=here))
    assert [one.slug for one in all_channels(shop)] == ["poland"]


def test_channels_need_their_permission(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_SETTINGS)
    for address in (LIST, f"{LIST}new", f"{LIST}1"):
        assert console.open(address).status == 403
    assert console.send(f"{LIST}1/deactivate").status == 403
    assert console.send(f"{LIST}1/delete").status == 403
    assert len(all_channels(shop)) == 1
    assert console.open(f"{LIST}999").status == 403


def test_other_currency_says_that_nothing_can_be_sold(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_channel(shop, "sweden", currency="SEK")
    shown = staff_console(Permission.MANAGE_CHANNELS).open(f"{LIST}{key}").text
    assert "no cart can be created in this channel" in shown


def test_group_is_limited_to_channels(staff_console: StaffConsole, shop: Ports) -> None:
    group = make_group(shop, "Support", Permission.MANAGE_ORDERS)
    here = f"{GROUPS}{group}"
    console = staff_console(Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS)
    assert "Limit to channels" not in console.open(here).text
    poland = to_global_id("Channel", make_channel(shop, "poland"))
    assert "Limit to channels" in console.open(here).text

    def saved(**more: object) -> frozenset[int] | None:
        given = {"name": "Support", "permissions": "MANAGE_ORDERS", **more}
        answer = console.send(f"{here}/save", given, seen_at=here)
        assert "Saved the group Support." in console.follow(answer).text
        found = show_group(shop, OPERATOR, to_global_id("Group", group))
        assert found is not None
        return found.channel_ids

    assert saved() is None
    assert saved(channels=poland) is None
    limited = saved(restricted="y", channels=poland)
    assert limited == frozenset({key_of(poland, "Channel")})
    assert saved(restricted="y") == frozenset()
    assert saved() is None


def test_company_address_is_saved_checked_and_deleted(
    staff_console: StaffConsole, shop: Ports
) -> None:
    here = "/console/settings/company-address/"
    console = staff_console(Permission.MANAGE_SETTINGS)
    assert here in console.open("/console/settings/shop").html
    given = {
        "company_name": "Northlight AB",
        "street_address_1": "Gatan 1",
        "postal_code": "21112",
        "city": "Malmö",
        "country": "SE",
    }
    wrong = console.send(here, {**given, "postal_code": "1"}, seen_at=here)
    assert wrong.status == 422
    assert "Postal code: " in wrong.text
    saved = console.follow(console.send(here, given, seen_at=here))
    assert "Saved the company address." in saved.text
    assert show_company_address(shop, OPERATOR).city == "MALMÖ"
    seen = console.open(here)
    assert "Northlight AB" in seen.html
    nothing = dict.fromkeys(given, "")
    gone = console.follow(console.send(here, nothing, seen_at=here))
    assert "Deleted the company address." in gone.text
    assert show_company_address(shop, OPERATOR) == NO_DETAILS
    denied = staff_console(Permission.MANAGE_STAFF, email="other@example.com")
    assert denied.open(here).status == 403
