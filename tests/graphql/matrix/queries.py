"""Every query, and the fields that need more permissions than their object."""

from dataclasses import fields

from graphql import FieldDefinitionNode, print_ast

from app.domain.authorization.permissions import Caller, Permission
from app.domain.shop.setting_table import SETTINGS as SHOP_SETTINGS
from app.domain.shop.settings import PublicShop
from app.graphql.compatibility import EXTENSIONS
from app.graphql.compatibility import FIELDS as CONSTANTS
from tests.graphql.matrix.rules import (
    ANY_WEBHOOK,
    APP_MANAGERS,
    APPS,
    EVERYBODY,
    HOLDERS,
    HOLDING_PEOPLE,
    SIGNED_IN,
    STAFF,
    STAFF_AND_APPS,
    Row,
    Rule,
)

USERS, STAFFERS = Permission.MANAGE_USERS, Permission.MANAGE_STAFF
ORDERS, CHECKOUTS = Permission.MANAGE_ORDERS, Permission.MANAGE_CHECKOUTS
HANDLING, SETTINGS = Permission.HANDLE_CHECKOUTS, Permission.MANAGE_SETTINGS
CHANNELS = Permission.MANAGE_CHANNELS
MANAGING_APPS, PLUGINS = Permission.MANAGE_APPS, Permission.MANAGE_PLUGINS

HIDDEN = Rule("- - o + o + o +", (USERS, STAFFERS, ORDERS))
"""Managers of some people get ``null`` for others."""
APP_READERS = Rule("- - - + - + - -", (Caller.STAFF, Caller.APP))
"""An app with MANAGE_APPS reads what an extension whose app has it doesn't."""
UNSEEN = Rule("o o o + o + o +")
"""Who lacks the permission gets ``null``, as for what doesn't exist."""
OWN = Rule("- o o + - + o +", (Caller.USER,))
"""Users see their own, permission holders everyone's; other callers get ``null``."""
NOTHING = Rule("o o o o o o o o")
"""Names without anything behind them (``app/graphql/compatibility``)."""


def _unavailable(field: FieldDefinitionNode) -> tuple[str, Row]:
    """Return the row of a field that answers everyone alike."""
    name = field.name.value
    is_null = CONSTANTS[f"Query.{name}"].value is None
    is_page = print_ast(field.type).endswith("Connection")
    sent = {"id": 'id: "$product"', "kind": "kind: PRODUCT"}
    arguments = [sent[one.name.value] for one in field.arguments if one.name.value in sent]
    page = ["first: 1"] if is_page else []
    return name, Row(NOTHING if is_null else EVERYBODY, ", ".join([*page, *arguments]))


def _entity(kind: str, key: str, rule: Rule, *permissions: Permission) -> Row:
    call = f'representations: [{{ __typename: "{kind}", id: "{key}" }}]'
    return Row(rule, call, permissions)


QUERIES = {
    "shop": Row(EVERYBODY, ""),
    "me": Row(SIGNED_IN, ""),
    "user": Row(HIDDEN, 'id: "$customer"', (USERS, ORDERS)),
    "user of the staff": Row(HIDDEN, 'id: "$staff"', (STAFFERS,)),
    "addressValidationRules": Row(EVERYBODY, "countryCode: US"),
    "address": Row(Rule("- o o + - + o +", (Caller.USER,)), 'id: "$address"', (USERS,)),
    "customers": Row(HOLDERS, "first: 1", (USERS, ORDERS)),
    "staffUsers": Row(HOLDERS, "first: 1", (STAFFERS,)),
    "permissionGroups": Row(HOLDERS, "first: 1", (STAFFERS,)),
    "permissionGroup": Row(HOLDERS, 'id: "$group"', (STAFFERS,)),
    "app": Row(STAFF_AND_APPS, 'id: "$app"'),
    "app that is calling": Row(APPS, ""),
    "apps": Row(STAFF, "first: 1"),
    "appsInstallations": Row(APP_MANAGERS, "", (MANAGING_APPS,)),
    "appExtension": Row(
        Rule("- - + + - + + +", (Caller.STAFF, Caller.APP)), 'id: "$extension"', (MANAGING_APPS,)
    ),
    "appExtensions": Row(STAFF_AND_APPS, "first: 1"),
    "webhook": Row(ANY_WEBHOOK, 'id: "$webhook"', (MANAGING_APPS,)),
    "webhookEvents": Row(Rule("- - - + - + - -"), "", (MANAGING_APPS,)),
    "webhookSamplePayload": Row(
        Rule("- - - + - + - +", (Caller.STAFF, Caller.APP)), "eventType: ORDER_CREATED", (ORDERS,)
    ),
    "mailTemplates": Row(HOLDING_PEOPLE, "", (SETTINGS,)),
    "mailTemplate": Row(HOLDING_PEOPLE, "kind: PASSWORD_RESET", (SETTINGS,)),
    "mails": Row(HOLDING_PEOPLE, "first: 1", (STAFFERS, USERS)),
    "signInEvents": Row(HOLDING_PEOPLE, "first: 1", (STAFFERS, USERS)),
    "plugin": Row(HOLDERS, 'id: "latchkey.authentication.openidconnect"', (PLUGINS,)),
    "plugins": Row(HOLDERS, "first: 1", (PLUGINS,)),
    "product": Row(EVERYBODY, 'id: "$product"'),
    "product that is not published": Row(
        Rule("o o o + o + o +"), 'id: "$draft"', (Permission.MANAGE_PRODUCTS,)
    ),
    "products": Row(EVERYBODY, "first: 1"),
    "channels": Row(STAFF_AND_APPS, ""),
    "channel": Row(EVERYBODY, 'slug: "default-channel"'),
    "channel that is inactive": Row(Rule("o o + + + + + +"), 'id: "$channel"'),
    "checkout": Row(EVERYBODY, 'id: "$cart"'),
    "order": Row(OWN, 'id: "$order"', (ORDERS,)),
    "orders": Row(HOLDERS, "first: 1", (ORDERS,)),
    "checkouts": Row(HOLDERS, "first: 1", (CHECKOUTS, HANDLING)),
    **dict(map(_unavailable, EXTENSIONS["Query"])),
    "_service": Row(EVERYBODY, ""),
    "_entities Address": _entity("Address", "$address", UNSEEN, USERS),
    "_entities App": _entity("App", "$app", Rule("o o + + o + + +"), MANAGING_APPS),
    "_entities Group": _entity("Group", "$group", UNSEEN, STAFFERS),
    "_entities Order": _entity("Order", "$order", UNSEEN, ORDERS),
    "_entities Product": _entity("Product", "$product", EVERYBODY),
    "_entities Product that is not published": _entity(
        "Product", "$draft", UNSEEN, Permission.MANAGE_PRODUCTS
    ),
    "_entities User": _entity("User", "$customer", UNSEEN, USERS, ORDERS),
    "_entities User of the staff": _entity("User", "$staff", UNSEEN, STAFFERS),
}

_CUSTOMER = 'user(id: "$customer")'
_STAFF = 'user(id: "$staff")'
_ANY_PUBLIC_METADATA = {"metadata": "metadata { key }", "metafields": 'metafields(keys: ["key"])'}
_PUBLIC_METADATA = _ANY_PUBLIC_METADATA | {"metafield": 'metafield(key: "key")'}
_ANY_PRIVATE_METADATA = {
    "privateMetadata": "privateMetadata { key }",
    "privateMetafields": 'privateMetafields(keys: ["key"])',
}
_PRIVATE_METADATA = _ANY_PRIVATE_METADATA | {"privateMetafield": 'privateMetafield(key: "key")'}
_CHANNEL = 'channel(slug: "default-channel")'
_APP, _WEBHOOK, _GROUPS = 'app(id: "$app")', 'webhook(id: "$webhook")', "me { permissionGroups"
PUBLIC = {field.name for field in fields(PublicShop)}
FIELDS = {
    "Shop.availableExternalAuthentications": Row(
        EVERYBODY, "shop { availableExternalAuthentications { id } }"
    ),
    **{
        f"Shop.{name}": Row(HOLDERS, f"shop {{ {name} }}", (SETTINGS,))
        for name in (
            *(one.api_name for one in SHOP_SETTINGS if one.name not in PUBLIC),
            "secondFactorRequiredFrom",
        )
    },
    **{
        f"Shop.{name}": Row(EVERYBODY, f"shop {{ {call} }}")
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"Shop.{name}": Row(HOLDERS, f"shop {{ {call} }}", (SETTINGS,))
        for name, call in _PRIVATE_METADATA.items()
    },
    "Shop.companyAddress": Row(EVERYBODY, "shop { companyAddress { city } }"),
    "Shop.defaultCountry": Row(EVERYBODY, "shop { defaultCountry { code } }"),
    "Shop.domain": Row(EVERYBODY, "shop { domain { url } }"),
    "Shop.version": Row(STAFF_AND_APPS, "shop { version }"),
    "Shop.logo": Row(HOLDERS, "shop { logo { url } }", (SETTINGS,)),
    "User.permissionGroups": Row(SIGNED_IN, "me { permissionGroups { name } }"),
    "User.editableGroups": Row(SIGNED_IN, "me { editableGroups { name } }"),
    "User.avatar": Row(Rule("o o o o o o o o"), "me { avatar { url } }"),
    "User.sessions": Row(Rule("o + + + o o - -", (Caller.USER,)), "me { sessions { id } }"),
    "User.secondFactors of oneself": Row(
        Rule("o + + + o o - +", HIDDEN.kinds), "me { secondFactors { id } }", (STAFFERS,)
    ),
    "User.secondFactors": Row(HOLDERS, f"{_CUSTOMER} {{ secondFactors {{ id }} }}", (USERS,)),
    "User.secondFactors of the staff": Row(
        Rule("- - o + o + o +", HIDDEN.kinds),
        f"{_STAFF} {{ secondFactors {{ id }} }}",
        (STAFFERS,),
    ),
    "User.sessions of another": Row(
        Rule("- - o o o o o o", HIDDEN.kinds), f"{_CUSTOMER} {{ sessions {{ id }} }}", (USERS,)
    ),
    **{
        f"User.{name}": Row(HIDDEN, f"{_CUSTOMER} {{ {call} }}", (USERS, ORDERS))
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"User.{name} of the staff": Row(HIDDEN, f"{_STAFF} {{ {call} }}", (STAFFERS,))
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"User.{name} of oneself": Row(SIGNED_IN, f"me {{ {call} }}")
        for name, call in _ANY_PUBLIC_METADATA.items()
    },
    **{
        f"User.{name}": Row(HIDDEN, f"{_CUSTOMER} {{ {name} {{ id }} }}", (USERS, ORDERS))
        for name in ("addresses", "defaultShippingAddress", "defaultBillingAddress")
    },
    "User.externalReference": Row(HIDDEN, f"{_CUSTOMER} {{ externalReference }}", (USERS, ORDERS)),
    "User.note": Row(HOLDERS, f"{_CUSTOMER} {{ note }}", (USERS,)),
    "User.note of the staff": Row(
        Rule("- - o + o + o +", HIDDEN.kinds), f"{_STAFF} {{ note }}", (STAFFERS,)
    ),
    "User.addresses of the staff": Row(HIDDEN, f"{_STAFF} {{ addresses {{ id }} }}", (STAFFERS,)),
    **{
        f"Address.{name}": Row(
            HIDDEN, f"{_CUSTOMER} {{ addresses {{ {call} }} }}", (USERS, ORDERS)
        )
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"Address.{name}": Row(HOLDERS, f"{_CUSTOMER} {{ addresses {{ {call} }} }}", (USERS,))
        for name, call in _PRIVATE_METADATA.items()
    },
    "User.addresses of oneself": Row(SIGNED_IN, "me { addresses { id } }"),
    **{
        f"User.{name}": Row(HOLDERS, f"{_CUSTOMER} {{ {call} }}", (USERS,))
        for name, call in _PRIVATE_METADATA.items()
    },
    **{
        f"User.{name} of the staff": Row(
            Rule("- - o + o + o +", HIDDEN.kinds), f"{_STAFF} {{ {call} }}", (STAFFERS,)
        )
        for name, call in _PRIVATE_METADATA.items()
    },
    **{
        f"App.{name}": Row(APP_READERS, f"{_APP} {{ {call} }}", (MANAGING_APPS,))
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"App.{name}": Row(APP_MANAGERS, f"{_APP} {{ {call} }}", (MANAGING_APPS,))
        for name, call in _PRIVATE_METADATA.items()
    },
    **{
        f"App.{name} of itself": Row(APPS, f"app {{ {call} }}")
        for name, call in (_ANY_PUBLIC_METADATA | _ANY_PRIVATE_METADATA).items()
    },
    "User.orders": Row(
        HOLDERS,
        f"{_CUSTOMER} {{ orders(first: 1) {{ totalCount }} }}",
        (ORDERS,),
        beside=frozenset({USERS}),
    ),
    "User.checkouts": Row(
        HOLDERS,
        f"{_CUSTOMER} {{ checkouts(first: 1) {{ totalCount }} }}",
        (CHECKOUTS, HANDLING),
        beside=frozenset({USERS}),
    ),
    **{
        f"Channel.{name}": Row(STAFF_AND_APPS, f"{_CHANNEL} {{ {call} }}")
        for name, call in {
            "name": "name",
            "isActive": "isActive",
            "currencyCode": "currencyCode",
            "defaultCountry": "defaultCountry { code }",
            "stockSettings": "stockSettings { allocationStrategy }",
        }.items()
    },
    "Channel.hasOrders": Row(HOLDERS, f"{_CHANNEL} {{ hasOrders }}", (CHANNELS,)),
    **{
        f"Channel.{name}": Row(EVERYBODY, f"{_CHANNEL} {{ {call} }}")
        for name, call in _PUBLIC_METADATA.items()
    },
    **{
        f"Channel.{name}": Row(HOLDERS, f"{_CHANNEL} {{ {call} }}", (CHANNELS,))
        for name, call in _PRIVATE_METADATA.items()
    },
    "User.accessibleChannels": Row(SIGNED_IN, "me { accessibleChannels { slug } }"),
    "Group.accessibleChannels": Row(
        SIGNED_IN, f"{_GROUPS} {{ accessibleChannels {{ slug }} }} }}"
    ),
    "Order.channel": Row(OWN, 'order(id: "$order_of_a_customer") { channel { slug } }', (ORDERS,)),
    "Checkout.channel": Row(EVERYBODY, 'checkout(id: "$cart") { channel { slug } }'),
    "Group.users": Row(Rule("o + - + o o - +"), f"{_GROUPS} {{ users {{ id }} }} }}", (STAFFERS,)),
    "Group.userCanManage": Row(SIGNED_IN, f"{_GROUPS} {{ userCanManage }} }}"),
    "App.problems": Row(APP_MANAGERS, f"{_APP} {{ problems {{ key }} }}", (MANAGING_APPS,)),
    **{
        name: Row(STAFF_AND_APPS, 'app(id: "$page") { brand { logo { default } } }')
        for name in ("App.brand", "AppBrandLogo.default")
    },
    "AppProblemDismissed.user": Row(
        APP_MANAGERS,
        f"{_APP} {{ problems {{ dismissed {{ user {{ id }} }} }} }}",
        (STAFFERS,),
        beside=frozenset({MANAGING_APPS}),
    ),
    "AppProblemDismissed.userEmail": Row(
        APP_MANAGERS, f"{_APP} {{ problems {{ dismissed {{ userEmail }} }} }}", (MANAGING_APPS,)
    ),
    "App.tokens": Row(APP_MANAGERS, f"{_APP} {{ tokens {{ id }} }}", (MANAGING_APPS,)),
    "App.webhooks": Row(APP_MANAGERS, f"{_APP} {{ webhooks {{ id }} }}", (MANAGING_APPS,)),
    "App.extensions": Row(STAFF_AND_APPS, f"{_APP} {{ extensions {{ id }} }}"),
    "App.accessToken": Row(
        Rule("- - + + o o o o", STAFF_AND_APPS.kinds), 'app(id: "$page") { accessToken }'
    ),
    "AppExtension.accessToken": Row(
        Rule("- - + + o o o o", STAFF_AND_APPS.kinds),
        'appExtension(id: "$extension") { accessToken }',
    ),
    "Webhook.app": Row(ANY_WEBHOOK, f"{_WEBHOOK} {{ app {{ id }} }}", (MANAGING_APPS,)),
    "Webhook.eventDeliveries": Row(
        ANY_WEBHOOK,
        f"{_WEBHOOK} {{ eventDeliveries(first: 1) {{ totalCount }} }}",
        (MANAGING_APPS,),
    ),
    "EventDelivery.attempts": Row(
        ANY_WEBHOOK,
        f"{_WEBHOOK} {{ eventDeliveries(first: 1) {{ edges {{ node {{"
        " attempts(first: 1) { totalCount } } } } }",
        (MANAGING_APPS,),
    ),
    "Fulfillment.lines": Row(
        OWN, 'order(id: "$order_of_a_customer") { fulfillments { lines { id } } }', (ORDERS,)
    ),
    "Order.lines": Row(OWN, 'order(id: "$order_of_a_customer") { lines { id } }', (ORDERS,)),
    "Order.user": Row(OWN, 'order(id: "$order_of_a_customer") { user { id } }', (ORDERS,)),
    "Order.user of the staff": Row(
        Rule("- o o + o + o +", (Caller.USER,)),
        'order(id: "$order_of_staff") { user { id } }',
        (STAFFERS,),
        beside=frozenset({ORDERS}),
    ),
}
"""The path from the root to a field that depends on the caller, with its name."""
