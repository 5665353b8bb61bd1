"""Types of what Saleor has and Latchkey hasn't: no field returns an object of them.

Their fields are those that Saleor's dashboard selects. ``app/graphql/compatibility`` lists the
fields that lead here, and why.
"""

from typing import Any

import graphene

from app.graphql.connections import connection_arguments, make_connection

_DESCRIPTION = "No object of this type is returned."
_HERE = f"{__name__}."
_TEXT, _FLAG, _NUMBER = graphene.String, graphene.Boolean, graphene.Int
_MOMENT = graphene.DateTime


def _required(kind: Any) -> graphene.NonNull:
    return graphene.NonNull(kind)


def _type(name: str, doc: str, /, **fields: Any) -> Any:
    shown = {
        field: kind
        if isinstance(kind, graphene.Field)
        else graphene.Field(kind, description=_DESCRIPTION)
        for field, kind in fields.items()
    }
    return type(name, (graphene.ObjectType,), {"__doc__": doc, **shown})


def _enum(name: str, doc: str, *values: str) -> Any:
    return graphene.Enum(
        name,
        [(value, value) for value in values],
        description=lambda value: doc if value is None else None,
    )


def _items(name: str) -> graphene.NonNull:
    return graphene.NonNull(graphene.List(graphene.NonNull(f"{_HERE}{name}")))


WeightUnitsEnum = _enum("WeightUnitsEnum", "Units of weight.", "G", "LB", "OZ", "KG", "TONNE")
AccountConfirmModeEnum = _enum(
    "AccountConfirmModeEnum",
    "Whether orders made before the account become the account's.",
    "MERGE_DISABLED",
    "REQUIRE_PASSWORD",
)
CircuitBreakerStateEnum = _enum(
    "CircuitBreakerStateEnum",
    "Whether synchronous webhooks of an app are sent.",
    "CLOSED",
    "HALF_OPEN",
    "OPEN",
)
ReportingPeriod = _enum("ReportingPeriod", "A period of sales.", "TODAY", "THIS_MONTH")
AnnouncementImportanceEnum = _enum(
    "AnnouncementImportanceEnum",
    "How much an announcement matters.",
    "CRITICAL",
    "HIGH",
    "MODERATE",
    "LOW",
    "UNSET",
)

Announcement = _type(
    "Announcement",
    "A message to staff.",
    created_at=_required(_MOMENT),
    updated_at=_required(_MOMENT),
    title=_required(_TEXT),
    message_html=_required(_TEXT),
    importance=_required(AnnouncementImportanceEnum),
    type=_required(_TEXT),
    extra=_required("app.graphql.metadata_fields.Metadata"),
)
PaymentGateway = _type(
    "PaymentGateway",
    "A way to pay.",
    id=_required(graphene.ID),
    name=_required(_TEXT),
    currencies=_required(graphene.List(graphene.NonNull(_TEXT))),
)
ShippingMethod = _type(
    "ShippingMethod",
    "A way to ship.",
    id=_required(graphene.ID),
    name=_required(_TEXT),
    active=_required(_FLAG),
    message=_TEXT,
)
ShopTranslation = _type(
    "ShopTranslation",
    "The shop's texts in another language.",
    id=_required(graphene.ID),
    language=_required("app.graphql.types.languages.LanguageDisplay"),
    header_text=_required(_TEXT),
    description=_required(_TEXT),
)
StaffNotificationRecipient = _type(
    "StaffNotificationRecipient",
    "A person who is notified of orders.",
    id=_required(graphene.ID),
    user="app.graphql.types.users.User",
    email=_TEXT,
    active=_FLAG,
)
ReducedRate = _type(
    "ReducedRate",
    "A reduced tax rate.",
    rate=_required(graphene.Float),
    rate_type=_required(_TEXT),
)
VAT = _type(
    "VAT",
    "The tax rates of a country.",
    country_code=_required(_TEXT),
    standard_rate=graphene.Float,
    reduced_rates=_items("ReducedRate"),
)
Invoice = _type(
    "Invoice",
    "An invoice.",
    id=_required(graphene.ID),
    status=_required("app.graphql.types.apps.JobStatusEnum"),
    created_at=_required(_MOMENT),
    updated_at=_required(_MOMENT),
    message=_TEXT,
    number=_TEXT,
    url=_TEXT,
)
ExportFile = _type(
    "ExportFile",
    "An exported file.",
    id=_required(graphene.ID),
    status=_required("app.graphql.types.apps.JobStatusEnum"),
    created_at=_required(_MOMENT),
    updated_at=_required(_MOMENT),
    message=_TEXT,
    url=_TEXT,
)
OrderEvent = _type(
    "OrderEvent",
    "What happened to an order.",
    id=_required(graphene.ID),
    date=_MOMENT,
    type=_TEXT,
    user="app.graphql.types.users.User",
    app="app.graphql.types.apps.App",
    message=_TEXT,
    email=_TEXT,
    order_number=_TEXT,
)
OrderEventCountableConnection = make_connection("OrderEvent", f"{_HERE}OrderEvent")

File = _type("File", "A file.", url=_required(_TEXT), content_type=_TEXT)
ProductType = _type(
    "ProductType", "A type of products.", id=_required(graphene.ID), name=_required(_TEXT)
)
AttributeValue = _type(
    "AttributeValue",
    "A value of an attribute.",
    id=_required(graphene.ID),
    name=_TEXT,
    slug=_TEXT,
    value=_TEXT,
    reference=graphene.ID,
    file=File,
    rich_text=graphene.JSONString,
    plain_text=_TEXT,
    boolean=_FLAG,
    date=graphene.Date,
    date_time=_MOMENT,
)
AttributeValueCountableConnection = make_connection("AttributeValue", f"{_HERE}AttributeValue")
PageType = _type(
    "PageType",
    "A type of pages.",
    id=_required(graphene.ID),
    name=_required(_TEXT),
    slug=_required(_TEXT),
    attributes=graphene.List(graphene.NonNull(f"{_HERE}Attribute")),
    has_pages=_FLAG,
)


class ReferenceType(graphene.Union):
    """What an attribute can refer to."""

    class Meta:
        types = (ProductType, PageType)


Attribute = _type(
    "Attribute",
    "An attribute of pages or products.",
    id=_required(graphene.ID),
    name=_required(_TEXT),
    slug=_required(_TEXT),
    type=_required(_TEXT),
    input_type=_TEXT,
    entity_type=_TEXT,
    unit=_TEXT,
    reference_types=graphene.List(graphene.NonNull(ReferenceType)),
    choices=graphene.Field(
        AttributeValueCountableConnection,
        description=_DESCRIPTION,
        search=graphene.String(description="Ignored."),
        **connection_arguments(),
    ),
    value_required=_required(_FLAG),
    visible_in_storefront=_required(_FLAG),
    filterable_in_storefront=_required(_FLAG),
    filterable_in_dashboard=_required(_FLAG),
    available_in_grid=_required(_FLAG),
    storefront_search_position=_required(_NUMBER),
)
GiftCard = _type(
    "GiftCard",
    "A gift card.",
    id=_required(graphene.ID),
    last4_code_chars=graphene.Field(
        _required(_TEXT), name="last4CodeChars", description=_DESCRIPTION
    ),
    expiry_date=graphene.Date,
    is_active=_required(_FLAG),
    current_balance=_required("app.graphql.types.money.Money"),
)
GiftCardCountableConnection = make_connection("GiftCard", f"{_HERE}GiftCard")
TimePeriodTypeEnum = _enum(
    "TimePeriodTypeEnum", "Units of a period.", "DAY", "WEEK", "MONTH", "YEAR"
)
TimePeriod = _type(
    "TimePeriod",
    "A length of time.",
    amount=_required(_NUMBER),
    type=_required(TimePeriodTypeEnum),
)
GiftCardSettingsExpiryTypeEnum = _enum(
    "GiftCardSettingsExpiryTypeEnum",
    "Whether gift cards expire.",
    "NEVER_EXPIRE",
    "EXPIRY_PERIOD",
)
GiftCardSettings = _type(
    "GiftCardSettings",
    "How gift cards are made.",
    expiry_type=graphene.Field(
        _required(GiftCardSettingsExpiryTypeEnum),
        description="Always `NEVER_EXPIRE`.",
        resolver=lambda *_: "NEVER_EXPIRE",
    ),
    expiry_period=graphene.Field(TimePeriod, description="Always null.", resolver=lambda *_: None),
)
Limits = _type(
    "Limits",
    "Numbers of objects.",
    **dict.fromkeys(
        ("channels", "orders", "product_variants", "staff_users", "warehouses"), _NUMBER
    ),
)
LimitInfo = _type(
    "LimitInfo",
    "What a subscription of Saleor Cloud includes.",
    current_usage=graphene.Field(
        graphene.NonNull(Limits), description="Empty.", resolver=lambda *_: {}
    ),
    allowed_usage=graphene.Field(
        graphene.NonNull(Limits), description="Empty.", resolver=lambda *_: {}
    ),
)
