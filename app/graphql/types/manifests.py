"""Manifests: what apps say of themselves before they are installed."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace

import graphene

from app.domain.apps import manifests as domain
from app.domain.apps.apps import extension_address, nearest_logo_size
from app.domain.apps.manifests import ManifestExtension, ManifestWebhook
from app.graphql.context import Info, RequestContext
from app.graphql.fields import attribute, itself, sorted_permissions, text_or_null

_PERMISSION = "app.graphql.types.permissions.Permission"


class AppManifestExtension(graphene.ObjectType):
    """A dashboard extension in a manifest."""

    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull(_PERMISSION)), resolver=sorted_permissions
    )
    label = graphene.NonNull(graphene.String)
    url = graphene.NonNull(graphene.String, description="The URL to open.")
    mount_name = graphene.NonNull(graphene.String, resolver=attribute("mount"))
    target_name = graphene.NonNull(graphene.String, resolver=attribute("target"))
    settings = graphene.NonNull("app.graphql.root_fields.products.JSON")
    identifier = text_or_null("identifier")


class AppManifestWebhook(graphene.ObjectType):
    """A webhook in a manifest."""

    name = graphene.NonNull(graphene.String)
    async_events = graphene.List(
        graphene.NonNull("app.graphql.types.webhooks.WebhookEventTypeAsyncEnum"),
        resolver=attribute("events"),
    )
    sync_events = graphene.List(
        graphene.NonNull("app.graphql.types.webhooks.WebhookEventTypeSyncEnum")
    )
    query = graphene.NonNull(graphene.String)
    target_url = graphene.NonNull(graphene.String)

    def resolve_sync_events(self: ManifestWebhook, _info: Info) -> tuple[()]:
        return ()


class AppManifestBrandLogo(graphene.ObjectType):
    """The logo that a manifest names."""

    default = graphene.Field(
        graphene.NonNull(graphene.String),
        description="The logo as a data URL.",
        size=graphene.Int(
            description="Pixels of the longer side; the next kept size is used, at most 256."
        ),
        format=graphene.Argument(
            "app.graphql.types.apps.IconThumbnailFormatEnum",
            default_value="ORIGINAL",
            description="The format.",
        ),
    )

    def resolve_default(
        self: Mapping[int, bytes], _info: Info, format: str, size: int | None = None
    ) -> str:
        chosen = nearest_logo_size(size) if format == "WEBP" else 0
        kind = "webp" if chosen else "png"
        return f"data:image/{kind};base64,{b64encode(self[chosen]).decode()}"


class AppManifestBrand(graphene.ObjectType):
    """How an app shows itself, by its manifest."""

    logo = graphene.NonNull(AppManifestBrandLogo, description="The logo.", resolver=itself)


class AppManifestRequiredSaleorVersion(graphene.ObjectType):
    """The versions of the API that an app works with."""

    constraint = graphene.NonNull(graphene.String, description="A range of versions, as in npm.")
    satisfied = graphene.NonNull(
        graphene.Boolean, description="Whether this version is within it: others are refused."
    )


class Manifest(graphene.ObjectType):
    """The manifest of an app."""

    identifier = graphene.NonNull(graphene.String)
    version = graphene.NonNull(graphene.String)
    name = graphene.NonNull(graphene.String)
    about = text_or_null("about")
    permissions = graphene.List(
        graphene.NonNull(_PERMISSION),
        description="The requested permissions.",
        resolver=sorted_permissions,
    )
    app_url = text_or_null("app_url")
    token_target_url = text_or_null(
        "token_target_url", description="The URL that receives the app's token."
    )
    data_privacy_url = text_or_null("data_privacy_url")
    homepage_url = text_or_null("homepage_url")
    support_url = text_or_null("support_url")
    extensions = graphene.NonNull(graphene.List(graphene.NonNull(AppManifestExtension)))
    webhooks = graphene.NonNull(graphene.List(graphene.NonNull(AppManifestWebhook)))
    audience = text_or_null("audience")
    author = text_or_null("author")
    configuration_url = text_or_null(
        "configuration_url",
        description="The URL of the app's settings.",
        deprecation_reason="Use `appUrl`.",
    )
    data_privacy = text_or_null(
        "data_privacy",
        description="What the app says of data privacy.",
        deprecation_reason="Use `dataPrivacyUrl`.",
    )
    required_saleor_version = graphene.Field(
        AppManifestRequiredSaleorVersion, description="The versions of the API that it works with."
    )
    brand = graphene.Field(
        AppManifestBrand,
        description="The app's logo; null without one, and if it can't be fetched.",
    )

    def resolve_required_saleor_version(
        self: domain.Manifest, _info: Info
    ) -> dict[str, object] | None:
        if not self.required_version:
            return None
        return {"constraint": self.required_version, "satisfied": True}

    def resolve_brand(self: domain.Manifest, at: Info) -> Mapping[int, bytes] | None:
        context: RequestContext = at.context
        return context.loaders(at).logos.by_url(self.logo_url) or None

    def resolve_extensions(self: domain.Manifest, _info: Info) -> list[ManifestExtension]:
        return [
            replace(one, url=extension_address(one.url, one.target, self.app_url))
            for one in self.extensions
        ]
