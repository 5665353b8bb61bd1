"""The apps that recorded exchanges name by ID, and extension tokens."""

import re

import jwt

from app import models
from app.domain.apps.apps import AppType, last_four
from app.domain.authorization.permissions import Permission
from tests.spec.exchanges import Exchange
from tests.spec.forged_tokens import Forger
from tests.spec.replay import Replay

_PAGE_APP = 9
_LOCAL_APP = 18
_LOCAL_TOKEN = 38
_GRANTED = {
    _PAGE_APP: (Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS),
    _LOCAL_APP: (Permission.MANAGE_PRODUCTS,),
}
_ACCESS_TOKEN = '{app(id:"QXBwOjk="){accessToken}}'
_LONG_AGO = 3600
_EXTENSION_OF = re.compile(r"extension_token_of_([a-z]+)_")


def add_apps(replay: Replay, exchange: Exchange) -> None:
    """Add two apps under the recorded IDs, and an extension token."""
    shop = replay.shop
    now = shop.ports.clock.now()
    page, local = AppType.THIRDPARTY.value, AppType.LOCAL.value
    with shop.ports.database.transaction() as session:
        session.add(models.App(id=_PAGE_APP, name="thirdparty", type=page, created_at=now))
        session.add(models.App(id=_LOCAL_APP, name="rec-app", type=local, created_at=now))
        session.flush()
        session.add_all(
            models.AppPermission(app_id=app, permission=permission.value)
            for app, granted in _GRANTED.items()
            for permission in granted
        )
        session.add(
            models.AppToken(
                id=_LOCAL_TOKEN,
                app_id=_LOCAL_APP,
                name="t2",
                digest="0" * 64,
                last_four=last_four("none"),
                created_at=now,
            )
        )
    replay.given["APP_TOKEN"] = shop.app_token("INACTIVE")
    who = _EXTENSION_OF.search(exchange.name)
    if who is not None:
        token = _extension_token(replay, who[1])
        replay.given |= {"APP_USER_JWT": token, "JWT": _expired(replay, token)}


def _extension_token(replay: Replay, who: str) -> str:
    response = replay.client.run(_ACCESS_TOKEN, replay.shop.access(who))
    token: str = response.data["app"]["accessToken"]
    return token


def _expired(replay: Replay, token: str) -> str:
    claims = jwt.decode(token, options={"verify_signature": False})
    past = {"iat": claims["iat"] - _LONG_AGO, "exp": claims["exp"] - _LONG_AGO}
    return Forger(replay.shop).sign(claims | past)
