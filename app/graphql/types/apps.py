"""Apps, their tokens and installations, and what they add to the dashboard."""

from enum import StrEnum

import graphene
from graphql import GraphQLError

from app.domain.apps import apps as domain
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.ids import to_global_id
from app.graphql import app_nodes, fields
from app.graphql.compatibility import constant
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.metadata_fields import ObjectWithMetadata

AppTypeEnum = graphene.Enum.from_enum(domain.AppType, name="AppTypeEnum")
AppSortField = graphene.Enum.from_enum(domain.AppSortField, name="AppSortField")

_UNAVAILABLE = "app.graphql.unavailable."


class AppToken(fields.ObjectType, interfaces=(Node,)):
    """An API token of an app. The token itself is returned only when it's created."""

    id = fields.own_id("AppToken")
    name = graphene.String()
    auth_token = graphene.String(
        description="The last four characters of the token.",
        resolver=fields.attribute("last_four"),
    )
    created_at = graphene.NonNull(graphene.DateTime)
    expires_at = graphene.DateTime(description="Null if the token doesn't expire.")
    replaced_at = graphene.DateTime(description="When the token was replaced.")
    last_used_at = graphene.DateTime(description="Accurate to one minute.")
    last_used_address = fields.text_or_null("last_used_address")
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.Permission"),
        description="The token's permissions; null for all permissions of its app.",
    )

    def resolve_permissions(self: domain.AppToken, _info: Info) -> tuple[Permission, ...] | None:
        return None if self.permissions is None else in_order(self.permissions)


class IconFormat(StrEnum):
    ORIGINAL = "ORIGINAL"
    WEBP = "WEBP"


IconThumbnailFormatEnum = fields.described_enum(
    IconFormat,
    "IconThumbnailFormatEnum",
    "The format of an icon.",
    {"ORIGINAL": "PNG, as large as it is kept.", "WEBP": "WebP."},
)


def logo_field(description: str) -> graphene.Field:
    """Return the field `default` of a logo."""
    return graphene.Field(
        graphene.NonNull(graphene.String),
        description=description,
        size=graphene.Int(
            description="Pixels of the longer side; the next kept size is used, at most 256."
        ),
        format=graphene.Argument(
            IconThumbnailFormatEnum, default_value=IconFormat.ORIGINAL, description="The format."
        ),
    )


def chosen_size(size: int | None, format: IconFormat) -> int | None:
    """Return which file of a logo is asked for: its WebP of that size, or its PNG."""
    return domain.nearest_logo_size(size) if format is IconFormat.WEBP else None


class AppBrandLogo(graphene.ObjectType):
    """An app's logo, as its manifest names it."""

    default = logo_field("The URL of the logo.")

    def resolve_default(self: str, info: Info, format: IconFormat, size: int | None = None) -> str:
        base_url = info.context.visitor.issuer.removesuffix("/graphql/")
        return f"{base_url}{domain.logo_path(self, chosen_size(size, format))}"


class AppBrand(graphene.ObjectType):
    """How an app shows itself."""

    logo = graphene.NonNull(AppBrandLogo, description="The logo.", resolver=fields.itself)


class App(fields.ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """An integration with its own permissions."""

    id = fields.own_id("App")
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.Permission"),
        resolver=fields.sorted_permissions,
    )
    identifier = graphene.String(
        description="The `id` in the app's manifest; the global ID of an app without one."
    )
    created = graphene.DateTime(resolver=fields.attribute("created_at"))
    is_active = graphene.Boolean()
    name = graphene.String()
    type = graphene.Field(AppTypeEnum)
    tokens = graphene.List(graphene.NonNull(AppToken), description="Requires MANAGE_APPS.")
    webhooks = graphene.List(
        graphene.NonNull("app.graphql.types.webhooks.Webhook"),
        description="Requires MANAGE_APPS; apps can see their own.",
    )
    about_app = fields.text_or_null("about")
    data_privacy_url = fields.text_or_null("data_privacy_url")
    homepage_url = fields.text_or_null("homepage_url")
    support_url = fields.text_or_null("support_url")
    app_url = fields.text_or_null("app_url", description="URL of the app's page in the dashboard.")
    manifest_url = fields.text_or_null("manifest_url")
    version = fields.text_or_null("version")
    access_token = graphene.String(
        description="For staff: a five-minute token that lets the app's dashboard page act on "
        "their behalf, with the permissions that both have. Null for others, and for apps without "
        "a dashboard page."
    )
    author = fields.text_or_null("author")
    brand = graphene.Field(
        "app.graphql.types.apps.AppBrand", description="The app's logo; null without one."
    )
    problems = graphene.List(
        graphene.NonNull("app.graphql.types.app_problems.AppProblem"),
        description="Problems that the app reported about itself, newest first. Requires "
        "MANAGE_APPS; apps can see their own.",
        limit=graphene.Argument(
            "app.graphql.types.app_problems.PositiveInt",
            description="How many at most, from 1 to 100.",
        ),
    )
    configuration_url = fields.text_or_null(
        "configuration_url",
        description="The URL of the app's settings.",
        deprecation_reason="Use `appUrl`.",
    )
    data_privacy = fields.text_or_null(
        "data_privacy",
        description="What the app says of data privacy.",
        deprecation_reason="Use `dataPrivacyUrl`.",
    )
    breaker_state = constant(
        "App.breakerState", graphene.NonNull(f"{_UNAVAILABLE}CircuitBreakerStateEnum")
    )
    breaker_last_state_change = constant("App.breakerLastStateChange", graphene.DateTime)
    extensions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.apps.AppExtension"))
    )

    def resolve_identifier(self: domain.App, _info: Info) -> str:
        return self.identifier or to_global_id("App", self.id)

    def resolve_tokens(self: app_nodes.AppNode, _info: Info) -> tuple[domain.AppToken, ...]:
        return self.loader.tokens[self.id]

    def resolve_webhooks(self: app_nodes.AppNode, info: Info) -> tuple[app_nodes.WebhookNode, ...]:
        shown = (one.id for webhooks in self.loader.webhooks.values() for one in webhooks)
        info.context.loaders(info).deliveries.add_webhooks(info, shown)
        return app_nodes.webhook_nodes(self)

    def resolve_brand(self: domain.App, info: Info) -> str | None:
        return self.logo if info.context.existing_key("App", self.id) and self.logo else None

    def resolve_problems(
        self: app_nodes.AppNode, _info: Info, limit: int | None = None
    ) -> tuple[app_nodes.ProblemNode, ...]:
        if limit is not None and not 0 < limit <= domain.MAX_PROBLEMS:
            raise GraphQLError(f"`limit` must be from 1 to {domain.MAX_PROBLEMS}, got {limit}.")
        problems = self.loader.problems[self.id][:limit]
        return tuple(app_nodes.problem_node(problem, self) for problem in problems)

    def resolve_access_token(self: app_nodes.AppNode, _info: Info) -> str | None:
        return self.loader.access_token(self)

    def resolve_extensions(self: app_nodes.AppNode, _info: Info) -> list[app_nodes.ExtensionNode]:
        return [
            app_nodes.extension_node(extension, self)
            for extension in self.loader.extensions[self.id]
        ]


JobStatusEnum = graphene.Enum.from_enum(domain.JobStatus, name="JobStatusEnum")


class Job(graphene.Interface):
    """Work in the background."""

    status = graphene.NonNull(JobStatusEnum)
    created_at = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    message = graphene.String(description="Why it failed.")


class AppInstallation(fields.ObjectType, interfaces=(Node, Job)):
    """A pending or failed installation of an app."""

    id = fields.own_id("AppInstallation")
    status = graphene.NonNull(JobStatusEnum)
    created_at = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    message = fields.text_or_null(
        "message", description="Why the installation failed, as reported by the app."
    )
    app_name = graphene.NonNull(graphene.String)
    manifest_url = graphene.NonNull(graphene.String)
    brand = graphene.Field(
        "app.graphql.types.apps.AppBrand",
        description="The app's logo; null without one, and until its manifest is read.",
    )

    def resolve_brand(self: domain.Installation, _info: Info) -> str | None:
        return self.logo or None


class AppExtension(fields.ObjectType, interfaces=(Node,)):
    """An entry an app adds to the dashboard."""

    id = fields.own_id("AppExtension")
    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission")),
        description="Permissions required to see the extension.",
        resolver=fields.sorted_permissions,
    )
    label = graphene.NonNull(graphene.String)
    url = graphene.NonNull(
        graphene.String, description="The URL to open.", resolver=fields.attribute("address")
    )
    mount_name = graphene.NonNull(
        graphene.String,
        description="Where the extension appears.",
        resolver=fields.attribute("mount"),
    )
    target_name = graphene.NonNull(
        graphene.String,
        description="How the extension opens.",
        resolver=fields.attribute("target"),
    )
    settings = graphene.NonNull("app.graphql.root_fields.products.JSON")
    identifier = fields.text_or_null("identifier")
    app = graphene.NonNull("app.graphql.types.apps.App")
    access_token = graphene.String(
        description="Same as `App.accessToken`; null for staff who lack a permission of the "
        "extension."
    )

    def resolve_access_token(self: app_nodes.ExtensionNode, info: Info) -> str | None:
        if not self.permissions <= info.context.actor.permissions:
            return None
        return self.app.loader.access_token(self.app)
