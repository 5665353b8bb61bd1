"""What apps add to the dashboard, and the tokens that they act by for whoever uses it."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission, in_order
from app.domain.sign_in.tokens import Claims
from app.domain.urls.web_urls import below, is_path
from app.domain.values.ids import to_global_id
from app.domain.values.times import CLOCK_LEEWAY

APP_PAGE = "APP_PAGE"
"""The target that stays inside the dashboard's page of the app: its ``url`` is a path there."""

DEFAULT_TARGET = "POPUP"

TOKEN_LIFETIME = 300
"""Seconds (contract, "What existing clients hold us to")."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One entry that an app adds: ``mount`` says where, ``target`` how it opens.

    ``url`` is as the app wrote it, ``address`` what to open. ``permissions`` are what somebody
    must hold to be shown it; ``settings`` are the dashboard's business, passed on as they are.
    """

    id: int
    app: App
    label: str
    url: str
    mount: str
    target: str
    identifier: str
    permissions: frozenset[Permission]
    settings: Mapping[str, object]

    @property
    def address(self) -> str:
        """``url``, a path taken relative to ``appUrl`` unless the dashboard does that itself."""
        if self.target == APP_PAGE or not is_path(self.url):
            return self.url
        return below(self.app.app_url, self.url)


def extension_claims(app: App, user_permissions: frozenset[Permission]) -> dict[str, object]:
    """What the token of an extension of ``app`` holds beside the claims of an access token.

    The permissions are for the app's own back end to look at: here they are computed anew at every
    request.
    """
    both = user_permissions & extension_permissions(app.permissions)
    claims: dict[str, object] = {
        "app": to_global_id("App", app.id),
        "permissions": [permission.value for permission in in_order(both)],
        "user_permissions": [permission.value for permission in in_order(user_permissions)],
    }
    return claims | ({"aud": f"custom:{app.audience}"} if app.audience else {})


def is_older_than_app(claims: Claims, app_created: float) -> bool:
    """Whether a token was issued before the app it names was created (Unix seconds)."""
    return claims.iat + CLOCK_LEEWAY < app_created


def extension_permissions(granted: frozenset[Permission]) -> frozenset[Permission]:
    """What of an app's permissions its extensions may use for somebody who holds them too.

    Managing apps is for people alone, so no extension does it in their name, not even one of an
    app that was given the permission before that was refused.
    """
    return granted - {Permission.MANAGE_APPS}
