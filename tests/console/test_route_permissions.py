"""Every route of the console and the permissions that open it; a new route needs a row here."""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, update

from app import models
from app.domain.apps.apps import JobStatus
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff
from tests.console.populated_shop import open_console
from tests.console.route_requests import Route, all_routes, records, routes_about_others
from tests.console.staff_client import ConsoleClient, loaded_of
from tests.fixtures.databases import StoredRows
from tests.fixtures.one_of_each import InTurn

APPS, STAFF, USERS, ORDERS, SETTINGS, PLUGINS, CHANNELS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_SETTINGS,
    Permission.MANAGE_PLUGINS,
    Permission.MANAGE_CHANNELS,
)
EACH = (APPS, STAFF, USERS, ORDERS, SETTINGS, PLUGINS, CHANNELS, Permission.MANAGE_PRODUCTS)

LISTS = {
    (APPS,): """
        app_clients.link app_clients.unlink
        app_installation.agree app_installation.dismiss app_installation.retry app_tokens.revoke
        app_tokens.rotate apps.activate apps.deactivate apps.dismiss_problem apps.remove
        apps.save_details apps.save_permissions deliveries.export deliveries.index
        deliveries.redeliver_chosen deliveries.redeliver_matching deliveries.replay
        deliveries.show metadata.delete_of_app metadata.save_of_app
        oauth_clients.delete oauth_clients.disable oauth_clients.enable oauth_clients.export
        oauth_clients.index oauth_clients.new oauth_clients.remove_logo oauth_clients.rotate
        oauth_clients.save_details oauth_clients.save_logo oauth_clients.save_sign_in
        oauth_clients.show
        webhooks.export webhook_editing.edit webhook_editing.new webhook_editing.preview
        webhooks.delete events.send
        webhooks.disable webhooks.enable webhooks.grant webhooks.index webhooks.pause
        webhooks.resume webhooks.send_waiting webhooks.show""",
    (STAFF,): """
        account_actions.activate account_actions.deactivate account_actions.end_session
        account_actions.disconnect
        account_actions.remove account_actions.reset_factors account_actions.send_link
        account_actions.show
        account_actions.sign_out account_actions.unblock
        metadata.delete_of_person metadata.save_of_person
        audit.export audit.index audit.revert audit.show staff.export staff.groups.add_member
        staff.groups.delete staff.groups.export staff.groups.index staff.groups.new
        staff.groups.remove_member
        staff.groups.save staff.groups.show staff.index staff.invitations.index
        staff.invitations.make_link staff.invitations.resend
        staff.permission_matrix.index staff.save_details staff.save_groups
        staff.save_permissions staff.show
        throttle.export throttle.index throttle.unblock""",
    (CHANNELS,): """
        channels.activate channels.deactivate channels.delete channels.export channels.index
        channels.new
        channels.save channels.show""",
    (SETTINGS,): """
        company_address.index company_address.save
        access.index access.set_mode access.set_storefront home.dismiss keys.export keys.index
        keys.rotate keys.withdraw emails.framed emails.look emails.preview emails.remove_logo
        emails.save_logo emails.save_look emails.save_sending emails.send_test emails.sending
        mail_templates.check mail_templates.edit mail_templates.framed
        mail_templates.index mail_templates.preview mail_templates.reset mail_templates.save
        mail_templates.send_test
        shop_settings.index shop_settings.save shop_settings.second_factor
        shop_settings.set_second_factor shop_settings.show""",
    (PLUGINS,): """
        provider_editing.discover provider_editing.edit provider_editing.new
        provider_checks.preview provider_checks.test single_sign_on.export
        single_sign_on.confirm single_sign_on.index single_sign_on.show
        single_sign_on.switch""",
    (STAFF, USERS): """
        mails.export mails.index mails.resend mails.show sign_ins.export sign_ins.index""",
    (USERS, ORDERS): "customers.export customers.index customers.show",
    (USERS,): "customers.save_details",
    (): "account_actions.erase account_actions.export deliveries.redeliver",
    EACH: """
        dry_run.index dry_run.run events.index home.index inspector.index webhook_editing.check
        app_installation.index app_tokens.make apps.connect apps.export apps.index apps.show
        saved_filters.delete saved_filters.rename saved_filters.save emails.index moved
        unknown_page webhooks.test""",
}
"""What opens which routes; people are staff here.

Those that no single permission opens need all. The last row is for all staff: they look on, or
what they may do depends on what it is about, as a test of a webhook does on the permission of its
event.
"""
OPENED_BY = {
    f"console.{name}": holders for holders, names in LISTS.items() for name in names.split()
}
FORMS_OF_THE_FEW = {
    "console.app_installation.index": {"url": "https://nowhere.invalid/manifest"},
    "console.app_tokens.make": {"name": "Another", "life": ""},
    "console.apps.connect": {"name": "Another"},
}
"""Forms that all staff see, and that only MANAGE_APPS may send."""
LOGO = {"image": ("docs/pictures/home-dark.png", "logo.png")}
TEMPLATE = {"subject": "Link", "html": "<a href='{{ link }}'>{{ link }}</a>", "text": "{{ link }}"}
FILLED: dict[str, dict[str, Any]] = {
    "console.access.set_mode": {"mode": "CUSTOMERS_ONLY"},
    "console.access.set_storefront": {"open": "false"},
    "console.apps.save_details": {"name": "Renamed"},
    "console.customers.save_details": {"first_name": "Re", "email": "named@example.com"},
    "console.deliveries.redeliver_chosen": {"id": "1"},
    "console.single_sign_on.switch": {"to": "off"},
    "console.app_clients.link": {
        "provider": "default",
        "client_id": "till",
        "subject": "till@clients",
    },
    "console.channels.new": {"name": "Oslo", "slug": "oslo", "currency": "NOK", "country": "NO"},
    "console.deliveries.replay": {"webhook": "1", "within": "24"},
    "console.emails.preview": {"accent_color": "#123456"},
    "console.emails.save_logo": LOGO,
    "console.mail_templates.preview": TEMPLATE,
    "console.oauth_clients.save_logo": LOGO,
    "console.saved_filters.rename": {"name": "Lately"},
    "console.saved_filters.save": {"name": "Lately"},
    "console.shop_settings.set_second_factor": {"factor": "OPTIONAL", "grace": "14"},
    "console.oauth_clients.new": {
        "name": "Till",
        "kind": "web",
        "redirect_uris": "https://till.example.com/back",
    },
    "console.oauth_clients.save_sign_in": {
        "redirect_uris": "https://till.example.com/back",
        "scopes": "openid",
    },
    "console.oauth_clients.save_details": {"name": "Renamed"},
    "console.provider_editing.new": {"provider": "other", "name": "Other"},
    "console.staff.groups.add_member": {"email": "staff@example.com"},
    "console.staff.groups.new": {"name": "Tills"},
    "console.staff.groups.save": {"name": "Tills"},
    "console.staff.invitations.index": {"email": "new@example.com"},
    "console.webhook_editing.new": {
        "app": "1",
        "name": "Notes",
        "target_url": "https://other.example.com/hook",
        "events": "APP_UPDATED",
        "warned": "y",
    },
    **FORMS_OF_THE_FEW,
}
"""Whatever an empty form would be refused for before anybody asks who sent it."""
ADDRESSES = {"console.emails.save_sending": "/console/emails/sending/links"}
"""Another group of settings is saved there than on other pages."""

REFUSED = {
    "POST console.access.set_mode": "Nobody who can manage settings signs in by a provider.",
    "POST console.app_installation.agree": "The manifest is on no machine.",
    "POST console.app_installation.index": "The manifest is on no machine.",
    "POST console.audit.revert": "The first entry can't be taken back.",
    "POST console.emails.send_test": "The form has no color: nothing is to be mailed.",
    "POST console.events.send": "The shop has no product.",
    "POST console.mail_templates.send_test": "The form is empty: nothing is to be mailed.",
    "POST console.provider_editing.discover": "The provider is on no machine.",
    "POST console.single_sign_on.confirm": "Only people with all permissions can confirm.",
    "GET console.unknown_page": "It's no page.",
    "POST console.webhooks.test": "It also needs the permission of the event.",
}
"""Why somebody whom the permission lets in is refused all the same."""
LEAD_BACK = {"console.provider_checks.preview", "console.provider_checks.test"}
"""Addresses of answers: opened again, they lead anybody to the page, which is guarded."""


@pytest.fixture
def populated_shop(populated_shop: Ports) -> Ports:
    """Its app and group have no permissions, so that nobody lacks any of them."""
    with populated_shop.database.transaction() as session:
        session.execute(delete(models.AppPermission))
        session.execute(delete(models.GroupPermission))
        session.execute(
            update(models.IdentityProvider).values(audience="https://shop.example/api")
        )
        now = populated_shop.clock.now()
        failed = models.AppInstallation(
            app_name="Failed",
            manifest_url="http://127.0.0.1:9/manifest",
            status=JobStatus.FAILED.value,
            caller={},
            created_at=now,
            updated_at=now,
        )
        session.add(failed)
    return populated_shop


def take(console: ConsoleClient, route: Route, *, is_insider: bool = False) -> int:
    """Take a way with the form that it wants, whole; return the status of the answer.

    An outsider isn't to be shown a conflict either, which tells what is stored.
    """
    form = FILLED.get(route.endpoint, {}) if route.method == "POST" else {}
    data = {"csrf_token": console.token(), **form}
    address = ADDRESSES.get(route.endpoint, route.address)
    answer = console.client.open(address, method=route.method, data=data)
    if is_insider and answer.status_code == HTTPStatus.CONFLICT:
        # An empty form doesn't say what it showed: take what is stored as seen.
        data |= loaded_of(answer.get_data(as_text=True), address, {})
        answer = console.client.open(address, method=route.method, data=data)
    return answer.status_code


def open_as(console_app: Flask, shop: Ports, held: Collection[Permission]) -> ConsoleClient:
    """Return the desk of new staff who hold these permissions."""
    email = f"{shop.randomness.token(8).lower()}@example.com"
    make_staff(shop, email, *held)
    return open_console(console_app, shop, email)


def others(holders: Collection[Permission]) -> list[Permission]:
    return [permission for permission in Permission if permission not in holders]


def test_every_route_has_its_row(console_app: Flask) -> None:
    assert {route.endpoint for route in routes_about_others(console_app)} == set(OPENED_BY)


@pytest.mark.first
def test_each_permission_opens_its_own_routes_and_no_other(
    console_app: Flask, populated_shop: Ports, sqlite_url: str, in_turn: InTurn
) -> None:
    """What opens no route alone doesn't with all the others, either, so those are held at once.

    A route that several open is opened by two of them in turn, by each with ``--both``.
    """
    routes = routes_about_others(console_app)
    insiders = {held: open_as(console_app, populated_shop, [held]) for held in EACH}
    of_all = open_as(console_app, populated_shop, [*Permission])
    outsiders = {
        holders: [open_as(console_app, populated_shop, others(holders))]
        if holders
        else [*insiders.values()]
        for holders in {holder_ids(route) for route in routes} - {EACH}
    }
    before = records(populated_shop)
    for route in routes:
        for console in outsiders.get(holder_ids(route), ()):
            assert take(console, route) == 403, route
    assert records(populated_shop) == before
    refused = set()
    with restored(sqlite_url) as restore:
        for route in routes:
            some = in_turn(holder_ids(route), 2)
            for console in [insiders[held] for held in some] or [of_all]:
                if take(console, route, is_insider=True) >= HTTPStatus.BAD_REQUEST:
                    refused.add(f"{route.method} {route.endpoint}")
                if route.method == "POST":
                    restore()
    assert refused == set(REFUSED)


@contextmanager
def restored(sqlite_url: str) -> Iterator[Callable[[], None]]:
    """Return what makes the database what it is now."""
    path = sqlite_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        kept = StoredRows.of(file)
        yield lambda: kept.put_back(file)


def test_customer_routes_need_manage_users(
    console_app: Flask, populated_shop: Ports, sqlite_url: str
) -> None:
    outsider = open_as(console_app, populated_shop, others([USERS]))
    insider = open_as(console_app, populated_shop, [USERS])
    ways = [
        replace(route, address=route.address.replace("/people/1", "/people/2"))
        for route in routes_about_others(console_app)
        if "/people/1" in route.address and OPENED_BY[route.endpoint]
    ]
    assert len(ways) == 12
    before = records(populated_shop)
    for way in ways:
        assert take(outsider, way) == 403, way
    assert records(populated_shop) == before
    changed = set()
    with restored(sqlite_url) as restore:
        for way in ways:
            assert take(insider, way, is_insider=True) == 303, way
            if records(populated_shop) != before:
                changed.add(way.endpoint.removeprefix("console.account_actions."))
            restore()
    assert changed == {"deactivate", "remove", "reset_factors", "send_link", "sign_out"}


def holder_ids(route: Route) -> tuple[Permission, ...]:
    """What opens the way; the forms that all may see are sent only by some."""
    if route.method == "POST" and route.endpoint in FORMS_OF_THE_FEW:
        return (APPS,)
    return (
        EACH
        if route.method == "GET" and route.endpoint in LEAD_BACK
        else OPENED_BY[route.endpoint]
    )


def test_row_of_a_route_that_is_gone_is_missed(console_app: Flask) -> None:
    endpoints = {route.endpoint for route in all_routes(console_app)}
    assert set(FILLED) | set(ADDRESSES) | LEAD_BACK <= endpoints
