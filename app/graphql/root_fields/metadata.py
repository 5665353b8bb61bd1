"""Setting and deleting metadata."""

from typing import Any

import graphene

from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_global_id
from app.domain.values.metadata import MetadataChange
from app.graphql.app_nodes import app_node
from app.graphql.context import Info
from app.graphql.metadata_fields import ObjectWithMetadata
from app.graphql.root_fields.payloads import MutationPayload, errors_of, former_errors_of, mutation
from app.services.commerce.channels import change_channel_metadata
from app.services.metadata import (
    change_address_metadata,
    change_app_metadata,
    change_user_metadata,
)
from app.services.shop.settings import change_shop_metadata

_ID = graphene.NonNull(
    graphene.ID, description="The ID of a user, an address, a channel, an app or the shop."
)
_KEYS = graphene.NonNull(graphene.List(graphene.NonNull(graphene.String)))
_PUBLIC = (
    "Signed-in people and apps can change their own. A customer's requires MANAGE_USERS; other "
    "apps' and staff's require MANAGE_APPS or MANAGE_STAFF, for people. Not available to "
    "dashboard extensions. The shop's requires MANAGE_SETTINGS."
)
_PRIVATE = (
    "Apps can change their own. A customer's requires MANAGE_USERS; other apps' and staff's "
    "require MANAGE_APPS or MANAGE_STAFF, for people, and the shop's MANAGE_SETTINGS."
)


class MetadataInput(graphene.InputObjectType):
    """A key to set, and its value."""

    key = graphene.NonNull(graphene.String)
    value = graphene.NonNull(graphene.String)


_ITEMS = graphene.List(graphene.NonNull(MetadataInput))
_INPUT = graphene.NonNull(_ITEMS)


def metadata_input(kind: str = "public") -> graphene.InputField:
    """Return the field of an input that sets ``public`` or ``private`` metadata."""
    return graphene.InputField(
        _ITEMS, description=f"Keys of {kind} metadata to set; other keys stay."
    )


class MetadataPayload(MutationPayload, abstract=True):
    """The object as it is now, and the errors under both of their names."""

    errors = errors_of("problems.MetadataError")
    metadata_errors = former_errors_of("problems.MetadataError")
    item = graphene.Field(ObjectWithMetadata)


class UpdateMetadata(MetadataPayload):
    """The object with its new public metadata."""


class DeleteMetadata(MetadataPayload):
    """The object without these keys."""


class UpdatePrivateMetadata(MetadataPayload):
    """The object with its new private metadata."""


class DeletePrivateMetadata(MetadataPayload):
    """The object without these private keys."""


class MetadataMutations(graphene.ObjectType):
    """Texts by key that clients keep with users and apps."""

    @mutation(
        description=f"Sets keys of public metadata; other keys stay. {_PUBLIC}",
        id=_ID,
        input=_INPUT,
    )
    def update_metadata(
        _root: object, info: Info, id: str, input: list[dict[str, str]]
    ) -> UpdateMetadata:
        return UpdateMetadata(item=_change(info, id, MetadataChange(values=pairs(input))))

    @mutation(description=f"Deletes keys of public metadata. {_PUBLIC}", id=_ID, keys=_KEYS)
    def delete_metadata(_root: object, info: Info, id: str, keys: list[str]) -> DeleteMetadata:
        return DeleteMetadata(item=_change(info, id, MetadataChange(deleted_keys=tuple(keys))))

    @mutation(
        description=f"Sets keys of private metadata; other keys stay. {_PRIVATE}",
        id=_ID,
        input=_INPUT,
    )
    def update_private_metadata(
        _root: object, info: Info, id: str, input: list[dict[str, str]]
    ) -> UpdatePrivateMetadata:
        change = MetadataChange(is_private=True, values=pairs(input))
        return UpdatePrivateMetadata(item=_change(info, id, change))

    @mutation(description=f"Deletes keys of private metadata. {_PRIVATE}", id=_ID, keys=_KEYS)
    def delete_private_metadata(
        _root: object, info: Info, id: str, keys: list[str]
    ) -> DeletePrivateMetadata:
        change = MetadataChange(is_private=True, deleted_keys=tuple(keys))
        return DeletePrivateMetadata(item=_change(info, id, change))


def pairs(items: list[dict[str, str]] | None) -> tuple[tuple[str, str], ...]:
    """Return the items of an input as pairs of key and value."""
    return tuple((item["key"], item["value"]) for item in items or ())


def _change(info: Info, id: str, change: MetadataChange) -> Any:
    """Change the object of a global ID; refuses NOT_FOUND on ``id`` for one without metadata."""
    kind = (parse_global_id(id) or ("", ""))[0]
    if kind == "App":
        app = change_app_metadata(*info.context.caller, id, change)
        return app_node(info.context, app)
    if kind == "Address":
        return change_address_metadata(*info.context.caller, id, change)
    if kind == "Channel":
        return change_channel_metadata(*info.context.caller, id, change)
    if kind == "User":
        return change_user_metadata(*info.context.caller, id, change)
    if kind == "Shop":
        return change_shop_metadata(*info.context.caller, id, change)
    raise Refused(Problem("NOT_FOUND", "There is no object with metadata with this ID.", "id"))
