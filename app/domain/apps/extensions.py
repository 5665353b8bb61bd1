"""The dashboard extensions of apps, and the tokens with which they act for users."""

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
    """An entry in the dashboard: ``mount`` says where, ``target`` how it opens.

    ``url`` is the app's text, ``address`` the URL to open. A user needs ``permissions`` to see it;
    ``settings`` are passed to the dashboard.
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
        return extension_address(self.url, self.target, self.app.app_url)


def extension_address(url: str, target: str, app_url: str) -> str:
    """Return the URL that an extension of the app at ``app_url`` opens."""
    if target == APP_PAGE or not is_path(url):
        return url
    return below(app_url, url)


def extension_claims(app: App, user_permissions: frozenset[Permission]) -> dict[str, object]:
    """Return the claims of an extension's token besides those of an access token.

    The permissions are for the app's back end; this service computes them at every request.
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
    """Return the app's permissions that its extensions can use for a user who holds them too.

    Without MANAGE_APPS, which is for people only, even if the app was granted it before that was
    refused.
    """
    return granted - {Permission.MANAGE_APPS}
