"""Changing the shop's settings."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.context import RequestContext
from app.graphql.errors import PayloadProblem
from app.graphql.mutations.payloads import answers, errors_of
from app.services.shop.settings import ShopUpdate, update_shop


class ShopSettingsInput(graphene.InputObjectType):
    """Settings to change; what is left out stays as it is."""

    name = graphene.String()
    description = graphene.String()
    default_mail_sender_name = graphene.String()
    default_mail_sender_address = graphene.String()
    customer_set_password_url = graphene.String()
    enable_account_confirmation_by_email = graphene.Boolean()
    allow_login_without_confirmation = graphene.Boolean()
    allow_storefront_traffic = graphene.Boolean()
    password_login_mode = graphene.InputField("app.graphql.types.shop.PasswordLoginModeEnum")


class ShopSettingsUpdate(graphene.ObjectType):
    """The shop as it is now."""

    shop = graphene.Field("app.graphql.types.shop.Shop")
    errors = errors_of("ShopError")

    def resolve_errors(self, _info: GraphQLResolveInfo) -> list[PayloadProblem]:
        return self.errors or []


class ShopMutations(graphene.ObjectType):
    """The shop's settings and its two switches."""

    shop_settings_update = graphene.Field(
        ShopSettingsUpdate,
        description=(
            "Changes the shop's settings, all that are given or, when refused, none. Needs "
            "MANAGE_SETTINGS; whoever signed in by password cannot restrict the password login "
            "mode."
        ),
        input=ShopSettingsInput(),
    )

    @staticmethod
    @answers(ShopSettingsUpdate)
    def resolve_shop_settings_update(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any] | None = None
    ) -> ShopSettingsUpdate:
        context: RequestContext = info.context
        shop = update_shop(context.ports, context.actor, ShopUpdate(**(input or {})))
        return ShopSettingsUpdate(shop=shop)
