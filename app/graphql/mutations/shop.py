"""Change the shop's settings."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.shop.setting_table import SETTINGS, SettingKind
from app.domain.shop.settings import ShopUpdate
from app.domain.values.uploads import Upload
from app.graphql.context import RequestContext
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.shop.logo import delete_logo, update_logo
from app.services.shop.settings import update_shop

_TYPES = {
    SettingKind.SWITCH: graphene.Boolean,
    SettingKind.MOMENT: graphene.DateTime,
    SettingKind.LOGIN_MODE: "app.graphql.types.shop.PasswordLoginModeEnum",
    SettingKind.SECOND_FACTOR: "app.graphql.types.shop.StaffSecondFactorEnum",
    SettingKind.MAIL_SENDER: "app.graphql.types.shop.MailSenderEnum",
    SettingKind.DAYS: graphene.Int,
    SettingKind.LANGUAGE: "app.graphql.types.languages.LanguageCodeEnum",
}

ShopSettingsInput: Any = type(
    "ShopSettingsInput",
    (graphene.InputObjectType,),
    {
        "__doc__": "Settings to change; omitted settings keep their values.",
        **{
            setting.name: graphene.InputField(
                _TYPES.get(setting.kind, graphene.String), description=setting.help
            )
            for setting in SETTINGS
        },
    },
)


class ShopSettingsUpdate(MutationPayload):
    """The shop after the change."""

    shop = graphene.Field("app.graphql.types.shop.Shop")
    errors = errors_of("problems.ShopError")


class ShopLogoUpdate(MutationPayload):
    """The shop with the new logo."""

    shop = graphene.Field("app.graphql.types.shop.Shop")
    errors = errors_of("problems.ShopError")


class ShopLogoDelete(MutationPayload):
    """The shop without a logo."""

    shop = graphene.Field("app.graphql.types.shop.Shop")
    errors = errors_of("problems.ShopError")


class ShopMutations(graphene.ObjectType):
    """The shop's settings and its two switches."""

    shop_settings_update = graphene.Field(
        ShopSettingsUpdate,
        description=(
            "Updates the shop's settings. If a setting is refused, none is changed. "
            "Requires MANAGE_SETTINGS. Password login can't be restricted in a password "
            "session."
        ),
        input=ShopSettingsInput(),
    )

    shop_logo_update = graphene.Field(
        ShopLogoUpdate,
        description=(
            "Replaces the logo that emails show. Accepts PNG, JPEG, WebP and GIF; the image is "
            "scaled down to 480 by 112 pixels and its metadata is removed. Requires "
            "MANAGE_SETTINGS."
        ),
        image=graphene.Argument("app.graphql.types.uploads.Upload", required=True),
    )
    shop_logo_delete = graphene.Field(
        ShopLogoDelete,
        description="Removes the logo from emails. Requires MANAGE_SETTINGS.",
    )

    @staticmethod
    @answers(ShopLogoUpdate)
    def resolve_shop_logo_update(
        _root: object, info: GraphQLResolveInfo, image: Upload
    ) -> ShopLogoUpdate:
        context: RequestContext = info.context
        return ShopLogoUpdate(shop=update_logo(context.ports, context.actor, image))

    @staticmethod
    @answers(ShopLogoDelete)
    def resolve_shop_logo_delete(_root: object, info: GraphQLResolveInfo) -> ShopLogoDelete:
        context: RequestContext = info.context
        return ShopLogoDelete(shop=delete_logo(context.ports, context.actor))

    @staticmethod
    @answers(ShopSettingsUpdate)
    def resolve_shop_settings_update(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any] | None = None
    ) -> ShopSettingsUpdate:
        context: RequestContext = info.context
        shop = update_shop(context.ports, context.actor, ShopUpdate(**(input or {})))
        return ShopSettingsUpdate(shop=shop)
