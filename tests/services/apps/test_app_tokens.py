"""The tokens of apps: made and told once, listed, revoked."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    list_app_tokens,
    revoke_app_token,
)
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff, visit
from tests.fakes.clock import FakeClock

APPS = Permission.MANAGE_APPS


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def opens(ports: Ports, token: str) -> bool:
    return identify(ports, visit(token)).actor.is_app


def test_app_can_have_several_tokens(ports: Ports) -> None:
    app, first = make_app(ports, "Warehouse")
    boss = actor_of(ports, make_staff(ports, "boss@example.com", APPS))
    second = create_app_token(ports, boss, app, TokenOptions("nightly"))
    assert second.secret != first
    assert identify(ports, visit(second.secret)).actor.app_id == app
    assert opens(ports, first)
    [row] = trail(ports, "app_token.create")
    assert (row.actor_name, row.subject_name) == ("boss@example.com", "Warehouse")
    assert row.after["last_four"] == second.secret[-4:]
    assert second.secret not in str(row.after)


def test_token_expires_at_its_set_time(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports)
    until = clock.now() + timedelta(hours=1)
    new = create_app_token(ports, OPERATOR, app, TokenOptions(expires_at=until))
    clock.pass_(minutes=59)
    assert opens(ports, new.secret)
    clock.pass_(minutes=1)
    assert not opens(ports, new.secret)


def test_token_expiry_must_be_in_the_future(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports)
    with pytest.raises(Refused) as refused:
        create_app_token(ports, OPERATOR, app, TokenOptions("a\nb", clock.now()))
    assert codes(refused) == [("name", "INVALID"), ("expiresAt", "INVALID")]


def test_token_list_shows_only_the_last_characters(ports: Ports) -> None:
    app, first = make_app(ports)
    new = create_app_token(ports, OPERATOR, app, TokenOptions("nightly"))
    make_app(ports, "another")
    listed = list_app_tokens(ports, OPERATOR, app)
    assert [(token.name, token.last_four) for token in listed] == [
        ("", first[-4:]),
        ("nightly", new.secret[-4:]),
    ]
    assert listed[1] == new.token
    assert new.secret not in repr((new, listed))


def test_revoked_token_is_rejected_on_the_next_request(ports: Ports) -> None:
    app, first = make_app(ports, "Warehouse")
    new = create_app_token(ports, OPERATOR, app, TokenOptions("nightly"))
    assert opens(ports, new.secret)
    assert revoke_app_token(ports, OPERATOR, new.token.id) == new.token
    assert not opens(ports, new.secret)
    assert opens(ports, first)
    [row] = trail(ports, "app_token.revoke")
    assert row.before == {"name": "nightly", "last_four": new.secret[-4:]}


def test_unknown_id_is_not_found(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        create_app_token(ports, OPERATOR, 4711)
    assert codes(refused) == [("app", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        list_app_tokens(ports, OPERATOR, 4711)
    assert codes(refused) == [("app", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        revoke_app_token(ports, OPERATOR, 4711)
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_tokens_of_a_more_privileged_app_cannot_be_managed(ports: Ports) -> None:
    app, token = make_app(ports, "mighty", Permission.MANAGE_PAGES)
    [existing] = list_app_tokens(ports, OPERATOR, app)
    boss = actor_of(ports, make_staff(ports, "boss@example.com", APPS))
    with pytest.raises(Refused) as refused:
        create_app_token(ports, boss, app)
    assert codes(refused) == [("app", "OUT_OF_SCOPE_APP")]
    with pytest.raises(Refused) as refused:
        revoke_app_token(ports, boss, existing.id)
    assert codes(refused) == [("id", "OUT_OF_SCOPE_APP")]
    assert opens(ports, token)


def test_app_cannot_create_or_revoke_tokens(ports: Ports) -> None:
    app, token = make_app(ports, "too mighty", *ALL_PERMISSIONS)
    actor = identify(ports, visit(token)).actor
    with pytest.raises(Refused) as refused:
        create_app_token(ports, actor, app)
    assert codes(refused) == [("app", "OUT_OF_SCOPE_APP")]
    with pytest.raises(PermissionDenied):
        list_app_tokens(ports, actor, app)
    with pytest.raises(PermissionDenied):
        revoke_app_token(ports, actor, 1)
