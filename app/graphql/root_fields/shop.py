"""Show the shop, its channels, emails and templates, and change them."""

from enum import Enum
from typing import Any

import graphene

from app.domain.commerce.channels import ChannelChanges, NewChannel
from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailFilter
from app.domain.mails.own_templates import OwnTemplate, TemplatePart
from app.domain.shop.setting_table import SETTINGS
from app.domain.shop.settings import PublicShop, ShopUpdate
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import ABSENT, Upload
from app.domain.values.pages import Page, Range
from app.graphql.compatibility import SHOP_INPUTS, constant_input, without_constants
from app.graphql.connections import connection_arguments, make_connection, page_request, times_in
from app.graphql.context import Info
from app.graphql.fields import key_in
from app.graphql.root_fields.addresses import AddressInput, address_change
from app.graphql.root_fields.metadata import metadata_input, pairs
from app.graphql.root_fields.payloads import (
    MutationPayload,
    errors_of,
    former_errors_of,
    mutation,
    query,
)
from app.graphql.types.mails import MailFilterInput, template_arguments, template_language
from app.graphql.types.shop import SETTING_TYPES
from app.services.commerce.channels import (
    create_channel,
    delete_channel,
    set_channel_active,
    update_channel,
)
from app.services.mails.mail_log import list_mails
from app.services.mails.mail_templates import (
    TemplateDetails,
    TemplateEntry,
    list_templates,
    reset_template,
    save_template,
    show_template,
)
from app.services.shop.settings import (
    delete_logo,
    update_company_address,
    update_logo,
    update_shop,
)

_METADATA = ("metadata", "private_metadata")

ShopSettingsInput: Any = type(
    "ShopSettingsInput",
    (graphene.InputObjectType,),
    {
        "__doc__": "Settings to change; omitted settings keep their values.",
        **{
            setting.name: graphene.InputField(
                SETTING_TYPES.get(setting.kind, graphene.String), description=setting.help
            )
            for setting in SETTINGS
        },
        **{
            name: constant_input(f"ShopSettingsInput.{name}", kind)
            for name, kind in SHOP_INPUTS.items()
        },
        "metadata": metadata_input(),
        "private_metadata": metadata_input("private"),
    },
)


class _ShopPayload(MutationPayload, abstract=True):
    shop = graphene.Field("app.graphql.types.shop.Shop")
    errors = errors_of("problems.ShopError")


class _FormerShopPayload(_ShopPayload, abstract=True):
    shop_errors = former_errors_of("problems.ShopError")


class ShopSettingsUpdate(_FormerShopPayload):
    """The shop after the change."""


class ShopAddressUpdate(_FormerShopPayload):
    """The shop with its new address."""


class ShopLogoUpdate(_ShopPayload):
    """The shop with the new logo."""


class ShopLogoDelete(_ShopPayload):
    """The shop without a logo."""


class _TemplatePayload(MutationPayload, abstract=True):
    template = graphene.Field(
        "app.graphql.types.mails.MailTemplateSources", description="What is used now."
    )
    errors = errors_of("mails.MailTemplateError")


class MailTemplateSave(_TemplatePayload):
    """The template with its new version."""


class MailTemplateReset(_TemplatePayload):
    """The default."""


class ShopMutations(graphene.ObjectType):
    """The shop's settings, its two switches, and its email templates."""

    @mutation(
        "Updates the shop's settings. If a setting is refused, none is changed. "
        "Requires MANAGE_SETTINGS. Password login can't be restricted in a password "
        "session.",
        input=ShopSettingsInput(),
    )
    def shop_settings_update(
        _root: object, info: Info, input: dict[str, Any] | None = None
    ) -> ShopSettingsUpdate:
        values = without_constants("ShopSettingsInput", input or {})
        public, private = (pairs(values.pop(name, None)) for name in _METADATA)
        shop = update_shop(
            *info.context.caller, ShopUpdate(**values), metadata=public, private_metadata=private
        )
        return ShopSettingsUpdate(shop=shop)

    @mutation(
        "Changes the address of the company behind the shop, which emails end with without a "
        "legal line; null deletes it. Requires MANAGE_SETTINGS.",
        input=AddressInput(description="The address; omitted fields keep their values."),
    )
    def shop_address_update(
        _root: object, info: Info, input: dict[str, Any] | None = None
    ) -> ShopAddressUpdate:
        if input and input.get("metadata"):
            message = "The company's address has no metadata. Set the shop's."
            raise Refused(Problem("INVALID", message, "metadata"))
        change = None if input is None else address_change(input)
        shop = update_company_address(*info.context.caller, change)
        return ShopAddressUpdate(shop=shop)

    @mutation(
        "Replaces the logo that emails show. Accepts PNG, JPEG, WebP and GIF; the image is "
        "scaled down to 480 by 112 pixels and its metadata is removed. Requires "
        "MANAGE_SETTINGS.",
        image=graphene.Argument("app.graphql.root_fields.products.Upload", required=True),
    )
    def shop_logo_update(_root: object, info: Info, image: Upload) -> ShopLogoUpdate:
        return ShopLogoUpdate(shop=update_logo(*info.context.caller, image))

    @mutation("Removes the logo from emails. Requires MANAGE_SETTINGS.")
    def shop_logo_delete(_root: object, info: Info) -> ShopLogoDelete:
        return ShopLogoDelete(shop=delete_logo(*info.context.caller))

    @mutation(
        "Checks an email template, saves it as a new version and uses it for new emails. "
        "For staff with MANAGE_SETTINGS.",
        input=graphene.Argument(
            "app.graphql.types.mails.MailTemplateInput", required=True, description="The template."
        ),
    )
    def mail_template_save(_root: object, info: Info, input: dict[str, Any]) -> MailTemplateSave:
        kind, language = input["kind"], template_language(input.get("language_code"))
        template = OwnTemplate.entered(*(input[part.value] for part in TemplatePart))
        based_on = input["based_on"]
        save_template(*info.context.caller, kind, language, template, based_on=based_on)
        details = show_template(*info.context.caller, kind, language)
        return MailTemplateSave(template=details)

    @mutation(
        "Uses the default email again. Versions are kept. For staff with MANAGE_SETTINGS.",
        **template_arguments(),
    )
    def mail_template_reset(
        _root: object, info: Info, kind: MailKind, language_code: Enum | None = None
    ) -> MailTemplateReset:
        language = template_language(language_code)
        reset_template(*info.context.caller, kind, language)
        details = show_template(*info.context.caller, kind, language)
        return MailTemplateReset(template=details)


class ShopQueries(graphene.ObjectType):
    """The shop."""

    @query(
        graphene.NonNull("app.graphql.types.shop.Shop"),
        description="The shop and its settings. Anyone can read it; some fields need a "
        "permission.",
    )
    def shop(_root: object, info: Info) -> PublicShop:
        return info.context.identity.shop


_COUNTRY = "app.graphql.types.addresses.CountryCode"
_ID = graphene.NonNull(graphene.ID, description="The global ID of the channel.")
_ACTIVE = "Whether carts can be created in it."


class ChannelCreateInput(graphene.InputObjectType):
    """The channel to create."""

    name = graphene.NonNull(graphene.String)
    slug = graphene.NonNull(graphene.String, description="The name that clients send.")
    currency_code = graphene.NonNull(
        graphene.String,
        description="The currency by its code of ISO 4217. It can't be changed later.",
    )
    default_country = graphene.InputField(
        graphene.NonNull(_COUNTRY), description="The country that it is meant for."
    )
    is_active = graphene.Boolean(description=f"{_ACTIVE} False by default, as in Saleor.")
    metadata = metadata_input()
    private_metadata = metadata_input("private")


class ChannelUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    name = graphene.String()
    slug = graphene.String(description="The name that clients send.")
    default_country = graphene.InputField(
        _COUNTRY, description="The country that it is meant for."
    )
    is_active = graphene.Boolean(description=_ACTIVE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")


class ChannelDeleteInput(graphene.InputObjectType):
    """Where a deleted channel's orders go."""

    channel_id = graphene.NonNull(
        graphene.ID,
        description="The channel, of the same currency, that orders and carts move to.",
    )


class ChannelPayload(MutationPayload, abstract=True):
    """``errors``, and the channel."""

    errors = errors_of("problems.ChannelError")
    channel_errors = former_errors_of("problems.ChannelError")
    channel = graphene.Field("app.graphql.types.shop.Channel", description="The channel.")


class ChannelCreate(ChannelPayload):
    """The new channel."""


class ChannelUpdate(ChannelPayload):
    """The updated channel."""


class ChannelDelete(ChannelPayload):
    """The deleted channel."""


class ChannelActivate(ChannelPayload):
    """The active channel."""


class ChannelDeactivate(ChannelPayload):
    """The inactive channel."""


class ChannelMutations(graphene.ObjectType):
    """Channels (MANAGE_CHANNELS)."""

    @mutation(
        "Creates a channel. Requires MANAGE_CHANNELS.", input=graphene.NonNull(ChannelCreateInput)
    )
    def channel_create(_root: object, info: Info, input: dict[str, Any]) -> ChannelCreate:
        new = NewChannel(
            name=input["name"],
            slug=input["slug"],
            currency=input["currency_code"],
            country=input["default_country"].value,
            is_active=bool(input.get("is_active")),
        )
        channel = create_channel(*info.context.caller, new, *_metadata(input))
        return ChannelCreate(channel=channel)

    @mutation(
        "Updates a channel. Requires MANAGE_CHANNELS.",
        id=_ID,
        input=graphene.NonNull(ChannelUpdateInput),
    )
    def channel_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> ChannelUpdate:
        country = input.get("default_country")
        changes = ChannelChanges(
            name=(input["name"] or "") if "name" in input else ABSENT,
            slug=(input["slug"] or "") if "slug" in input else ABSENT,
            country=ABSENT if country is None else country.value,
            is_active=ABSENT if input.get("is_active") is None else input["is_active"],
        )
        channel = update_channel(*info.context.caller, id, changes, *_metadata(input))
        return ChannelUpdate(channel=channel)

    @mutation(
        "Deletes a channel. Its orders and carts move to the channel of `input`; without it, "
        "its carts are deleted, and one with orders can't be deleted. Requires "
        "MANAGE_CHANNELS.",
        id=_ID,
        input=ChannelDeleteInput(),
    )
    def channel_delete(
        _root: object, info: Info, id: str, input: dict[str, Any] | None = None
    ) -> ChannelDelete:
        target = None if input is None else input["channel_id"]
        return ChannelDelete(channel=delete_channel(*info.context.caller, id, target))

    @mutation("Activates a channel. Requires MANAGE_CHANNELS.", id=_ID)
    def channel_activate(_root: object, info: Info, id: str) -> ChannelActivate:
        channel = set_channel_active(*info.context.caller, id, active=True)
        return ChannelActivate(channel=channel)

    @mutation(
        "Deactivates a channel: no carts can be created in it. Its carts can still be "
        "ordered. Requires MANAGE_CHANNELS.",
        id=_ID,
    )
    def channel_deactivate(_root: object, info: Info, id: str) -> ChannelDeactivate:
        channel = set_channel_active(*info.context.caller, id, active=False)
        return ChannelDeactivate(channel=channel)


def _metadata(input: dict[str, Any]) -> tuple[tuple[tuple[str, str], ...], ...]:
    return pairs(input.get("metadata")), pairs(input.get("private_metadata"))


MailCountableConnection = make_connection("Mail", "app.graphql.types.mails.Mail")


class MailQueries(graphene.ObjectType):
    """Which emails were sent, and the templates of emails."""

    @query(
        graphene.NonNull(graphene.List(graphene.NonNull("app.graphql.types.mails.MailTemplate"))),
        description="The email templates in use. For staff with MANAGE_SETTINGS.",
    )
    def mail_templates(_root: object, info: Info) -> tuple[TemplateEntry, ...]:
        return list_templates(*info.context.caller)

    @query(
        "app.graphql.types.mails.MailTemplateSources",
        **template_arguments(),
        version=graphene.Int(description="An earlier version; without it, the one in use."),
        description="The sources of an email template, or of the default. Null if there is no "
        "such version. For staff with MANAGE_SETTINGS.",
    )
    def mail_template(
        _root: object,
        info: Info,
        kind: MailKind,
        language_code: Enum | None = None,
        version: int | None = None,
    ) -> TemplateDetails | None:
        language = template_language(language_code)
        return show_template(*info.context.caller, kind, language, version or 0)

    @query(
        MailCountableConnection,
        filter=MailFilterInput(),
        **connection_arguments(),
        description="The mail log, newest first. For staff with MANAGE_STAFF, who see all emails, "
        "and staff with MANAGE_USERS, who see those about customers.",
    )
    def mails(_root: object, info: Info, **arguments: Any) -> Page[MailEntry]:
        page = page_request("mails", arguments)
        filter_ = _filter(arguments.get("filter") or {})
        return list_mails(*info.context.caller, page, filter_)


def _filter(given: dict[str, Any]) -> MailFilter:
    span = times_in(given.get("created_at")) or Range()
    user_id = given.get("user_id")
    return MailFilter(
        user_id=None if user_id is None else key_in(user_id, "User"),
        status=given.get("status"),
        since=span.gte,
        until=span.lte,
        text=given.get("search") or "",
    )
