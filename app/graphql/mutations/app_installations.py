"""Installing apps from their manifests."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.context import RequestContext
from app.graphql.global_ids import key_in
from app.graphql.mutations.app_payloads import AppPayload
from app.graphql.mutations.payloads import answers
from app.services.apps.installation_requests import (
    InstallationRequest,
    delete_failed_installation,
    install_app,
    retry_installation,
)
from app.services.apps.manifests import fetch_manifest

_INSTALLATION = "app.graphql.types.installations.AppInstallation"
_KIND = "AppInstallation"


class AppInstallInput(graphene.InputObjectType):
    """An app to be installed, and what it is granted, whatever its manifest asks for."""

    app_name = graphene.String(required=True)
    manifest_url = graphene.String(required=True)
    activate_after_installation = graphene.Boolean(description="True if unsaid.")
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppFetchManifest(AppPayload):
    """What an app says of itself; nothing is installed."""

    manifest = graphene.Field("app.graphql.types.manifests.Manifest")


class AppInstall(AppPayload):
    """The installation that has been begun."""

    app_installation = graphene.Field(_INSTALLATION)


class AppRetryInstall(AppPayload):
    """The installation that has been begun again."""

    app_installation = graphene.Field(_INSTALLATION)


class AppDeleteFailedInstallation(AppPayload):
    """The installation as it was."""

    app_installation = graphene.Field(_INSTALLATION)


class AppInstallationMutations(graphene.ObjectType):
    """Apps from their manifests, installed by people who hold MANAGE_APPS."""

    app_fetch_manifest = graphene.Field(
        AppFetchManifest,
        description=(
            "Reads an app's manifest and checks it; installs and keeps nothing. For people with "
            "MANAGE_APPS, not for apps."
        ),
        manifest_url=graphene.String(required=True),
    )
    app_install = graphene.Field(
        AppInstall,
        description=(
            "Begins to install an app from its manifest; `appsInstallations` shows what becomes "
            "of it. For people with MANAGE_APPS, who grant no more than they hold."
        ),
        input=AppInstallInput(required=True),
    )
    app_retry_install = graphene.Field(
        AppRetryInstall,
        description=(
            "Begins a failed installation again. For people with MANAGE_APPS, not for apps."
        ),
        id=graphene.ID(required=True),
        activate_after_installation=graphene.Boolean(description="As before if unsaid."),
    )
    app_delete_failed_installation = graphene.Field(
        AppDeleteFailedInstallation,
        description=(
            "Removes a failed installation from the list. For people with MANAGE_APPS, not for "
            "apps."
        ),
        id=graphene.ID(required=True),
    )

    @staticmethod
    @answers(AppFetchManifest)
    def resolve_app_fetch_manifest(
        _root: object, info: GraphQLResolveInfo, manifest_url: str
    ) -> AppFetchManifest:
        context: RequestContext = info.context
        manifest = fetch_manifest(context.ports, context.actor, manifest_url)
        return AppFetchManifest(manifest=manifest)

    @staticmethod
    @answers(AppInstall)
    def resolve_app_install(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> AppInstall:
        context: RequestContext = info.context
        new = InstallationRequest(
            app_name=input["app_name"],
            manifest_url=input["manifest_url"],
            permissions=frozenset(input.get("permissions") or ()),
            activate=input.get("activate_after_installation") is not False,
        )
        installation = install_app(context.ports, context.actor, new)
        return AppInstall(app_installation=installation)

    @staticmethod
    @answers(AppRetryInstall)
    def resolve_app_retry_install(
        _root: object,
        info: GraphQLResolveInfo,
        id: str,
        *,
        activate_after_installation: bool | None = None,
    ) -> AppRetryInstall:
        context: RequestContext = info.context
        installation = retry_installation(
            context.ports,
            context.actor,
            key_in(id, _KIND),
            activate=activate_after_installation,
        )
        return AppRetryInstall(app_installation=installation)

    @staticmethod
    @answers(AppDeleteFailedInstallation)
    def resolve_app_delete_failed_installation(
        _root: object, info: GraphQLResolveInfo, id: str
    ) -> AppDeleteFailedInstallation:
        context: RequestContext = info.context
        installation = delete_failed_installation(context.ports, context.actor, key_in(id, _KIND))
        return AppDeleteFailedInstallation(app_installation=installation)
