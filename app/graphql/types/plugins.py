"""Plugins: identity providers, as clients of the interface know them."""

import graphene

from app.domain.single_sign_on import provider_settings as domain
from app.graphql.compatibility import constant
from app.graphql.context import Info
from app.graphql.fields import attribute, itself, part
from app.services.single_sign_on.provider_settings import Plugin as PluginValue

ConfigurationTypeFieldEnum = graphene.Enum.from_enum(
    domain.SettingType, name="ConfigurationTypeFieldEnum"
)


class ConfigurationItem(graphene.ObjectType):
    """A setting; a secret reads back as asterisks."""

    name = graphene.NonNull(graphene.String, resolver=part("setting.name"))
    value = graphene.String()
    type = graphene.Field(ConfigurationTypeFieldEnum, resolver=part("setting.type"))
    help_text = graphene.String(resolver=part("setting.help"))
    label = graphene.String(resolver=part("setting.label"))


class PluginConfiguration(graphene.ObjectType):
    """Whether a plugin is active, and its settings."""

    active = graphene.NonNull(graphene.Boolean)
    channel = constant("PluginConfiguration.channel", "app.graphql.types.shop.Channel")
    configuration = graphene.List(
        graphene.NonNull(ConfigurationItem),
        description="The current settings. A change of what the provider can assert, by "
        "anyone who doesn't hold every permission, waits for confirmation by a superuser, in "
        "the console or with `flask oidc confirm`. Until then the provider makes no one "
        "staff, links no existing account, honors no earlier link, and grants at most what "
        "the person who made the change holds.",
        resolver=attribute("settings"),
    )


class Plugin(graphene.ObjectType):
    """An identity provider."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    description = graphene.NonNull(graphene.String)
    global_configuration = graphene.Field(PluginConfiguration, resolver=itself)
    channel_configurations = graphene.NonNull(
        graphene.List(graphene.NonNull(PluginConfiguration)),
        description="Always empty: providers apply to the whole shop.",
    )

    def resolve_description(self: PluginValue, _info: Info) -> str:
        return "Single sign-on through an OpenID Connect provider."

    def resolve_channel_configurations(self: PluginValue, _info: Info) -> list[PluginValue]:
        return []
