"""Rights that are taken away between asking for an app and the end of its handshake."""

from collections.abc import Callable

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.ports import Ports
from app.services.people.user_status import deactivate_user
from app.services.sign_in.sessions import deactivate_all_tokens
from tests.builders.second_factor_rule import require_second_factor
from tests.servers.apps import Handshake, app_server
from tests.servers.http import Reply
from tests.services.installation_helpers import (
    GRANTED,
    boss,
    failed,
    left_behind,
    opens,
    want,
    work,
)

LOST = "The person who asked for this app doesn't have the permissions to install it anymore."

Revoke = Callable[[Ports, Actor], object]


def deactivate(ports: Ports, actor: Actor) -> None:
    deactivate_user(ports, OPERATOR, actor.user_id or 0)


def take_permissions(ports: Ports, _actor: Actor) -> None:
    with ports.database.transaction() as session:
        session.execute(delete(models.UserPermission))


def take_granted_permission(ports: Ports, _actor: Actor) -> None:
    granted = models.UserPermission.permission.in_([permission.value for permission in GRANTED])
    with ports.database.transaction() as session:
        session.execute(delete(models.UserPermission).where(granted))


def require_factor(ports: Ports, _actor: Actor) -> None:
    require_second_factor(ports)


REVOCATIONS = [deactivate, take_permissions, take_granted_permission, require_factor]


@pytest.mark.parametrize("revoke", REVOCATIONS)
def test_nothing_is_installed_for_a_person_who_lost_the_right_before_it_began(
    ports: Ports, revoke: Revoke
) -> None:
    manager = boss(ports)
    with app_server() as app:
        want(ports, app, manager)
        revoke(ports, manager)
        work(ports)
        assert app.handshakes == []

    assert failed(ports) == LOST
    assert left_behind(ports) == {}


@pytest.mark.both_databases
@pytest.mark.parametrize("revoke", REVOCATIONS)
def test_app_is_removed_when_the_right_is_lost_during_its_handshake(
    ports: Ports, second_process: Ports, revoke: Revoke
) -> None:
    manager = boss(ports)

    def answer(_handshake: Handshake) -> Reply:
        revoke(second_process, manager)
        return Reply()

    with app_server() as app:
        app.decide = answer
        want(ports, app, manager)
        work(ports)
        [handshake] = app.handshakes

    assert failed(ports) == LOST
    assert left_behind(ports) == {}
    assert not opens(ports, handshake.token)


def test_signing_out_does_not_stop_an_installation(ports: Ports) -> None:
    manager = boss(ports)
    with app_server() as app:
        want(ports, app, manager)
        deactivate_all_tokens(ports, manager)
        work(ports)
        [handshake] = app.handshakes

    assert opens(ports, handshake.token)
