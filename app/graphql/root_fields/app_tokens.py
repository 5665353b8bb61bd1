"""Making, replacing, ending and verifying the tokens of apps."""

from datetime import timedelta
from typing import Any

import graphene

from app.domain.apps.apps import DEFAULT_OVERLAP
from app.graphql.context import Info
from app.graphql.fields import key_in
from app.graphql.root_fields.payloads import AppPayload, mutation
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    revoke_app_token,
    rotate_app_token,
    verify_app_token,
)

_TYPE = "app.graphql.types.apps.AppToken"
_HOURS = int(DEFAULT_OVERLAP.total_seconds() // 3600)


class AppTokenInput(graphene.InputObjectType):
    """The token to create."""

    name = graphene.String(description="A name to recognize the token by.")
    app = graphene.ID(required=True)
    expires_at = graphene.DateTime(
        description="Expiry. By default, the token works until it's revoked."
    )
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="The token's permissions. Default: all permissions of the app.",
    )


class AppTokenCreate(AppPayload):
    """The new token, returned only once."""

    auth_token = graphene.String()
    app_token = graphene.Field(_TYPE)


class AppTokenRotate(AppPayload):
    """The new token, returned only once."""

    auth_token = graphene.String()
    app_token = graphene.Field(_TYPE)


class AppTokenDelete(AppPayload):
    """The revoked token."""

    app_token = graphene.Field(_TYPE)


class AppTokenVerify(AppPayload):
    """Whether a token works."""

    valid = graphene.NonNull(graphene.Boolean)


class AppTokenMutations(graphene.ObjectType):
    """The tokens of apps, managed by people who hold MANAGE_APPS."""

    @mutation(
        "Creates a token for an app. The token is returned only once. For staff with "
        "MANAGE_APPS, not for apps.",
        input=AppTokenInput(required=True),
    )
    def app_token_create(_root: object, info: Info, input: dict[str, Any]) -> AppTokenCreate:
        permissions = input.get("permissions")
        new_token = TokenOptions(
            name=input.get("name") or "",
            expires_at=input.get("expires_at"),
            permissions=None if permissions is None else frozenset(permissions),
        )
        app_id = key_in(input["app"], "App")
        new = create_app_token(info.context.ports, info.context.actor, app_id, new_token)
        return AppTokenCreate(auth_token=new.secret, app_token=new.token)

    @mutation(
        "Replaces a token with a new one, which is returned only once. The old token "
        "keeps working for a grace period. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
        overlap_seconds=graphene.Int(
            description=f"Seconds the old token keeps working. Default: {_HOURS} hours."
        ),
    )
    def app_token_rotate(
        _root: object, info: Info, id: str, overlap_seconds: int | None = None
    ) -> AppTokenRotate:
        overlap = (
            DEFAULT_OVERLAP if overlap_seconds is None else timedelta(seconds=overlap_seconds)
        )
        token_id = key_in(id, "AppToken")
        new = rotate_app_token(info.context.ports, info.context.actor, token_id, overlap)
        return AppTokenRotate(auth_token=new.secret, app_token=new.token)

    @mutation(
        "Revokes a token immediately. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_token_delete(_root: object, info: Info, id: str) -> AppTokenDelete:
        token = revoke_app_token(info.context.ports, info.context.actor, key_in(id, "AppToken"))
        return AppTokenDelete(app_token=token)

    app_token_verify = graphene.Field(
        AppTokenVerify,
        description=(
            "Checks whether a token works: its app is active and the token hasn't expired. "
            "Anyone can call it."
        ),
        token=graphene.String(required=True),
    )

    @staticmethod
    def resolve_app_token_verify(_root: object, info: Info, token: str) -> AppTokenVerify:
        return AppTokenVerify(
            valid=verify_app_token(info.context.ports, info.context.actor, token)
        )
