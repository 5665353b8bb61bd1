"""Installations of apps."""

import graphene

from app.domain.apps import apps as domain
from app.domain.values.ids import to_global_id
from app.graphql.connections import Node
from app.graphql.context import Info

JobStatusEnum = graphene.Enum.from_enum(domain.JobStatus, name="JobStatusEnum")


class Job(graphene.Interface):
    """Work in the background."""

    status = graphene.NonNull(JobStatusEnum)
    created_at = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    message = graphene.String(description="Why it failed.")


class AppInstallation(graphene.ObjectType):
    """A pending or failed installation of an app."""

    class Meta:
        interfaces = (Node, Job)

    id = graphene.NonNull(graphene.ID)
    status = graphene.NonNull(JobStatusEnum)
    created_at = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    message = graphene.String(description="Why the installation failed, as reported by the app.")
    app_name = graphene.NonNull(graphene.String)
    manifest_url = graphene.NonNull(graphene.String)
    brand = graphene.Field(
        "app.graphql.types.apps.AppBrand",
        description="The app's logo; null without one, and until its manifest is read.",
    )

    def resolve_brand(self: domain.Installation, _info: Info) -> str | None:
        return self.logo or None

    def resolve_id(self: domain.Installation, _info: Info) -> str:
        return to_global_id("AppInstallation", self.id)

    def resolve_message(self: domain.Installation, _info: Info) -> str | None:
        return self.message or None
