"""Every field of a record is read from a selected column, and every selected column is read.

Each reader is given a row, and then one row more for each column that differs in that column
alone. A field that no column changes would be its default for ever. Arguments beside the row are
tested as columns are.
"""

# ruff: noqa: SLF001 - most readers are private to their modules

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from app import services
from app.domain.authorization.actor import OPERATOR
from app.domain.values.pages import MAX_COUNTED
from app.services.apps import extensions
from app.services.audit import entries
from app.services.authorization import session_rights, shop_state, token_rights
from app.services.commerce import channels, checkouts, orders, products
from app.services.console import home, sign_in_methods
from app.services.deliveries import lists, sending, statistics
from app.services.deliveries import lists as delivery_lists
from app.services.identity import stored_apps
from app.services.inspector import own_tokens as inspected_sessions
from app.services.mails import mail_log
from app.services.oauth import client_pages
from app.services.people import stored_groups, user_status
from app.services.second_factors import stored_factors
from app.services.shop import impact, lockout_guard
from app.services.sign_in_log import events as sign_in_events
from app.services.sign_in_log import events as sign_in_statistics
from app.services.webhooks import lists as webhook_lists
from app.services.webhooks import stored_webhooks
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CLOCK = SimpleNamespace(now=lambda: NOW, timestamp=NOW.timestamp)
PORTS: Any = SimpleNamespace(
    clock=CLOCK,
    shared_clock=CLOCK,
    throttle=SimpleNamespace(
        timestamp=lambda clock: clock.timestamp(), count_blocked=lambda _now: 0
    ),
)
SPANS = statistics.hour_spans(NOW)


@dataclass(frozen=True, slots=True)
class Reader:
    """A function that makes a record of a row with ``columns``.

    ``arguments`` are two values of each argument beside the row: what another query read.
    ``empty`` are fields of the record, with the ones they are in, that only records of another
    origin have; ``read_elsewhere`` are columns that the caller reads. ``values`` are two values
    of columns whose type doesn't say what they hold, by the column's label; see ``VALUES``, too.
    """

    read: Callable[..., Any]
    columns: Iterable[Any]
    arguments: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    empty: frozenset[str] = field(default=frozenset())
    read_elsewhere: frozenset[str] = field(default=frozenset())
    values: Mapping[str, tuple[object, object]] = field(default_factory=dict)


READERS = {
    "authorization.shop_state.read_shop_state": Reader(
        lambda row: shop_state.read_shop_state(row, NOW), shop_state.SHOP_STATE_COLUMNS
    ),
    "authorization.session_rights.read_user": Reader(
        session_rights.read_user, session_rights.USER_COLUMNS
    ),
    "authorization.session_rights.read_session": Reader(
        session_rights.read_session,
        session_rights.SESSION_COLUMNS,
        arguments={"app": (None, session_rights.ExtensionApp(1, frozenset()))},
        empty=frozenset({"provider_token"}),
    ),
    "authorization.token_rights._read_app": Reader(
        lambda row: token_rights._read_app(PORTS, row),
        token_rights._APP.selected_columns,
        values={"token_expires_at": (NOW + timedelta(days=1), NOW + timedelta(days=2))},
    ),
    "authorization.token_rights._read_extension": Reader(
        lambda row: token_rights._read_extension(PORTS, row),
        token_rights._EXTENSION.selected_columns,
        empty=frozenset({"found.provider_token"}),
        read_elsewhere=frozenset({"app_created_at"}),
    ),
    "inspector.own_tokens._session_in": Reader(
        inspected_sessions._session_in,
        inspected_sessions._SESSION,
        read_elsewhere=frozenset({"session_scope", "session_amr"}),
    ),
    "inspector.own_tokens._app_in": Reader(
        inspected_sessions._app_in,
        inspected_sessions._APP,
        empty=frozenset({"last_four", "token_name"}),
        read_elsewhere=frozenset({"app_permissions"}),
    ),
    "identity.stored_apps.to_app": Reader(stored_apps.to_app, stored_apps.APP_COLUMNS),
    "apps.extensions._of_its_app": Reader(
        extensions._of_its_app,
        extensions._OF_ACTIVE_APPS.selected_columns,
        values={"permissions": ("MANAGE_ORDERS", "MANAGE_USERS")},
    ),
    "people.user_status.make_person": Reader(
        user_status.make_person,
        [
            *(one for one in session_rights.USER_COLUMNS if one.name == "user_permissions"),
            *user_status.PERSON_COLUMNS,
        ],
        values={"origin_password": ("IMPORTED", "REPLACED")},
        arguments={"user": ("a", "b"), "sessions": ((), ("a session",)), "session_count": (1, 2)},
        empty=frozenset({"public_metadata"}),
    ),
    "people.stored_groups.to_group": Reader(
        stored_groups.to_group,
        stored_groups.GROUPS.selected_columns,
        values={
            "permissions": ('["MANAGE_ORDERS"]', '["MANAGE_USERS"]'),
            "channel_ids": (None, "[1]"),
        },
    ),
    "commerce.channels.to_channel": Reader(
        channels.to_channel, channels.CHANNELS.selected_columns
    ),
    "commerce.products.to_product": Reader(products.to_product, products.PRODUCT_COLUMNS),
    "commerce.checkouts.to_checkout": Reader(
        checkouts.to_checkout,
        checkouts.CHECKOUTS.selected_columns,
        arguments={"lines": ((), ("a line",))},
    ),
    "commerce.orders.to_summary": Reader(
        orders.to_summary,
        orders.ORDERS.selected_columns,
        values={"status": ("UNCONFIRMED", "FULFILLED")},
    ),
    "commerce.orders.to_order": Reader(
        orders.to_order,
        orders.ORDERS.selected_columns,
        arguments={"lines": ((), ("a line",)), "user": (None, "a buyer")},
        values={"status": ("UNCONFIRMED", "FULFILLED")},
    ),
    "sign_in_log.events.to_span": Reader(
        sign_in_statistics.to_span,
        sign_in_statistics.FIGURES,
        arguments={"began": (NOW, NOW + timedelta(days=1))},
    ),
    "console.sign_in_methods._state": Reader(
        sign_in_methods._state,
        sign_in_methods._STATE,
        values={"mode": ("ENABLED", "DISABLED"), "providers": ('["North ID"]', '["South ID"]')},
    ),
    "console.sign_in_methods._attempt": Reader(
        sign_in_methods._attempt,
        [
            one
            for one in sign_in_methods._account(1).selected_columns
            if one.name.startswith("attempt_") or one.name in ("user_first_name", "user_last_name")
        ],
        values={
            "attempt_method": ("PASSWORD", "SSO"),
            "attempt_reason": ("", "BLOCKED_IP"),
            "attempt_account_type": ("STAFF", "CUSTOMER"),
        },
    ),
    "sign_in_log.events.to_event": Reader(
        sign_in_events.to_event,
        sign_in_events.COLUMNS,
        values={
            "method": ("PASSWORD", "SSO"),
            "reason": ("", "BLOCKED_IP"),
            "account_type": ("STAFF", "CUSTOMER"),
        },
    ),
    "second_factors.stored_factors.factors_in": Reader(
        stored_factors.factors_in, stored_factors.FACTOR_COLUMNS
    ),
    "mails.mail_log.to_entry": Reader(mail_log.to_entry, mail_log.COLUMNS),
    "audit.entries._entry": Reader(entries._entry, entries._COLUMNS, empty=frozenset({"names"})),
    "deliveries.lists.to_delivery": Reader(
        delivery_lists.to_delivery,
        delivery_lists.DELIVERY_COLUMNS,
        empty=frozenset({"lacking"}),
        values={"status": ("PENDING", "FAILED")},
    ),
    "deliveries.lists.to_attempt": Reader(
        delivery_lists.to_attempt,
        delivery_lists.ATTEMPT_COLUMNS,
        empty=frozenset({"lacking"}),
        values={"status": ("PENDING", "FAILED")},
    ),
    "deliveries.lists.to_line": Reader(
        lambda row: lists.to_line(OPERATOR, row),
        lists.LINE_COLUMNS,
        empty=frozenset({"lacking"}),
        read_elsewhere=frozenset({"checkout_token", "app_permissions"}),
        values={"status": ("PENDING", "FAILED"), "event": ("PRODUCT_UPDATED", "CHECKOUT_UPDATED")},
    ),
    "webhooks.lists._webhook": Reader(
        partial(webhook_lists._webhook, OPERATOR),
        webhook_lists._COLUMNS,
        empty=frozenset({"lacking"}),
        values={"events": ("[]", '["ORDER_PAID"]')},
        arguments={"health": (webhook_lists.Health(1, 1, 1), webhook_lists.Health(2, 2, 2))},
    ),
    "webhooks.lists._subscriber": Reader(
        webhook_lists._subscriber, webhook_lists._SUBSCRIBER_COLUMNS
    ),
    "oauth.client_pages._listed_client": Reader(
        client_pages._listed_client,
        client_pages._CLIENTS.selected_columns,
        empty=frozenset({"secrets"}),
        # Only a client without pairwise subjects is a first party.
        values={"subject_salt": ("", "salt")},
    ),
    "console.sign_in_methods._to_methods": Reader(
        sign_in_methods._to_methods,
        sign_in_methods._methods(PORTS).selected_columns,
        read_elsewhere=frozenset({"id"}),
    ),
    "shop.impact.read_sign_in_counts": Reader(
        impact.read_sign_in_counts,
        impact.sign_in_count_columns(PORTS),
        values=dict.fromkeys(
            ("customer_sessions", "customers", "customers_by_password", "apps", "without_refresh"),
            (1, MAX_COUNTED + 1),
        ),
    ),
    "shop.lockout_guard.read_settings_managers": Reader(
        lockout_guard.read_settings_managers, lockout_guard.settings_manager_columns(PORTS)
    ),
    "deliveries.sending._delivery": Reader(
        sending._delivery,
        sending._COLUMNS,
        arguments={"traceparent": ("", "00-1")},
        values={"note_id": (None, 7)},
    ),
    "deliveries.statistics._hour": Reader(
        statistics._hour, (SPANS.c.began, *statistics.delivery_columns(SPANS))
    ),
    "console.home._people": Reader(home._people, home._people_columns(PORTS)),
    "webhooks.stored_webhooks.read_saver": Reader(
        stored_webhooks.read_saver, stored_webhooks.SAVER_COLUMNS
    ),
}
"""Every function of the use cases that makes a record of a row."""

OTHERS = {
    "people.user_status.read_origin": "reads a part of what make_person reads",
    "webhooks.subscribers._sent_link": "decides about what other readers read",
    "authorization.session_rights.live_session_in": "joins what two other readers read",
    "inspector.inspect._inspection": "decides about what to_app reads",
    "apps.extensions._extension": "reads a part of what _of_its_app reads",
    "commerce.checkouts.read_line": "decides about what to_product reads",
    "shop.traffic.read_traffic_hour": "reads a number for each member of TrafficKind",
    "console.home.read_setup": "makes no record of a dismissed checklist",
    "shop.settings.read_closing": "makes no record while the storefront is open",
    "webhooks.event_subjects._to_group": "leaves out a part of what to_group reads",
    "deliveries.lists._listed": "masks what to_line reads",
    "console.search._to_hit": "masks what a search found",
    "deliveries.lists._lacking": "decides about what to_delivery and to_attempt read",
    "deliveries.lists._delivery": "decides about what to_delivery reads",
    "webhooks.lists._visible_webhook": "decides about what to_webhook reads",
    "deliveries.backlog._backlog": "names counts and ages, which test_backlog compares",
    "lists.paging.record_from": "names the columns by the fields",
}
"""Functions of a row that make no record of their own, and why."""

VALUES: Mapping[str, tuple[object, object]] = {
    "app_type": ("LOCAL", "THIRDPARTY"),
    "app_permissions": ('["MANAGE_ORDERS"]', '["MANAGE_USERS"]'),
    "attempt_second_factor": ("", "PASSKEY"),
    "factor_apps": (0, 1),
    "providers": ("[]", '["Northlight"]'),
    "saved_by_kind": ("user", "app"),
    "second_factor": ("", "PASSKEY"),
    "saved_permissions": ("MANAGE_ORDERS", "MANAGE_USERS"),
    "session_client": (
        (
            '[{"id": 1, "first": 1, "scope": "openid MANAGE_ORDERS", '
            '"allowed": "openid MANAGE_ORDERS"}]'
        ),
        '[{"id": 2, "first": 0, "scope": "email MANAGE_USERS", "allowed": "email MANAGE_USERS"}]',
    ),
    "session_origin": ("password", "oidc"),
    "session_scope": (None, "{}"),
    "shop_password_login_mode": ("ENABLED", "DISABLED"),
    "shop_second_factor_from": (None, NOW),
    "token_expires_at": (None, datetime(2020, 1, 1, tzinfo=UTC)),
    "token_permissions": (None, "MANAGE_USERS"),
    "user_groups": (
        "[]",
        '[{"id": 1, "name": "Clerks", "permissions": [], "restricted": false, "channels": []}]',
    ),
    "user_is_staff": (True, False),
    "user_permissions": ('["MANAGE_ORDERS"]', '["MANAGE_USERS"]'),
}
"""Values of columns whose label means the same to every reader."""

BY_TYPE: Mapping[type, tuple[object, object]] = {
    bool: (False, True),
    int: (1, 2),
    float: (1.0, 2.0),
    str: ("a", "b"),
    object: ({"a": 1}, {"a": 2}),
    datetime: (NOW, datetime(2025, 1, 1, tzinfo=UTC)),
}


@cases("name", READERS)
def test_every_field_is_selected_and_every_column_is_read(name: str) -> None:
    reader = READERS[name]
    values = {column.name: _two_values(reader, column) for column in reader.columns}
    values |= reader.arguments
    base = {label: first for label, (first, _) in values.items()}
    expected = dict(_leaves(_record(reader, base)))
    unread, found = set(), set()
    for label, (_, second) in values.items():
        changed = dict(_leaves(_record(reader, {**base, label: second})))
        found |= {leaf for leaf in expected if _is_changed(leaf, expected, changed)}
        if changed == expected:
            unread.add(label)
    assert expected.keys() - found == reader.empty, "fields that no column fills"
    assert not any(expected[name] for name in reader.empty)
    assert unread == reader.read_elsewhere, "columns that are selected for nothing"


def test_every_function_that_reads_a_row_is_tested() -> None:
    assert set(_row_readers()) == set(READERS) | set(OTHERS)


def _record(reader: Reader, values: Mapping[str, object]) -> object:
    arguments = {name: values[name] for name in reader.arguments}
    row = {name: value for name, value in values.items() if name not in arguments}
    return reader.read(SimpleNamespace(**row), **arguments)


def _two_values(reader: Reader, column: Any) -> tuple[object, object]:
    values = {**VALUES, **reader.values}
    return values.get(column.name) or BY_TYPE[column.type.python_type]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, object]]:
    """The fields of a record and of the records in it, by their names."""
    if not is_dataclass(value):
        yield name, value
        return
    for inner in fields(value):
        yield from _leaves(getattr(value, inner.name), f"{name}.{inner.name}".lstrip("."))


def _is_changed(leaf: str, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    if leaf in after:
        return before[leaf] != after[leaf]
    # What was None is a record now; it is the other way round where the whole record is gone.
    return any(other.startswith(f"{leaf}.") for other in after)


def _row_readers() -> Iterator[str]:
    for module in pkgutil.walk_packages(services.__path__, f"{services.__name__}."):
        for function in vars(import_module(module.name)).values():
            if not inspect.isfunction(function) or function.__module__ != module.name:
                continue
            hints = inspect.get_annotations(function)
            if "NamedRow" in str(hints.get("row", "")):
                yield _name(function)


def _name(function: Callable[..., object]) -> str:
    return f"{function.__module__.removeprefix('app.services.')}.{function.__name__}"
