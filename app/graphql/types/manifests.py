"""Manifests: what apps say of themselves before they are installed."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace

import graphene

from app.domain.apps import manifests as domain
from app.domain.apps.apps import extension_address, nearest_logo_size
from app.domain.apps.manifests import ManifestExtension, ManifestWebhook
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import EventType
from app.domain.webhooks import SyncEvent
from app.graphql.context import Info, RequestContext

_PERMISSION = "app.graphql.types.permissions.Permission"


class AppManifestExtension(graphene.ObjectType):
    """A dashboard extension in a manifest."""

    permissions = graphene.NonNull(graphene.List(graphene.NonNull(_PERMISSION)))
    label = graphene.NonNull(graphene.String)
    url = graphene.NonNull(graphene.String, description="The URL to open.")
    mount_name = graphene.NonNull(graphene.String)
    target_name = graphene.NonNull(graphene.String)
    settings = graphene.NonNull("app.graphql.types.scalars.JSON")
    identifier = graphene.String()

    def resolve_permissions(self: ManifestExtension, _info: Info) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_mount_name(self: ManifestExtension, _info: Info) -> str:
        return self.mount

    def resolve_target_name(self: ManifestExtension, _info: Info) -> str:
        return self.target

    def resolve_settings(self: ManifestExtension, _info: Info) -> Mapping[str, object]:
        return self.settings

    def resolve_identifier(self: ManifestExtension, _info: Info) -> str | None:
        return self.identifier or None


class AppManifestWebhook(graphene.ObjectType):
    """A webhook in a manifest."""

    name = graphene.NonNull(graphene.String)
    async_events = graphene.List(
        graphene.NonNull("app.graphql.types.webhooks.WebhookEventTypeAsyncEnum")
    )
    sync_events = graphene.List(
        graphene.NonNull("app.graphql.types.webhooks.WebhookEventTypeSyncEnum")
    )
    query = graphene.NonNull(graphene.String)
    target_url = graphene.NonNull(graphene.String)

    def resolve_async_events(self: ManifestWebhook, _info: Info) -> tuple[EventType, ...]:
        return self.events

    def resolve_sync_events(self: ManifestWebhook, _info: Info) -> tuple[SyncEvent, ...]:
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

    logo = graphene.NonNull(AppManifestBrandLogo, description="The logo.")

    def resolve_logo(self: Mapping[int, bytes], _info: Info) -> Mapping[int, bytes]:
        return self


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
    about = graphene.String()
    permissions = graphene.List(
        graphene.NonNull(_PERMISSION), description="The requested permissions."
    )
    app_url = graphene.String()
    token_target_url = graphene.String(description="The URL that receives the app's token.")
    data_privacy_url = graphene.String()
    homepage_url = graphene.String()
    support_url = graphene.String()
    extensions = graphene.NonNull(graphene.List(graphene.NonNull(AppManifestExtension)))
    webhooks = graphene.NonNull(graphene.List(graphene.NonNull(AppManifestWebhook)))
    audience = graphene.String()
    author = graphene.String()
    configuration_url = graphene.String(
        description="The URL of the app's settings.", deprecation_reason="Use `appUrl`."
    )
    data_privacy = graphene.String(
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
        return context.loaders(at).logos.of(self.logo_url) or None

    def resolve_configuration_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.configuration_url or None

    def resolve_data_privacy(self: domain.Manifest, _info: Info) -> str | None:
        return self.data_privacy or None

    def resolve_extensions(self: domain.Manifest, _info: Info) -> list[ManifestExtension]:
        return [
            replace(one, url=extension_address(one.url, one.target, self.app_url))
            for one in self.extensions
        ]

    def resolve_about(self: domain.Manifest, _info: Info) -> str | None:
        return self.about or None

    def resolve_permissions(self: domain.Manifest, _info: Info) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_app_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.app_url or None

    def resolve_token_target_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.token_target_url or None

    def resolve_data_privacy_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.data_privacy_url or None

    def resolve_homepage_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.homepage_url or None

    def resolve_support_url(self: domain.Manifest, _info: Info) -> str | None:
        return self.support_url or None

    def resolve_audience(self: domain.Manifest, _info: Info) -> str | None:
        return self.audience or None

    def resolve_author(self: domain.Manifest, _info: Info) -> str | None:
        return self.author or None
