"""An extension's token ends with the session, with either side, and after five minutes."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.apps.app_changes import deactivate_app, delete_app
from app.services.people.user_status import deactivate_user, sign_out_user
from app.services.sign_in.sessions import deactivate_all_tokens
from app.services.sign_in.tokens import verify_token
from tests.builders.people import NOBODY, sign_in
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.services.extension_setup import Scene, acts, set_scene, token_for

USERS = Permission.MANAGE_USERS
PASSWORD, OIDC = SessionOrigin.PASSWORD, SessionOrigin.OIDC


def _remove(ports: Ports, statement: object) -> None:
    with ports.database.transaction() as session:
        session.execute(statement)  # type: ignore[call-overload]


def _sign_out(ports: Ports, scene: Scene) -> None:
    _remove(ports, delete(models.Session).where(models.Session.user_id == scene.user))


@pytest.mark.parametrize(
    "end",
    [
        _sign_out,
        lambda ports, scene: deactivate_all_tokens(ports, scene.caller),
        lambda ports, scene: sign_out_user(ports, OPERATOR, scene.user),
        lambda ports, scene: deactivate_user(ports, OPERATOR, scene.user),
        lambda ports, scene: deactivate_app(ports, OPERATOR, scene.app.id),
        lambda ports, scene: delete_app(ports, OPERATOR, scene.app.id),
    ],
    ids=["session", "all", "signed out", "user", "app off", "app gone"],
)
def test_extension_token_ends_with_its_user_app_or_session(
    ports: Ports, second_process: Ports, end: Callable[[Ports, Scene], object]
) -> None:
    scene = set_scene(ports)
    assert acts(second_process, scene.token).is_user
    end(ports, scene)
    assert acts(second_process, scene.token).fault is TokenFault.INVALID
    with pytest.raises(Refused) as refused:
        verify_token(second_process, NOBODY, token=scene.token)
    assert refused.value.problems[0].code == "JWT_INVALID_TOKEN"


def test_extension_token_expires_after_five_minutes_or_with_its_session(
    ports: Ports, clock: FakeClock
) -> None:
    scene = set_scene(ports)
    clock.pass_(seconds=299)
    assert acts(ports, scene.token).is_user
    clock.pass_(seconds=1)
    assert acts(ports, scene.token).fault is TokenFault.EXPIRED
    ends = clock.now() + timedelta(seconds=60)
    with ports.database.transaction() as session:
        session.get_one(models.Session, scene.caller.session_id).expires_at = ends
    short = claims_in(ports, token_for(ports, scene.caller, scene.app))
    assert short["exp"] == int(ends.timestamp())


def test_replaced_session_is_not_revived(ports: Ports) -> None:
    scene = set_scene(ports)
    deactivate_all_tokens(ports, scene.caller)
    sign_in(ports, scene.user)
    assert acts(ports, scene.token).fault is TokenFault.INVALID
