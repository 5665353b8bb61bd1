"""Manifests: what apps say of themselves before they are installed."""

from collections.abc import Mapping
from dataclasses import replace

import graphene
from graphql import GraphQLResolveInfo

from app.domain.apps import manifests as domain
from app.domain.apps.apps import extension_address
from app.domain.apps.manifests import ManifestExtension, ManifestWebhook
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import EventType
from app.domain.webhooks import SyncEvent

_PERMISSION = "app.graphql.types.permissions.Permission"


class AppManifestExtension(graphene.ObjectType):
    """A dashboard extension in a manifest."""

    permissions = graphene.NonNull(graphene.List(graphene.NonNull(_PERMISSION)))
    label = graphene.NonNull(graphene.String)
    url = graphene.NonNull(graphene.String, description="The URL to open.")
    mount_name = graphene.NonNull(graphene.String)
    target_name = graphene.NonNull(graphene.String)
    settings = graphene.NonNull("app.graphql.types.json.JSON")
    identifier = graphene.String()

    def resolve_permissions(
        self: ManifestExtension, _info: GraphQLResolveInfo
    ) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_mount_name(self: ManifestExtension, _info: GraphQLResolveInfo) -> str:
        return self.mount

    def resolve_target_name(self: ManifestExtension, _info: GraphQLResolveInfo) -> str:
        return self.target

    def resolve_settings(
        self: ManifestExtension, _info: GraphQLResolveInfo
    ) -> Mapping[str, object]:
        return self.settings

    def resolve_identifier(self: ManifestExtension, _info: GraphQLResolveInfo) -> str | None:
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

    def resolve_async_events(
        self: ManifestWebhook, _info: GraphQLResolveInfo
    ) -> tuple[EventType, ...]:
        return self.events

    def resolve_sync_events(
        self: ManifestWebhook, _info: GraphQLResolveInfo
    ) -> tuple[SyncEvent, ...]:
        return ()


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

    def resolve_extensions(
        self: domain.Manifest, _info: GraphQLResolveInfo
    ) -> list[ManifestExtension]:
        return [
            replace(one, url=extension_address(one.url, one.target, self.app_url))
            for one in self.extensions
        ]

    def resolve_about(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.about or None

    def resolve_permissions(
        self: domain.Manifest, _info: GraphQLResolveInfo
    ) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_app_url(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.app_url or None

    def resolve_token_target_url(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.token_target_url or None

    def resolve_data_privacy_url(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.data_privacy_url or None

    def resolve_homepage_url(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.homepage_url or None

    def resolve_support_url(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.support_url or None

    def resolve_audience(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.audience or None

    def resolve_author(self: domain.Manifest, _info: GraphQLResolveInfo) -> str | None:
        return self.author or None
