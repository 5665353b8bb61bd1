"""The shop, its settings and its two switches."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.authorization.permissions import Permission, in_order
from app.domain.shop import settings as domain
from app.domain.values.ids import to_global_id
from app.domain.values.version import INTERFACE_VERSION, SCHEMA_VERSION
from app.graphql.context import RequestContext
from app.services.identity.providers import ExternalAuthentication as ExternalAuthenticationValue
from app.services.identity.providers import list_external_authentications
from app.services.shop.settings import show_settings

_MODES = {
    domain.PasswordLoginMode.ENABLED: "Whoever has a password may.",
    domain.PasswordLoginMode.CUSTOMERS_ONLY: (
        "Customers may. Staff may too, but such a session has no staff permission."
    ),
    domain.PasswordLoginMode.DISABLED: (
        "Nobody may; `passwordChange`, `setPassword` and `requestPasswordReset` are refused, too."
    ),
}


def _mode(mode: domain.PasswordLoginMode | None) -> str:
    return "Who may sign in by password." if mode is None else _MODES[mode]


PasswordLoginModeEnum = graphene.Enum.from_enum(
    domain.PasswordLoginMode, name="PasswordLoginModeEnum", description=_mode
)


class ExternalAuthentication(graphene.ObjectType):
    """A way in through an identity provider."""

    id = graphene.NonNull(graphene.String)
    name = graphene.String()


def _settings(info: GraphQLResolveInfo) -> domain.Shop:
    context: RequestContext = info.context
    return show_settings(context.ports, context.actor)


class Shop(graphene.ObjectType):
    """The shop. Settings beside name, description and switches need MANAGE_SETTINGS."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    description = graphene.String()
    password_login_mode = graphene.NonNull(PasswordLoginModeEnum)
    allow_storefront_traffic = graphene.NonNull(graphene.Boolean)
    available_external_authentications = graphene.NonNull(
        graphene.List(graphene.NonNull(ExternalAuthentication))
    )
    default_mail_sender_name = graphene.String(description="Needs MANAGE_SETTINGS.")
    default_mail_sender_address = graphene.String(description="Needs MANAGE_SETTINGS.")
    customer_set_password_url = graphene.String(description="Needs MANAGE_SETTINGS.")
    enable_account_confirmation_by_email = graphene.Boolean(description="Needs MANAGE_SETTINGS.")
    allow_login_without_confirmation = graphene.Boolean(description="Needs MANAGE_SETTINGS.")
    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission")),
        description="Every permission there is.",
    )
    version = graphene.NonNull(graphene.String)
    schema_version = graphene.NonNull(graphene.String)

    def resolve_id(self: domain.Shop, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Shop", "1")

    def resolve_available_external_authentications(
        self: domain.Shop, info: GraphQLResolveInfo
    ) -> tuple[ExternalAuthenticationValue, ...]:
        context: RequestContext = info.context
        return list_external_authentications(context.ports, context.actor)

    def resolve_default_mail_sender_name(self: domain.Shop, info: GraphQLResolveInfo) -> str:
        return _settings(info).default_mail_sender_name

    def resolve_default_mail_sender_address(self: domain.Shop, info: GraphQLResolveInfo) -> str:
        return _settings(info).default_mail_sender_address

    def resolve_customer_set_password_url(self: domain.Shop, info: GraphQLResolveInfo) -> str:
        return _settings(info).customer_set_password_url

    def resolve_enable_account_confirmation_by_email(
        self: domain.Shop, info: GraphQLResolveInfo
    ) -> bool:
        return _settings(info).enable_account_confirmation_by_email

    def resolve_allow_login_without_confirmation(
        self: domain.Shop, info: GraphQLResolveInfo
    ) -> bool:
        return _settings(info).allow_login_without_confirmation

    def resolve_permissions(
        self: domain.Shop, _info: GraphQLResolveInfo
    ) -> tuple[Permission, ...]:
        return in_order(frozenset(Permission))

    def resolve_version(self: domain.Shop, _info: GraphQLResolveInfo) -> str:
        return INTERFACE_VERSION

    def resolve_schema_version(self: domain.Shop, _info: GraphQLResolveInfo) -> str:
        return SCHEMA_VERSION
