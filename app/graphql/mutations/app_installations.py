"""Installing apps from their manifests."""

from typing import Any

import graphene

from app.graphql.context import Info
from app.graphql.global_ids import key_in
from app.graphql.mutations.app_payloads import AppPayload
from app.graphql.mutations.payloads import answers
from app.services.apps.installation_requests import (
    InstallationRequest,
    delete_failed_installation,
    fetch_manifest,
    install_app,
    retry_installation,
)

_INSTALLATION = "app.graphql.types.installations.AppInstallation"
_KIND = "AppInstallation"


class AppInstallInput(graphene.InputObjectType):
    """The app to install and the permissions to grant, whatever its manifest requests."""

    app_name = graphene.String(required=True)
    manifest_url = graphene.String(required=True)
    activate_after_installation = graphene.Boolean(description="Default: true.")
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppFetchManifest(AppPayload):
    """The manifest of an app."""

    manifest = graphene.Field("app.graphql.types.manifests.Manifest")


class AppInstall(AppPayload):
    """The started installation."""

    app_installation = graphene.Field(_INSTALLATION)


class AppRetryInstall(AppPayload):
    """The retried installation."""

    app_installation = graphene.Field(_INSTALLATION)


class AppDeleteFailedInstallation(AppPayload):
    """The deleted installation."""

    app_installation = graphene.Field(_INSTALLATION)


class AppInstallationMutations(graphene.ObjectType):
    """Apps from their manifests, installed by people who hold MANAGE_APPS."""

    app_fetch_manifest = graphene.Field(
        AppFetchManifest,
        description=(
            "Fetches and validates an app's manifest without installing the app. For staff "
            "with MANAGE_APPS, not for apps."
        ),
        manifest_url=graphene.String(required=True),
    )
    app_install = graphene.Field(
        AppInstall,
        description=(
            "Starts installing an app from its manifest. `appsInstallations` shows the "
            "progress. For staff with MANAGE_APPS, who can only grant permissions they "
            "have."
        ),
        input=AppInstallInput(required=True),
    )
    app_retry_install = graphene.Field(
        AppRetryInstall,
        description=("Retries a failed installation. For staff with MANAGE_APPS, not for apps."),
        id=graphene.ID(required=True),
        activate_after_installation=graphene.Boolean(
            description="Default: the value of the failed installation."
        ),
    )
    app_delete_failed_installation = graphene.Field(
        AppDeleteFailedInstallation,
        description=("Deletes a failed installation. For staff with MANAGE_APPS, not for apps."),
        id=graphene.ID(required=True),
    )

    @staticmethod
    @answers(AppFetchManifest)
    def resolve_app_fetch_manifest(
        _root: object, info: Info, manifest_url: str
    ) -> AppFetchManifest:
        manifest = fetch_manifest(info.context.ports, info.context.actor, manifest_url)
        return AppFetchManifest(manifest=manifest)

    @staticmethod
    @answers(AppInstall)
    def resolve_app_install(_root: object, info: Info, input: dict[str, Any]) -> AppInstall:
        new = InstallationRequest(
            app_name=input["app_name"],
            manifest_url=input["manifest_url"],
            permissions=frozenset(input.get("permissions") or ()),
            activate=input.get("activate_after_installation") is not False,
        )
        installation = install_app(info.context.ports, info.context.actor, new)
        return AppInstall(app_installation=installation)

    @staticmethod
    @answers(AppRetryInstall)
    def resolve_app_retry_install(
        _root: object,
        info: Info,
        id: str,
        *,
        activate_after_installation: bool | None = None,
    ) -> AppRetryInstall:
        installation = retry_installation(
            info.context.ports,
            info.context.actor,
            key_in(id, _KIND),
            activate=activate_after_installation,
        )
        return AppRetryInstall(app_installation=installation)

    @staticmethod
    @answers(AppDeleteFailedInstallation)
    def resolve_app_delete_failed_installation(
        _root: object, info: Info, id: str
    ) -> AppDeleteFailedInstallation:
        installation = delete_failed_installation(
            info.context.ports, info.context.actor, key_in(id, _KIND)
        )
        return AppDeleteFailedInstallation(app_installation=installation)
