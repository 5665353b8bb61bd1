"""What of Saleor 3.23's schema isn't here, of the subjects that are: each with its reason.

The names are those of its fields (``Type.field``), arguments (``Type.field(argument)``), inputs
and enum values. A name that is added here is to be removed from the list.
"""

from collections.abc import Iterator

from graphql import GraphQLEnumType, GraphQLNamedType

from app.graphql.schema import schema
from tests.fixtures.cases import cases

SCHEMA = schema.graphql_schema

LEFT_OUT: dict[str, tuple[str, ...]] = {
    "Attributes describe products here, not people.": (
        "AccountError.attributes",
        "AssignedAttributeWhereInput",
        "CustomerBulkUpdateError.attributes",
        "CustomerInput.attributes",
        "CustomerWhereInput.attributes",
        "ObjectWithAttributes",
        "StaffError.attributes",
        "User.assignedAttribute",
        "User.assignedAttributes",
        "UserCreateInput.attributes",
    ),
    "Customers have no types here; `customerType` in inputs refuses every ID.": (
        "CustomerType",
        "CustomerWhereInput.customerType",
        "Mutation.customerTypeAssignAttributes",
        "Mutation.customerTypeCreate",
        "Mutation.customerTypeDelete",
        "Mutation.customerTypeReorderAttributes",
        "Mutation.customerTypeUnassignAttributes",
        "Mutation.customerTypeUpdate",
        "Query.customerType",
        "Query.customerTypes",
        "User.customerType",
        "WebhookEventTypeAsyncEnum.CUSTOMER_TYPE_CREATED",
        "WebhookEventTypeAsyncEnum.CUSTOMER_TYPE_DELETED",
        "WebhookEventTypeAsyncEnum.CUSTOMER_TYPE_UPDATED",
        "WebhookEventTypeEnum.CUSTOMER_TYPE_CREATED",
        "WebhookEventTypeEnum.CUSTOMER_TYPE_DELETED",
        "WebhookEventTypeEnum.CUSTOMER_TYPE_UPDATED",
        "WebhookSampleEventTypeEnum.CUSTOMER_TYPE_CREATED",
        "WebhookSampleEventTypeEnum.CUSTOMER_TYPE_DELETED",
        "WebhookSampleEventTypeEnum.CUSTOMER_TYPE_UPDATED",
    ),
    "Gift cards aren't sold here.": (
        "Mutation.giftCardAssignUser",
        "Mutation.giftCardUnassignUser",
    ),
    "Payments are made elsewhere.": (
        "ChannelCreateInput.paymentSettings",
        "ChannelUpdateInput.paymentSettings",
        "User.storedPaymentMethods",
        "User.storedPaymentSources",
    ),
    "Refunds and returns are made elsewhere.": (
        "Mutation.refundSettingsUpdate",
        "Mutation.returnSettingsUpdate",
    ),
    "Stock isn't kept here, and shipping isn't done here.": (
        "Channel.availableShippingMethodsPerCountry",
        "Channel.countries",
        "ChannelCreateInput.addShippingZones",
        "ChannelCreateInput.addWarehouses",
        "ChannelCreateInput.stockSettings",
        "ChannelError.shippingZones",
        "ChannelError.warehouses",
        "ChannelUpdateInput.addShippingZones",
        "ChannelUpdateInput.addWarehouses",
        "ChannelUpdateInput.removeShippingZones",
        "ChannelUpdateInput.removeWarehouses",
        "ChannelUpdateInput.stockSettings",
        "Mutation.channelReorderWarehouses",
    ),
    "Taxes are calculated elsewhere.": ("Mutation.shopFetchTaxRates",),
    "Orders and checkouts have no settings of their own by channel here.": (
        "ChannelCreateInput.checkoutSettings",
        "ChannelCreateInput.orderSettings",
        "ChannelUpdateInput.checkoutSettings",
        "ChannelUpdateInput.orderSettings",
    ),
    "A checkout is found by `User.checkouts`, with what it holds.": (
        "User.checkout",
        "User.checkoutIds",
        "User.checkoutTokens",
        "User.checkouts(channel)",
    ),
    "What customers do is in the audit log, which is for staff.": (
        "CustomerEvent",
        "CustomerEventsEnum",
        "User.events",
    ),
    "Synchronous webhooks aren't sent, so none is ever stopped.": (
        "Mutation.appReenableSyncWebhooks",
    ),
    "Apps notify staff; this service mails no notices of orders.": (
        "Mutation.staffNotificationRecipientCreate",
        "Mutation.staffNotificationRecipientDelete",
        "Mutation.staffNotificationRecipientUpdate",
    ),
    "The domain is the setting `PUBLIC_URL`, as Saleor says of its own deprecated mutation.": (
        "Mutation.shopDomainUpdate",
    ),
    "The shop's texts aren't translated here.": ("Mutation.shopSettingsTranslate",),
    "Plugins here are identity providers, which send no notifications.": (
        "Mutation.externalNotificationTrigger",
    ),
    "Providers apply to the whole shop.": ("PluginFilterInput.statusInChannels",),
    "Orders of one customer are found by ID, number, email, channel, status and time.": (
        "CustomerOrderWhereInput.authorizeStatus",
        "CustomerOrderWhereInput.billingAddress",
        "CustomerOrderWhereInput.chargeStatus",
        "CustomerOrderWhereInput.checkoutId",
        "CustomerOrderWhereInput.checkoutToken",
        "CustomerOrderWhereInput.hasFulfillments",
        "CustomerOrderWhereInput.hasInvoices",
        "CustomerOrderWhereInput.invoices",
        "CustomerOrderWhereInput.isClickAndCollect",
        "CustomerOrderWhereInput.isGiftCardBought",
        "CustomerOrderWhereInput.isGiftCardUsed",
        "CustomerOrderWhereInput.linesCount",
        "CustomerOrderWhereInput.metadata",
        "CustomerOrderWhereInput.productTypeId",
        "CustomerOrderWhereInput.shippingAddress",
        "CustomerOrderWhereInput.totalGross",
        "CustomerOrderWhereInput.totalNet",
        "CustomerOrderWhereInput.voucherCode",
    ),
    "A search is sorted by the matched word without it.": ("UserSortField.RANK",),
}


def members_of(kind: GraphQLNamedType) -> Iterator[str]:
    """Yield the fields, arguments and values of a type."""
    if isinstance(kind, GraphQLEnumType):
        yield from kind.values
    for name, field in getattr(kind, "fields", {}).items():
        yield name
        yield from (f"{name}({argument})" for argument in getattr(field, "args", {}))


HERE = set(SCHEMA.type_map) | {
    f"{kind.name}.{name}" for kind in SCHEMA.type_map.values() for name in members_of(kind)
}
NAMES = [name for names in LEFT_OUT.values() for name in names]


@cases("name", NAMES)
def test_name_that_is_left_out_does_not_exist(name: str) -> None:
    assert name not in HERE, f"{name} exists now: remove it from the list."


def test_each_name_that_is_left_out_has_one_reason() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert all(reason.endswith(".") for reason in LEFT_OUT)


def test_names_that_exist_are_found() -> None:
    """The control: a name of each kind that would fail above."""
    for name in (
        "User",
        "User.email",
        "User.orders(where)",
        "CustomerInput.note",
        "UserSortField.EMAIL",
        "Mutation.customerUpdate",
    ):
        assert name in HERE
