"""Plugins: identity providers, as clients of the interface know them."""

import graphene

from app.domain.single_sign_on import provider_settings as domain
from app.graphql.compatibility import constant
from app.graphql.context import Info
from app.graphql.fields import attribute
from app.services.single_sign_on.provider_settings import Plugin as PluginValue

ConfigurationTypeFieldEnum = graphene.Enum.from_enum(
    domain.SettingType, name="ConfigurationTypeFieldEnum"
)


class ConfigurationItem(graphene.ObjectType):
    """A setting; a secret reads back as asterisks."""

    name = graphene.NonNull(graphene.String)
    value = graphene.String()
    type = graphene.Field(ConfigurationTypeFieldEnum)
    help_text = graphene.String()
    label = graphene.String()

    def resolve_name(self: domain.SettingValue, _info: Info) -> str:
        return self.setting.name

    def resolve_type(self: domain.SettingValue, _info: Info) -> domain.SettingType:
        return self.setting.type

    def resolve_help_text(self: domain.SettingValue, _info: Info) -> str:
        return self.setting.help

    def resolve_label(self: domain.SettingValue, _info: Info) -> str:
        return self.setting.label


class PluginConfiguration(graphene.ObjectType):
    """Whether a plugin is active, and its settings."""

    active = graphene.NonNull(graphene.Boolean)
    channel = constant("PluginConfiguration.channel", "app.graphql.types.shop.Channel")
    configuration = graphene.List(
        graphene.NonNull(ConfigurationItem),
        description=(
            "The current settings. A change of what the provider can assert, by "
            "anyone who doesn't hold every permission, waits for confirmation by a superuser, in "
            "the console or with `flask oidc confirm`. Until then the provider makes no one "
            "staff, links no existing account, honors no earlier link, and grants at most what "
            "the person who made the change holds."
        ),
        resolver=attribute("settings"),
    )


class Plugin(graphene.ObjectType):
    """An identity provider."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    description = graphene.NonNull(graphene.String)
    global_configuration = graphene.Field(PluginConfiguration)
    channel_configurations = graphene.NonNull(
        graphene.List(graphene.NonNull(PluginConfiguration)),
        description="Always empty: providers apply to the whole shop.",
    )

    def resolve_description(self: PluginValue, _info: Info) -> str:
        return "Single sign-on through an OpenID Connect provider."

    def resolve_global_configuration(self: PluginValue, _info: Info) -> PluginValue:
        return self

    def resolve_channel_configurations(self: PluginValue, _info: Info) -> list[PluginValue]:
        return []
