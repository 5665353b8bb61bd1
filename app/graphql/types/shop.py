"""The shop, its settings and its two switches."""

from dataclasses import dataclass
from datetime import datetime

import graphene
from graphql import GraphQLResolveInfo

from app.domain.authorization.permissions import Permission, in_order
from app.domain.mails.design import logo_path
from app.domain.mails.mail import MailSender
from app.domain.shop import settings as domain
from app.domain.shop.setting_table import SETTINGS, SettingKind, SettingValue
from app.domain.values.ids import to_global_id
from app.domain.values.installation import SCHEMA_VERSION
from app.graphql.context import RequestContext
from app.services.identity.providers import ExternalAuthentication as ExternalAuthenticationValue
from app.services.identity.providers import list_external_authentications
from app.services.shop.settings import show_settings, show_version

_MODES = {
    domain.PasswordLoginMode.ENABLED: "Anyone with a password can sign in with it.",
    domain.PasswordLoginMode.CUSTOMERS_ONLY: (
        "Customers can sign in with a password. Staff can too, but such a session has no staff "
        "permissions."
    ),
    domain.PasswordLoginMode.DISABLED: (
        "Password login is off; `tokenRefresh`, `passwordChange`, `setPassword` and "
        "`requestPasswordReset` are refused, too."
    ),
}


def _mode(mode: domain.PasswordLoginMode | None) -> str:
    return "Who can sign in with a password." if mode is None else _MODES[mode]


PasswordLoginModeEnum = graphene.Enum.from_enum(
    domain.PasswordLoginMode, name="PasswordLoginModeEnum", description=_mode
)


_SECOND_FACTOR = {
    domain.StaffSecondFactor.OPTIONAL: "Staff can add a second factor.",
    domain.StaffSecondFactor.REQUIRED: (
        "Staff need a second factor. After the grace period, sessions without one have the "
        "permissions of a customer."
    ),
}


def _second_factor(rule: domain.StaffSecondFactor | None) -> str:
    return "Whether staff need a second factor." if rule is None else _SECOND_FACTOR[rule]


StaffSecondFactorEnum = graphene.Enum.from_enum(
    domain.StaffSecondFactor, name="StaffSecondFactorEnum", description=_second_factor
)


_SENDERS = {
    MailSender.OURS: (
        "The shop sends the email. Apps get the event as well, and shouldn't send an email."
    ),
    MailSender.APP: (
        "An app sends the email. The shop sends it instead if no active app can receive the link, "
        "if the app hasn't accepted it 30 minutes after the request, and if it fails before."
    ),
    MailSender.BOTH: "The shop sends the email, and an app does, too.",
}


def _sender(sender: MailSender | None) -> str:
    return "Who sends a kind of email." if sender is None else _SENDERS[sender]


MailSenderEnum = graphene.Enum.from_enum(MailSender, name="MailSenderEnum", description=_sender)


@dataclass(frozen=True, slots=True)
class _Logo:
    url: str
    alt: str


class ExternalAuthentication(graphene.ObjectType):
    """An identity provider to sign in with."""

    id = graphene.NonNull(graphene.String)
    name = graphene.String()


_SETTINGS = {setting.name: setting for setting in SETTINGS}


_TYPES = {
    SettingKind.SWITCH: graphene.Boolean,
    SettingKind.MOMENT: graphene.DateTime,
    SettingKind.SECOND_FACTOR: StaffSecondFactorEnum,
    SettingKind.MAIL_SENDER: MailSenderEnum,
    SettingKind.DAYS: graphene.Int,
    SettingKind.LANGUAGE: "app.graphql.types.languages.LanguageCodeEnum",
}


def _managed(name: str) -> graphene.Field:
    """Return the field of the setting ``name``, which needs MANAGE_SETTINGS."""
    setting = _SETTINGS[name]

    def resolve(_shop: domain.PublicShop, info: GraphQLResolveInfo) -> SettingValue:
        context: RequestContext = info.context
        return setting.read(show_settings(context.ports, context.actor))

    return graphene.Field(
        _TYPES.get(setting.kind, graphene.String),
        description=f"{setting.help} Requires MANAGE_SETTINGS.",
        resolver=resolve,
    )


class Shop(graphene.ObjectType):
    """The shop. Its name, description and switches are public."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    description = graphene.String()
    password_login_mode = graphene.NonNull(PasswordLoginModeEnum)
    allow_storefront_traffic = graphene.NonNull(graphene.Boolean)
    storefront_note = _managed("storefront_note")
    storefront_opens_at = _managed("storefront_opens_at")
    available_external_authentications = graphene.NonNull(
        graphene.List(graphene.NonNull(ExternalAuthentication))
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
    logo = graphene.Field(
        "app.graphql.types.users.Image",
        description="The logo that emails show, as PNG. Requires MANAGE_SETTINGS.",
    )
    customer_set_password_url = _managed("customer_set_password_url")
    enable_account_confirmation_by_email = _managed("enable_account_confirmation_by_email")
    allow_login_without_confirmation = _managed("allow_login_without_confirmation")
    staff_second_factor = _managed("staff_second_factor")
    second_factor_grace_days = _managed("second_factor_grace_days")
    second_factor_required_from = graphene.DateTime(
        description="When staff without a second factor lose their staff permissions; null while "
        "it is optional. Requires MANAGE_SETTINGS."
    )
    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission")),
        description="All permissions.",
    )
    version = graphene.NonNull(
        graphene.String,
        description="The version of the API and, behind `+`, of this service. For staff and apps.",
    )
    schema_version = graphene.NonNull(graphene.String)

    def resolve_id(self: domain.PublicShop, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Shop", "1")

    def resolve_available_external_authentications(
        self: domain.PublicShop, info: GraphQLResolveInfo
    ) -> tuple[ExternalAuthenticationValue, ...]:
        context: RequestContext = info.context
        return list_external_authentications(context.ports, context.actor)

    def resolve_logo(self: domain.PublicShop, info: GraphQLResolveInfo) -> _Logo | None:
        context: RequestContext = info.context
        shop = show_settings(context.ports, context.actor)
        if not shop.logo:
            return None
        base_url = context.visitor.issuer.removesuffix("/graphql/")
        return _Logo(f"{base_url}{logo_path(shop.logo)}", shop.name)

    def resolve_second_factor_required_from(
        self: domain.PublicShop, info: GraphQLResolveInfo
    ) -> datetime | None:
        context: RequestContext = info.context
        return show_settings(context.ports, context.actor).second_factor_from

    def resolve_permissions(
        self: domain.PublicShop, _info: GraphQLResolveInfo
    ) -> tuple[Permission, ...]:
        return in_order(frozenset(Permission))

    def resolve_version(self: domain.PublicShop, info: GraphQLResolveInfo) -> str:
        context: RequestContext = info.context
        return show_version(context.ports, context.actor)

    def resolve_schema_version(self: domain.PublicShop, _info: GraphQLResolveInfo) -> str:
        return SCHEMA_VERSION
