"""Setting up identity providers."""

from dataclasses import replace
from typing import Any

import graphene
from graphene.utils.str_converters import to_camel_case

from app.domain.values.errors import Problem, Refused
from app.graphql.context import Info
from app.graphql.mutations.payloads import (
    MutationPayload,
    answers,
    errors_of,
    former_errors_of,
)
from app.services.single_sign_on.provider_settings import ProviderUpdate, update_plugin


class ConfigurationItemInput(graphene.InputObjectType):
    """A setting to change. Null or an empty string clears it."""

    name = graphene.NonNull(graphene.String)
    value = graphene.String()


class PluginUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    active = graphene.Boolean()
    configuration = graphene.List(graphene.NonNull(ConfigurationItemInput))


class PluginUpdate(MutationPayload):
    """The updated plugin."""

    plugin = graphene.Field("app.graphql.types.plugins.Plugin")
    errors = errors_of("problems.PluginError")
    plugins_errors = former_errors_of("problems.PluginError")


class PluginMutations(graphene.ObjectType):
    """The settings of identity providers."""

    plugin_update = graphene.Field(
        PluginUpdate,
        description=(
            "Updates the settings of an identity provider. If a setting is refused, none is "
            "changed. Null or an empty string clears a setting. Requires MANAGE_PLUGINS. Until a "
            "superuser confirms what anyone else changed, the provider signs in only new "
            "customers, and grants at most what the caller holds: see `configuration`."
        ),
        channel_id=graphene.ID(description="Ignored: providers apply to the whole shop."),
        id=graphene.NonNull(graphene.ID),
        input=graphene.NonNull(PluginUpdateInput),
    )

    @staticmethod
    @answers(PluginUpdate)
    def resolve_plugin_update(
        _root: object,
        info: Info,
        id: str,
        input: dict[str, Any],
        channel_id: str | None = None,
    ) -> PluginUpdate:
        items = input.get("configuration") or []
        settings = {item["name"]: item.get("value") for item in items}
        changes = ProviderUpdate(settings, input.get("active"))
        try:
            return PluginUpdate(
                plugin=update_plugin(info.context.ports, info.context.actor, id, changes)
            )
        except Refused as refused:
            raise Refused(*map(_as_named_here, refused.problems)) from refused


def _as_named_here(problem: Problem) -> Problem:
    """Return ``problem`` with its field in camel case, as existing clients get it."""
    return replace(problem, field=to_camel_case(problem.field or "") or None)
