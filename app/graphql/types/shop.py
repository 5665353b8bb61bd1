"""The shop, its settings, its two switches and its channels."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import graphene

from app.domain.accounts import addresses
from app.domain.accounts.languages import LANGUAGE_NAMES
from app.domain.accounts.users import NO_KEY
from app.domain.authorization.permissions import Permission, in_order
from app.domain.commerce import channels as domain
from app.domain.commerce.money import CURRENCY
from app.domain.mails.design import logo_path
from app.domain.mails.mail import MailSender
from app.domain.shop import settings
from app.domain.shop.setting_table import SETTINGS, SettingKind, SettingValue
from app.domain.values.ids import to_global_id
from app.domain.values.installation import SCHEMA_VERSION
from app.graphql.compatibility import constant
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.fields import ObjectType, described_enum, own_id
from app.graphql.metadata_fields import ObjectWithMetadata
from app.graphql.unavailable import with_unavailable
from app.services.commerce.channels import show_channel_details
from app.services.identity.providers import list_external_authentications
from app.services.shop.settings import show_company_address, show_settings, show_version

PasswordLoginModeEnum = described_enum(
    settings.PasswordLoginMode,
    "PasswordLoginModeEnum",
    "Who can sign in with a password.",
    {
        "ENABLED": "Anyone with a password can sign in with it.",
        "CUSTOMERS_ONLY": "Customers can sign in with a password. Staff can too, but such a "
        "session has no staff permissions.",
        "DISABLED": "Password login is off; `tokenRefresh`, `passwordChange`, `setPassword` and "
        "`requestPasswordReset` are refused, too.",
    },
)
StaffSecondFactorEnum = described_enum(
    settings.StaffSecondFactor,
    "StaffSecondFactorEnum",
    "Whether staff need a second factor.",
    {
        "OPTIONAL": "Staff can add a second factor.",
        "REQUIRED": "Staff need a second factor. After the grace period, sessions without one "
        "have the permissions of a customer.",
    },
)
MailSenderEnum = described_enum(
    MailSender,
    "MailSenderEnum",
    "Who sends a kind of email.",
    {
        "OURS": "The shop sends the email. Apps get the event as well, and shouldn't send an "
        "email.",
        "APP": "An app sends the email. The shop sends it instead if no active app can receive "
        "the link, if the app hasn't accepted it 30 minutes after the request, and if it fails "
        "before.",
        "BOTH": "The shop sends the email, and an app does, too.",
    },
)

_UNAVAILABLE = "app.graphql.unavailable."
_FLAG = graphene.NonNull(graphene.Boolean)
_IGNORED = "Ignored."
_TAXES = "Taxes are set elsewhere."


class ExternalAuthentication(graphene.ObjectType):
    """An identity provider to sign in with."""

    id = graphene.NonNull(graphene.String)
    name = graphene.String()


class Domain(graphene.ObjectType):
    """Where the API is reached."""

    host = graphene.NonNull(graphene.String, description="Its host, and its port if it has one.")
    ssl_enabled = graphene.NonNull(graphene.Boolean, description="Whether it is HTTPS.")
    url = graphene.NonNull(graphene.String)


class CountryFilterInput(graphene.InputObjectType):
    """Filters for countries."""

    attached_to_shipping_zones = graphene.Boolean(
        description="With true, those that are shipped to: none, shipping isn't done here."
    )


def _items(name: str) -> graphene.NonNull:
    return graphene.NonNull(graphene.List(graphene.NonNull(f"{_UNAVAILABLE}{name}")))


SETTING_TYPES: Mapping[SettingKind, Any] = {
    SettingKind.SWITCH: graphene.Boolean,
    SettingKind.MOMENT: graphene.DateTime,
    SettingKind.LOGIN_MODE: PasswordLoginModeEnum,
    SettingKind.SECOND_FACTOR: StaffSecondFactorEnum,
    SettingKind.MAIL_SENDER: MailSenderEnum,
    SettingKind.DAYS: graphene.Int,
    SettingKind.NUMBER: graphene.Int,
    SettingKind.LANGUAGE: "app.graphql.types.languages.LanguageCodeEnum",
}
"""The types of settings that aren't texts, as fields and as inputs."""


_SETTINGS = {setting.name: setting for setting in SETTINGS}


def _managed(name: str) -> graphene.Field:
    """Return the field of the setting ``name``, which needs MANAGE_SETTINGS."""
    setting = _SETTINGS[name]

    def resolve(_shop: settings.PublicShop, info: Info) -> SettingValue:
        return setting.read(show_settings(*info.context.caller))

    return graphene.Field(
        SETTING_TYPES.get(setting.kind, graphene.String),
        description=f"{setting.help} Requires MANAGE_SETTINGS.",
        resolver=resolve,
    )


class Shop(ObjectType, interfaces=(ObjectWithMetadata,)):
    """The shop. Its name, description and switches are public."""

    id = graphene.NonNull(graphene.ID, resolver=lambda *_: to_global_id("Shop", settings.SHOP_ID))
    name = graphene.NonNull(graphene.String)
    description = graphene.String()
    password_login_mode = graphene.NonNull(PasswordLoginModeEnum)
    allow_storefront_traffic = graphene.NonNull(graphene.Boolean)
    storefront_note = _managed("storefront_note")
    storefront_opens_at = _managed("storefront_opens_at")
    available_external_authentications = graphene.NonNull(
        graphene.List(graphene.NonNull(ExternalAuthentication)),
        resolver=lambda _shop, info: list_external_authentications(*info.context.caller),
    )
    default_mail_sender_name = _managed("default_mail_sender_name")
    default_mail_sender_address = _managed("default_mail_sender_address")
    mail_reply_to = _managed("mail_reply_to")
    accent_color = _managed("accent_color")
    mail_footer = _managed("mail_footer")
    mail_legal_line = _managed("mail_legal_line")
    default_language = _managed("default_language")
    password_reset_sender = _managed("password_reset_sender")
    account_confirmation_sender = _managed("account_confirmation_sender")
    email_change_request_sender = _managed("email_change_request_sender")
    customer_invitation_sender = _managed("customer_invitation_sender")
    staff_invitation_sender = _managed("staff_invitation_sender")
    webhook_alerts = _managed("webhook_alerts")
    webhook_alert_failures = _managed("webhook_alert_failures")
    webhook_alert_percent = _managed("webhook_alert_percent")
    webhook_alert_attempts = _managed("webhook_alert_attempts")
    logo = graphene.Field(
        "app.graphql.types.users.Image",
        description="The logo that emails show, as PNG. Requires MANAGE_SETTINGS.",
    )
    customer_set_password_url = _managed("customer_set_password_url")
    enable_account_confirmation_by_email = _managed("enable_account_confirmation_by_email")
    allow_login_without_confirmation = _managed("allow_login_without_confirmation")
    hosted_pages = _managed("hosted_pages")
    hosted_password_login = _managed("hosted_password_login")
    hosted_passkey_login = _managed("hosted_passkey_login")
    hosted_provider_login = _managed("hosted_provider_login")
    email_code_login = _managed("email_code_login")
    staff_second_factor = _managed("staff_second_factor")
    second_factor_grace_days = _managed("second_factor_grace_days")
    second_factor_required_from = graphene.DateTime(
        description="When staff without a second factor lose their staff permissions; null while "
        "it is optional. Requires MANAGE_SETTINGS.",
        resolver=lambda _shop, info: show_settings(*info.context.caller).second_factor_from,
    )
    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission")),
        description="All permissions.",
        resolver=lambda *_: in_order(frozenset(Permission)),
    )
    countries = graphene.Field(
        graphene.NonNull(
            graphene.List(graphene.NonNull("app.graphql.types.addresses.CountryDisplay"))
        ),
        description="All countries, by their codes.",
        language_code=graphene.Argument(
            "app.graphql.types.languages.LanguageCodeEnum",
            description="Ignored: names are English.",
        ),
        filter=CountryFilterInput(),
    )
    languages = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.languages.LanguageDisplay")),
        description="The languages that people can choose.",
    )
    phone_prefixes = graphene.NonNull(
        graphene.List(graphene.NonNull(graphene.String)),
        description="The calling codes of all countries.",
        resolver=lambda *_: addresses.PHONE_PREFIXES,
    )
    channel_currencies = graphene.NonNull(
        graphene.List(graphene.NonNull(graphene.String)),
        description="The currencies that the shop sells in.",
        resolver=lambda *_: (CURRENCY,),
    )
    company_address = graphene.Field(
        "app.graphql.types.addresses.Address",
        description="The address of the company behind the shop; null without one.",
    )
    default_country = graphene.Field(
        "app.graphql.types.addresses.CountryDisplay",
        description="The country of the company's address; null without one.",
    )
    domain = graphene.NonNull(Domain, description="Where the API is reached.")
    announcements = constant("Shop.announcements", _items("Announcement"))
    available_payment_gateways = constant(
        "Shop.availablePaymentGateways",
        _items("PaymentGateway"),
        currency=graphene.String(description=_IGNORED),
        channel=graphene.String(description=_IGNORED),
    )
    available_shipping_methods = constant(
        "Shop.availableShippingMethods",
        graphene.List(graphene.NonNull(f"{_UNAVAILABLE}ShippingMethod")),
        channel=graphene.Argument(graphene.String, required=True, description=_IGNORED),
        address=graphene.Argument(
            "app.graphql.root_fields.addresses.AddressInput", description=_IGNORED
        ),
    )
    available_tax_apps = constant(
        "Shop.availableTaxApps",
        graphene.NonNull(graphene.List(graphene.NonNull("app.graphql.types.apps.App"))),
    )
    staff_notification_recipients = constant(
        "Shop.staffNotificationRecipients",
        graphene.List(graphene.NonNull(f"{_UNAVAILABLE}StaffNotificationRecipient")),
    )
    translation = constant(
        "Shop.translation",
        f"{_UNAVAILABLE}ShopTranslation",
        language_code=graphene.Argument(
            "app.graphql.types.languages.LanguageCodeEnum", required=True, description=_IGNORED
        ),
    )
    limits = constant(
        "Shop.limits", graphene.NonNull(f"{_UNAVAILABLE}LimitInfo"), "Saleor will remove it."
    )
    header_text = constant("Shop.headerText", graphene.String)
    default_weight_unit = constant("Shop.defaultWeightUnit", f"{_UNAVAILABLE}WeightUnitsEnum")
    track_inventory_by_default = constant("Shop.trackInventoryByDefault", graphene.Boolean)
    fulfillment_auto_approve = constant("Shop.fulfillmentAutoApprove", _FLAG)
    fulfillment_allow_unpaid = constant("Shop.fulfillmentAllowUnpaid", _FLAG)
    reserve_stock_duration_anonymous_user = constant(
        "Shop.reserveStockDurationAnonymousUser", graphene.Int
    )
    reserve_stock_duration_authenticated_user = constant(
        "Shop.reserveStockDurationAuthenticatedUser", graphene.Int
    )
    limit_quantity_per_checkout = constant("Shop.limitQuantityPerCheckout", graphene.Int)
    preserve_all_address_fields = constant("Shop.preserveAllAddressFields", _FLAG)
    include_taxes_in_prices = constant("Shop.includeTaxesInPrices", _FLAG, _TAXES)
    display_gross_prices = constant("Shop.displayGrossPrices", _FLAG, _TAXES)
    charge_taxes_on_shipping = constant("Shop.chargeTaxesOnShipping", _FLAG, _TAXES)
    use_legacy_shipping_zone_stock_availability = constant(
        "Shop.useLegacyShippingZoneStockAvailability", _FLAG
    )
    use_legacy_update_webhook_emission = constant(
        "Shop.useLegacyUpdateWebhookEmission", graphene.Boolean, "Saleor will remove it."
    )
    account_confirm_merge_mode = constant(
        "Shop.accountConfirmMergeMode", graphene.NonNull(f"{_UNAVAILABLE}AccountConfirmModeEnum")
    )
    version = graphene.NonNull(
        graphene.String,
        description="The version of the API and, behind `+`, of this service. For staff and apps.",
        resolver=lambda _shop, info: show_version(*info.context.caller),
    )
    schema_version = graphene.NonNull(graphene.String, resolver=lambda *_: SCHEMA_VERSION)

    def resolve_countries(
        self: settings.PublicShop,
        _info: Info,
        language_code: object = None,
        filter: dict[str, Any] | None = None,
    ) -> list[dict[str, str]]:
        if (filter or {}).get("attached_to_shipping_zones"):
            return []
        return [{"code": code, "country": name} for code, name in addresses.COUNTRY_NAMES.items()]

    def resolve_languages(self: settings.PublicShop, _info: Info) -> list[dict[str, str]]:
        return [{"code": code, "language": name} for code, name in LANGUAGE_NAMES.items()]

    def resolve_company_address(self: settings.PublicShop, info: Info) -> addresses.Address | None:
        details = show_company_address(*info.context.caller)
        if details == addresses.NO_DETAILS:
            return None
        return addresses.Address(id=NO_KEY, user_id=NO_KEY, **asdict(details))

    def resolve_default_country(self: settings.PublicShop, info: Info) -> dict[str, str] | None:
        code = show_company_address(*info.context.caller).country
        return {"code": code, "country": addresses.country_name(code)} if code else None

    def resolve_domain(self: settings.PublicShop, info: Info) -> dict[str, object]:
        url = info.context.visitor.issuer.removesuffix("/graphql/")
        parts = urlsplit(url)
        return {"host": parts.netloc, "ssl_enabled": parts.scheme == "https", "url": f"{url}/"}

    def resolve_logo(self: settings.PublicShop, info: Info) -> dict[str, str] | None:
        shop = show_settings(*info.context.caller)
        if not shop.logo:
            return None
        base_url = info.context.visitor.issuer.removesuffix("/graphql/")
        return {"url": f"{base_url}{logo_path(shop.logo)}", "alt": shop.name}


_FOR_STAFF = "For staff and apps."


class AllocationStrategyEnum(graphene.Enum):
    """From which warehouses Saleor takes goods first. There are no warehouses here."""

    PRIORITIZE_SORTING_ORDER = "prioritize-sorting-order"
    PRIORITIZE_HIGH_STOCK = "prioritize-high-stock"


class StockSettings(graphene.ObjectType):
    """How Saleor allocates stock in a channel."""

    allocation_strategy = graphene.NonNull(
        AllocationStrategyEnum,
        description="Always PRIORITIZE_SORTING_ORDER, Saleor's default: there are no warehouses.",
    )


@with_unavailable
class Channel(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """A channel: a place where the shop sells. Carts and orders belong to one."""

    id = own_id("Channel")
    slug = graphene.NonNull(graphene.String, description="The name that clients send.")
    name = graphene.NonNull(graphene.String, description=f"The name. {_FOR_STAFF}")
    is_active = graphene.NonNull(
        graphene.Boolean, description=f"Whether carts can be created in it. {_FOR_STAFF}"
    )
    currency_code = graphene.NonNull(
        graphene.String, description=f"The currency by its code of ISO 4217. {_FOR_STAFF}"
    )
    has_orders = graphene.NonNull(
        graphene.Boolean, description="Whether it has orders. Requires MANAGE_CHANNELS."
    )
    default_country = graphene.NonNull(
        "app.graphql.types.addresses.CountryDisplay",
        description=f"The country that it is meant for. {_FOR_STAFF}",
    )
    stock_settings = graphene.NonNull(
        StockSettings, description=f"How stock is allocated. {_FOR_STAFF}"
    )

    def resolve_name(self: domain.Channel, info: Info) -> str:
        return _details(self, info).name

    def resolve_is_active(self: domain.Channel, info: Info) -> bool:
        return _details(self, info).is_active

    def resolve_currency_code(self: domain.Channel, info: Info) -> str:
        return _details(self, info).currency

    def resolve_has_orders(self: domain.Channel, info: Info) -> bool:
        return self.id in info.context.loaders(info).channels.with_orders

    def resolve_default_country(self: domain.Channel, info: Info) -> addresses.Country:
        return addresses.country_of(_details(self, info).country)

    def resolve_stock_settings(self: domain.Channel, info: Info) -> StockSettings:
        _details(self, info)
        strategy = AllocationStrategyEnum.PRIORITIZE_SORTING_ORDER
        return StockSettings(allocation_strategy=strategy)


def _details(channel: domain.Channel, info: Info) -> domain.Channel:
    """Return the channel; raises ``PermissionDenied`` to callers who see its slug alone."""
    return show_channel_details(*info.context.caller, channel)
