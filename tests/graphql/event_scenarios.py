"""Scenarios that call every use case with an event, one per group of events."""

from dataclasses import replace

from app.domain.accounts.addresses import AddressChange
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import ChannelChanges, NewChannel
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange
from app.ports import Ports
from app.services.accounts.account_details import delete_account, request_account_deletion
from app.services.accounts.addresses import create_address, delete_address, update_address
from app.services.accounts.email_changes import (
    confirm_account,
    confirm_email_change,
    request_email_change,
)
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.accounts.registration import NewAccount, register_account, send_confirmation
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    create_app,
    deactivate_app,
    delete_app,
    update_app,
)
from app.services.commerce.channels import (
    change_channel_metadata,
    create_channel,
    delete_channel,
    set_channel_active,
    update_channel,
)
from app.services.commerce.checkouts import update_checkout_email
from app.services.commerce.orders import (
    cancel_order,
    confirm_order,
    fulfill_order,
    mark_order_paid,
)
from app.services.commerce.products import (
    ProductInput,
    create_product,
    delete_product,
    update_product,
)
from app.services.metadata import change_address_metadata, change_user_metadata
from app.services.people.customers import (
    NewCustomer,
    create_customer,
    delete_customer,
    update_customer,
)
from app.services.people.groups import (
    GroupChanges,
    NewGroup,
    create_group,
    delete_group,
    update_group,
)
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_staff,
    update_staff,
)
from app.services.people.users import Details
from app.services.shop.settings import change_shop_metadata
from tests.builders.links import link_for
from tests.builders.orders import checkout_id, make_cart, make_order, order_id
from tests.builders.outbox import events
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_user
from tests.builders.products import product_id
from tests.builders.shop import configure_shop

SHOP = "http://localhost:3000/account"
ORDERS = frozenset({Permission.MANAGE_ORDERS})


def accounts(ports: Ports) -> None:
    """Register, change the email, request a password reset and delete an account."""
    register_account(ports, NOBODY, NewAccount("ann@example.com", PASSWORD, redirect_url=SHOP))
    requested = events(ports)[-1]
    confirm_account(ports, NOBODY, email="ann@example.com", token=requested.token)
    ann = actor_of(ports, requested.subject_id)
    request_email_change(
        ports, ann, new_email="new@example.com", password=PASSWORD, redirect_url=SHOP
    )
    confirm_email_change(ports, ann, token=events(ports)[-1].token)
    request_password_reset(ports, NOBODY, email="new@example.com", redirect_url=SHOP)
    answer_reset_requests(ports, WORKER)
    request_account_deletion(ports, ann, redirect_url=SHOP)
    leaving = make_user(ports, "leaving@example.com")
    link = link_for(ports, leaving, LinkPurpose.DELETE_ACCOUNT)
    delete_account(ports, actor_of(ports, leaving), token=link)


def confirmation(ports: Ports) -> None:
    """Sign in unconfirmed, have another link sent and open it."""
    configure_shop(ports, allow_login_without_confirmation=True)
    ann = actor_of(ports, make_user(ports, "ann@example.com", is_confirmed=False))
    send_confirmation(ports, ann, SHOP)
    confirm_account(ports, NOBODY, email="ann@example.com", token=events(ports)[-1].token)


def apps(ports: Ports) -> None:
    """Change and deactivate an app, delete another."""
    kept, deleted_object = (
        create_app(ports, OPERATOR, NewApp(name)).app.id for name in ("Kept", "Gone")
    )
    update_app(ports, OPERATOR, kept, AppChange(name="Renamed"))
    deactivate_app(ports, OPERATOR, kept)
    delete_app(ports, OPERATOR, deleted_object)


def people(ports: Ports) -> None:
    """Create, change and delete customers, staff and groups."""
    renamed = Details(first_name="Renamed")
    kept, deleted_object = (
        to_global_id("User", create_customer(ports, OPERATOR, NewCustomer(email)).id)
        for email in ("kept@example.com", "gone@example.com")
    )
    update_customer(ports, OPERATOR, kept, renamed)
    delete_customer(ports, OPERATOR, deleted_object)
    kept, deleted_object = (
        to_global_id("User", create_staff(ports, OPERATOR, NewStaff(email, redirect_url=SHOP)).id)
        for email in ("staff@example.com", "former@example.com")
    )
    update_staff(ports, OPERATOR, kept, StaffChanges(renamed))
    delete_staff(ports, OPERATOR, deleted_object)
    kept, deleted_object = (
        to_global_id("Group", create_group(ports, OPERATOR, NewGroup(name, ORDERS)).id)
        for name in ("Kept", "Gone")
    )
    update_group(ports, OPERATOR, kept, GroupChanges(name="Renamed"))
    delete_group(ports, OPERATOR, deleted_object)


def products(ports: Ports) -> None:
    """Change a product, delete another."""
    kept, deleted_object = (
        product_id(create_product(ports, OPERATOR, ProductInput(name=name)).id)
        for name in ("Kept", "Gone")
    )
    update_product(ports, OPERATOR, kept, ProductInput(name="Renamed"))
    delete_product(ports, OPERATOR, deleted_object)


def addresses(ports: Ports) -> None:
    """Add two addresses, change one and its metadata, delete the other."""
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    change = AddressChange(city="Wrocław", postal_code="53-601", country="PL")
    kept, deleted_object = (
        to_global_id(
            "Address", create_address(ports, ann, replace(change, street_address_1=one)).address.id
        )
        for one in ("Tęczowa 7", "Tęczowa 8")
    )
    update_address(ports, ann, kept, AddressChange(first_name="Ann", country="PL"))
    set_color = MetadataChange(values=(("color", "red"),))
    change_address_metadata(ports, ann, kept, set_color)
    delete_address(ports, ann, deleted_object)


def metadata(ports: Ports) -> None:
    """Change the metadata of a customer and of the shop."""
    change = MetadataChange(values=(("color", "red"),))
    change_shop_metadata(ports, OPERATOR, to_global_id("Shop", 1), change)
    customer = to_global_id("User", make_user(ports, "ann@example.com"))
    set_color = MetadataChange(values=(("color", "red"),))
    change_user_metadata(ports, OPERATOR, customer, set_color)


def channels(ports: Ports) -> None:
    """Create two channels, change and activate one and its metadata, delete the other."""
    id_, deleted_object = (
        to_global_id(
            "Channel", create_channel(ports, OPERATOR, NewChannel("New", slug, "EUR", "PL")).id
        )
        for slug in ("pl", "cz")
    )
    update_channel(ports, OPERATOR, id_, ChannelChanges(name="Polska"))
    set_channel_active(ports, OPERATOR, id_, active=True)
    change_channel_metadata(ports, OPERATOR, id_, MetadataChange(values=(("color", "red"),)))
    delete_channel(ports, OPERATOR, deleted_object)


def sales(ports: Ports) -> None:
    """Change a cart, order two, fulfill one order and cancel the other."""
    cart = make_cart(ports)
    update_checkout_email(ports, NOBODY, checkout_id(cart), "other@example.com")
    fulfilled, cancelled = (order_id(make_order(ports)) for _ in range(2))
    for step in (confirm_order, mark_order_paid, fulfill_order):
        step(ports, OPERATOR, fulfilled)
    cancel_order(ports, OPERATOR, cancelled)
