"""Setting up identity providers."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.context import RequestContext
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.single_sign_on.provider_settings import ProviderUpdate, update_plugin


class ConfigurationItemInput(graphene.InputObjectType):
    """A setting to change; null, and an empty text, clear it."""

    name = graphene.NonNull(graphene.String)
    value = graphene.String()


class PluginUpdateInput(graphene.InputObjectType):
    """What is to change; what is left out stays as it is."""

    active = graphene.Boolean()
    configuration = graphene.List(graphene.NonNull(ConfigurationItemInput))


class PluginUpdate(MutationPayload):
    """The plugin as it is now."""

    plugin = graphene.Field("app.graphql.types.plugins.Plugin")
    errors = errors_of("problems.PluginError")


class PluginMutations(graphene.ObjectType):
    """The settings of identity providers."""

    plugin_update = graphene.Field(
        PluginUpdate,
        description=(
            "Changes the settings of an identity provider, all of them or, when refused, none. "
            "Needs MANAGE_PLUGINS; null or an empty text clears a setting."
        ),
        channel_id=graphene.ID(description="Not used: a provider is the whole shop's."),
        id=graphene.NonNull(graphene.ID),
        input=graphene.NonNull(PluginUpdateInput),
    )

    @staticmethod
    @answers(PluginUpdate)
    def resolve_plugin_update(
        _root: object,
        info: GraphQLResolveInfo,
        id: str,
        input: dict[str, Any],
        channel_id: str | None = None,
    ) -> PluginUpdate:
        context: RequestContext = info.context
        items = input.get("configuration") or []
        settings = {item["name"]: item.get("value") for item in items}
        changes = ProviderUpdate(settings, input.get("active"))
        return PluginUpdate(plugin=update_plugin(context.ports, context.actor, id, changes))
