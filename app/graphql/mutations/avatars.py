"""Setting and deleting the caller's avatar."""

import graphene

from app.domain.values.inputs import Upload
from app.graphql.context import Info
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.accounts.account_details import delete_avatar, update_avatar

_USER = "app.graphql.types.users.User"


class UserAvatarUpdate(AccountPayload):
    """The user with the new picture."""

    user = graphene.Field(_USER)


class UserAvatarDelete(AccountPayload):
    """The user without a picture."""

    user = graphene.Field(_USER)


class AvatarMutations(graphene.ObjectType):
    """Everybody's own picture."""

    user_avatar_update = graphene.Field(
        UserAvatarUpdate,
        description=(
            "Replaces the signed-in user's picture. Accepts PNG, JPEG, WebP and GIF; the "
            "picture is cropped to a square and its metadata is removed. Not available to "
            "dashboard extensions."
        ),
        image=graphene.Argument("app.graphql.types.scalars.Upload", required=True),
    )
    user_avatar_delete = graphene.Field(
        UserAvatarDelete,
        description=(
            "Removes the signed-in user's picture. Not available to dashboard extensions."
        ),
    )

    @staticmethod
    @answers(UserAvatarUpdate)
    def resolve_user_avatar_update(_root: object, info: Info, image: Upload) -> UserAvatarUpdate:
        return UserAvatarUpdate(user=update_avatar(info.context.ports, info.context.actor, image))

    @staticmethod
    @answers(UserAvatarDelete)
    def resolve_user_avatar_delete(_root: object, info: Info) -> UserAvatarDelete:
        return UserAvatarDelete(user=delete_avatar(info.context.ports, info.context.actor))
