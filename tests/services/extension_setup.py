"""A staff member, an app with a page in the dashboard, and an extension token."""

from dataclasses import dataclass

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.apps import extension_token, make_extension_app
from tests.builders.people import actor_of, make_group, make_user, visit

ORDERS, PAGES = Permission.MANAGE_ORDERS, Permission.MANAGE_PAGES


@dataclass(frozen=True, slots=True)
class Scene:
    """Somebody who holds ORDERS directly and PAGES by a group, and an app that holds both."""

    user: int
    group: int
    caller: Actor
    app: App
    token: str


def set_scene(ports: Ports) -> Scene:
    group = make_group(ports, "editors", PAGES)
    user = make_user(ports, "ann@example.com", is_staff=True, permissions=[ORDERS], groups=[group])
    caller = actor_of(ports, user)
    app = make_extension_app(ports, "extension", ORDERS, PAGES)
    return Scene(user, group, caller, app, token_for(ports, caller, app))


def token_for(ports: Ports, caller: Actor, app: App) -> str:
    token = extension_token(ports, caller, app)
    assert token is not None
    return token


def acts(ports: Ports, token: str) -> Actor:
    return identify(ports, visit(token)).actor
