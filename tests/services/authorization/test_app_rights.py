"""Apps as callers: contract, "Apps and extensions", "Modes, precisely"."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from app import models
from app.domain.apps.apps import TOKEN_RANDOM_LENGTH, make_app_token
from app.domain.authorization.actor import ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, admits
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import Identity, identify
from tests.builders.apps import make_app
from tests.builders.people import visit
from tests.builders.shop import close_storefront, set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import plans, recorded_statements, selects

GRANTED = frozenset({Permission.MANAGE_APPS, Permission.MANAGE_SETTINGS})


def who(ports: Ports, credential: str | None = None) -> Identity:
    return identify(ports, visit(credential))


def test_app_works_in_every_mode_and_with_a_closed_storefront(ports: Ports) -> None:
    app_id, token = make_app(ports, "Importer", *GRANTED)
    close_storefront(ports)
    for mode in PasswordLoginMode:
        set_mode(ports, mode)

        identity = who(ports, token)

        actor = identity.actor
        assert (actor.kind, actor.app_id, actor.user_id) == (ActorKind.APP, app_id, None), mode
        assert (actor.name, actor.permissions) == ("Importer", GRANTED), mode
        assert (actor.is_staff, actor.origin) == (False, SessionOrigin.NONE), mode
        assert identity.user is None, mode
        assert admits(actor, identity.switches), mode


def test_app_without_permissions_passes_a_closed_storefront(ports: Ports) -> None:
    _, token = make_app(ports)
    close_storefront(ports)

    identity = who(ports, token)

    assert identity.actor.permissions == frozenset()
    assert admits(identity.actor, identity.switches)


def test_inactive_app_is_anonymous(ports: Ports) -> None:
    _, token = make_app(ports, "Retired", *GRANTED, is_active=False)
    close_storefront(ports)

    identity = who(ports, token)

    assert identity.actor.kind is ActorKind.ANONYMOUS
    assert identity.actor.fault is TokenFault.INVALID
    assert not admits(identity.actor, identity.switches)


def test_unknown_or_revoked_app_token_is_anonymous(ports: Ports) -> None:
    _, token = make_app(ports)
    unknown = make_app_token("x" * TOKEN_RANDOM_LENGTH)
    assert who(ports, token).actor.is_app
    with ports.database.transaction() as session:
        session.execute(delete(models.AppToken))

    assert who(ports, unknown).actor.fault is TokenFault.INVALID
    assert who(ports, token).actor.fault is TokenFault.INVALID


def test_app_token_expires_at_its_exact_time(ports: Ports, clock: FakeClock) -> None:
    _, token = make_app(ports)
    with ports.database.transaction() as session:
        session.execute(
            update(models.AppToken).values(expires_at=clock.now() + timedelta(hours=1))
        )
    clock.pass_(seconds=3599.999)
    assert who(ports, token).actor.is_app
    clock.pass_(seconds=0.001)

    assert who(ports, token).actor.fault is TokenFault.INVALID


@pytest.mark.both_databases
def test_app_token_lookup_uses_an_index(sqlite_url: str, clock: FakeClock) -> None:
    ports = fake_ports(sqlite_url, clock)
    _, token = make_app(ports)
    with recorded_statements() as statements:
        assert who(ports, token).actor.is_app
    plan = plans(ports, selects(statements))
    assert any(re.match(r"SEARCH app_tokens USING INDEX \w+ \(digest=\?\)", step) for step in plan)
    assert not any(step.startswith("SCAN") for step in plan), plan


def test_apps_are_identified_by_their_tokens(ports: Ports) -> None:
    first, first_token = make_app(ports, "First", Permission.MANAGE_APPS)
    second, second_token = make_app(ports, "Second")

    assert who(ports, first_token).actor.app_id == first
    assert who(ports, second_token).actor.app_id == second
    assert who(ports, second_token).actor.permissions == frozenset()
