"""Names that exist so that Saleor's clients work, with the one value that each of them has.

Nothing stands behind them here. ``constant`` declares such a field, ``constant_input`` such an
input, which accepts that value alone; both are described by the table. Its fields of whole
families, such as categories, are in ``unavailable.graphql``. A test compares the table with the
schema.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import graphene
from graphene.utils.str_converters import to_camel_case
from graphql import (
    ConstDirectiveNode,
    FieldDefinitionNode,
    ListTypeNode,
    NonNullTypeNode,
    ObjectTypeExtensionNode,
    parse,
    print_ast,
    value_from_ast_untyped,
)

from app.domain.commerce.sales import MAX_QUANTITY
from app.domain.events import ACCOUNT_EVENTS, LinkRequested
from app.domain.values.errors import Problem, refuse_any
from app.domain.values.pages import Page, empty_page
from app.graphql.context import Info

_NO_ITEMS: tuple[object, ...] = ()
_NO_PAGE: Page[object] = empty_page()


@dataclass(frozen=True, slots=True)
class Constant:
    """The ``value`` of a name, why it has no other, and what an input accepts as the same.

    ``shown`` is the value in the schema's descriptions, where it isn't null, empty or a literal.
    """

    value: object
    reason: str
    same: tuple[object, ...] = ()
    shown: str = ""

    @property
    def text(self) -> str:
        """The value as the schema's descriptions have it."""
        if self.shown:
            return self.shown
        if self.value is None:
            return "null"
        if self.value is _NO_PAGE or self.value in ((), [], {}, ""):
            return "empty"
        return f"`{str(self.value).lower() if isinstance(self.value, bool) else self.value}`"

    def accepts(self, given: object) -> bool:
        """Whether an input with this value changes nothing."""
        return given is None or any(
            given == value and type(given) is type(value) for value in (self.value, *self.same)
        )


_STOCK = "Stock isn't kept here."
_SHIPPING = "Shipping isn't done here."
_TAXES = "Taxes are calculated elsewhere."
_PAYMENTS = "Payments are made elsewhere."
_PRODUCTS = "Products have no weight here."
_SYNC = "Synchronous webhooks aren't sent."
_CLOUD = "Saleor Cloud sets it."
_GIFT_CARDS = "Gift cards aren't sold here."

DOCUMENT = parse(
    Path(__file__).with_name("unavailable.graphql").read_text("utf-8"), no_location=True
)
"""Types and fields of what Saleor has and Latchkey hasn't; the file explains itself."""

_EXTENSIONS = [each for each in DOCUMENT.definitions if isinstance(each, ObjectTypeExtensionNode)]
EXTENSIONS: Mapping[str, tuple[FieldDefinitionNode, ...]] = {
    name: tuple(field for each in _EXTENSIONS if each.name.value == name for field in each.fields)
    for name in (each.name.value for each in _EXTENSIONS)
}
"""The fields that the document gives to Latchkey's own types."""


def always_constant(field: FieldDefinitionNode) -> Constant | None:
    """Return what ``@always`` says of a field, if it says something."""
    for directive in field.directives:
        if directive.name.value == "always":
            return Constant(value_from_ast_untyped(directive.arguments[0].value), "")
    return None


def deprecation(field: FieldDefinitionNode) -> str:
    """Return why a field is deprecated, empty if it isn't."""
    return next((_reason(one) for one in field.directives if one.name.value == "deprecated"), "")


def _reason(directive: ConstDirectiveNode) -> str:
    return str(value_from_ast_untyped(directive.arguments[0].value))


def _extended() -> Iterator[tuple[str, Constant]]:
    for each in _EXTENSIONS:
        reason = _reason(each.directives[0])
        for field in each.fields:
            yield f"{each.name.value}.{field.name.value}", _value(field, reason)


def _value(field: FieldDefinitionNode, reason: str) -> Constant:
    """Return what ``@always`` says, or the value by type: empty, null, an object of constants."""
    if constant_ := always_constant(field):
        return replace(constant_, reason=reason)
    is_required = isinstance(field.type, NonNullTypeNode)
    kind = field.type.type if isinstance(field.type, NonNullTypeNode) else field.type
    if isinstance(kind, ListTypeNode):
        return Constant(_NO_ITEMS, reason)
    name = print_ast(kind)
    if name.endswith("Connection"):
        return Constant(_NO_PAGE, reason)
    return (
        Constant({}, reason, shown=f"as `{name}` says") if is_required else Constant(None, reason)
    )


_NO_LINK = Constant(None, "No link belongs to this event.")

FIELDS: Mapping[str, Constant] = {
    **dict(_extended()),
    **{
        f"{event.__name__}.channel": Constant(None, "Accounts belong to no channel.")
        for event in ACCOUNT_EVENTS
    },
    **{
        f"{event.__name__}.{name}": _NO_LINK
        for event in ACCOUNT_EVENTS
        if not issubclass(event, LinkRequested)
        for name in ("redirectUrl", "token")
    },
    "App.breakerLastStateChange": Constant(None, _SYNC),
    "App.breakerState": Constant("CLOSED", _SYNC),
    "CountryDisplay.vat": Constant(None, _TAXES),
    "Order.invoices": Constant(_NO_ITEMS, "Invoices aren't made here."),
    "PluginConfiguration.channel": Constant(None, "Providers apply to the whole shop."),
    "Shop.accountConfirmMergeMode": Constant("MERGE_DISABLED", "Orders keep their account."),
    "Shop.announcements": Constant(_NO_ITEMS, _CLOUD),
    "Shop.availablePaymentGateways": Constant(_NO_ITEMS, _PAYMENTS),
    "Shop.availableShippingMethods": Constant(_NO_ITEMS, _SHIPPING),
    "Shop.availableTaxApps": Constant(_NO_ITEMS, _TAXES),
    "Shop.chargeTaxesOnShipping": Constant(value=True, reason=_TAXES),
    "Shop.defaultWeightUnit": Constant("KG", _PRODUCTS),
    "Shop.displayGrossPrices": Constant(value=True, reason=_TAXES),
    "Shop.fulfillmentAllowUnpaid": Constant(
        value=True, reason="Orders can be fulfilled before they are paid."
    ),
    "Shop.fulfillmentAutoApprove": Constant(value=True, reason="Fulfillments aren't approved."),
    "Shop.headerText": Constant(None, "The storefront has its own texts.", ("",)),
    "Shop.includeTaxesInPrices": Constant(value=True, reason=_TAXES),
    "Shop.limitQuantityPerCheckout": Constant(
        MAX_QUANTITY, "It applies to each line of a checkout."
    ),
    "Shop.limits": Constant("limits", _CLOUD, shown="without limits and usage"),
    "Shop.preserveAllAddressFields": Constant(value=True, reason="Addresses keep all fields."),
    "Shop.reserveStockDurationAnonymousUser": Constant(None, _STOCK, (0,)),
    "Shop.reserveStockDurationAuthenticatedUser": Constant(None, _STOCK, (0,)),
    "Shop.staffNotificationRecipients": Constant(_NO_ITEMS, "Apps notify staff."),
    "Shop.trackInventoryByDefault": Constant(value=False, reason=_STOCK),
    "Shop.translation": Constant(None, "Texts aren't translated here."),
    "Shop.useLegacyShippingZoneStockAvailability": Constant(value=False, reason=_STOCK),
    "Shop.useLegacyUpdateWebhookEmission": Constant(
        value=True, reason="Changes of metadata send the event of the object's update."
    ),
    "User.giftCards": Constant(_NO_PAGE, _GIFT_CARDS),
}
"""Fields by type and name."""

_UNAVAILABLE = "app.graphql.unavailable."
SHOP_INPUTS: Mapping[str, Any] = {
    "account_confirm_merge_mode": f"{_UNAVAILABLE}AccountConfirmModeEnum",
    "charge_taxes_on_shipping": graphene.Boolean,
    "default_weight_unit": f"{_UNAVAILABLE}WeightUnitsEnum",
    "display_gross_prices": graphene.Boolean,
    "fulfillment_allow_unpaid": graphene.Boolean,
    "fulfillment_auto_approve": graphene.Boolean,
    "header_text": graphene.String,
    "include_taxes_in_prices": graphene.Boolean,
    "limit_quantity_per_checkout": graphene.Int,
    "preserve_all_address_fields": graphene.Boolean,
    "reserve_stock_duration_anonymous_user": graphene.Int,
    "reserve_stock_duration_authenticated_user": graphene.Int,
    "track_inventory_by_default": graphene.Boolean,
    "use_legacy_shipping_zone_stock_availability": graphene.Boolean,
    "use_legacy_update_webhook_emission": graphene.Boolean,
}
"""The fields of the shop that its settings have as well, with their types as inputs."""

_NO_LIST: tuple[object, ...] = ([],)
_NO_ATTRIBUTES = "Products have no attributes here."
_NO_COLLECTIONS = "Products have no categories or collections here."
_PLAIN_PRODUCT = "Products are a name, a text and a price here."

INPUTS: Mapping[str, Constant] = {
    **{
        f"{kind}.{name}": entry
        for kind in ("ProductCreateInput", "ProductInput")
        for name, entry in {
            "attributes": Constant(_NO_ITEMS, _NO_ATTRIBUTES, _NO_LIST),
            "category": Constant(None, _NO_COLLECTIONS),
            "collections": Constant(_NO_ITEMS, _NO_COLLECTIONS, _NO_LIST),
            "rating": Constant(None, _PLAIN_PRODUCT),
            "seo": Constant(None, _PLAIN_PRODUCT),
            "taxClass": Constant(None, _TAXES),
            "weight": Constant(None, _PLAIN_PRODUCT),
        }.items()
    },
    **{
        f"ShopSettingsInput.{name}": FIELDS[f"Shop.{name}"]
        for name in map(to_camel_case, SHOP_INPUTS)
    },
}
"""Inputs by type and name. Each accepts null too, which changes nothing."""


def constant(
    name: str,
    kind: Any,
    deprecation_reason: str = "",
    /,
    *,
    api_name: str | None = None,
    **arguments: Any,
) -> Any:
    """Return the field that is listed under ``name``, of the type ``kind``."""
    entry = FIELDS[name]

    def resolve(_root: object, _info: Info, **_arguments: object) -> object:
        return entry.value

    resolve.constant = True  # type: ignore[attr-defined]
    return graphene.Field(
        kind,
        name=api_name,
        description=f"Always {entry.text}. {entry.reason}",
        deprecation_reason=deprecation_reason or None,
        resolver=resolve,
        args=arguments,
    )


def constant_input(name: str, kind: Any) -> graphene.InputField:
    """Return the input ``name`` of a listed one, in Python's spelling, of the type ``kind``."""
    entry = INPUTS[to_camel_case(name)]
    return graphene.InputField(kind, description=f"Only {entry.text} is accepted. {entry.reason}")


def without_constants(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of an object of the type ``kind`` that aren't listed.

    Refuses INVALID on each listed one with another value than that it always has.
    """
    listed = {name: INPUTS.get(f"{kind}.{to_camel_case(name)}") for name in given}
    refuse_any(
        *(
            Problem(
                "INVALID",
                "Only {value} is accepted here.",
                to_camel_case(name),
                values={"value": entry.text.strip("`")},
            )
            for name, entry in listed.items()
            # An enum's member counts by its value.
            if entry is not None and not entry.accepts(getattr(given[name], "value", given[name]))
        )
    )
    return {name: value for name, value in given.items() if listed[name] is None}
