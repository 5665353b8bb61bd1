"""A dashboard extension acts for a person, but never on the person's own account."""

from collections.abc import Callable

import pytest

from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.password_changes import change_password
from app.services.sign_in.sessions import (
    deactivate_all_tokens,
    end_other_sessions,
    end_session,
    list_sessions,
)
from app.services.single_sign_on.provider_sessions import log_out_external
from tests.builders.people import PASSWORD, sessions_of
from tests.graphql.shop_client import ApiClient
from tests.services.extension_setup import Scene, acts, set_scene

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
_SIGN_OUT = "mutation { tokensDeactivateAll { errors { code } } }"


def test_extension_token_cannot_sign_its_user_out_everywhere(ports: Ports) -> None:
    scene = set_scene(ports)

    response = ApiClient(ports).ask(_SIGN_OUT, scene.token)

    assert response["errors"][0]["extensions"]["exception"]["code"] == "PermissionDenied"
    assert len(sessions_of(ports, scene.user)) == 1
    assert acts(ports, scene.token).is_user


def test_person_can_sign_out_everywhere(ports: Ports) -> None:
    scene = set_scene(ports)
    deactivate_all_tokens(ports, scene.caller)
    assert sessions_of(ports, scene.user) == []


def test_extension_token_cannot_touch_sessions_or_password(ports: Ports) -> None:
    scene = set_scene(ports)
    attacks: list[Callable[[Ports, Scene], object]] = [
        lambda ports, scene: list_sessions(ports, acts(ports, scene.token)),
        lambda ports, scene: end_other_sessions(ports, acts(ports, scene.token)),
        lambda ports, scene: end_session(
            ports, acts(ports, scene.token), to_global_id("Session", scene.caller.session_id or 0)
        ),
        lambda ports, scene: change_password(
            ports,
            acts(ports, scene.token),
            old_password=PASSWORD,
            new_password="another good long sentence",
        ),
    ]
    for attack in attacks:
        with pytest.raises(PermissionDenied):
            attack(ports, scene)
        assert len(sessions_of(ports, scene.user)) == 1


def test_extension_token_does_not_end_the_session_by_logging_out(ports: Ports) -> None:
    scene = set_scene(ports)

    log_out_external(ports, acts(ports, scene.token), plugin_id="none", values={})
    assert len(sessions_of(ports, scene.user)) == 1

    log_out_external(ports, scene.caller, plugin_id="none", values={})
    assert sessions_of(ports, scene.user) == []
