"""The token inspector on our own tokens and on those of apps."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.inspector import (
    CheckName,
    CheckOutcome,
    Inspection,
    KeyStatus,
    LossReason,
    TokenKind,
)
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.identity.identify import Visitor, identify
from app.services.inspector.inspect import inspect_token
from app.services.keys import rotate_keys
from tests.builders.apps import change_app, import_token, make_app, make_extension_app
from tests.builders.people import (
    ISSUER,
    NOBODY,
    actor_of,
    change_user,
    make_staff,
    make_user,
    sign_in,
)
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, extension_of
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

ORDERS, SHIPPING, USERS, STAFF = (
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_SHIPPING,
    Permission.MANAGE_USERS,
    Permission.MANAGE_STAFF,
)
INSPECTOR = replace(OPERATOR, issuer=ISSUER)


@pytest.fixture
def token(ports: Ports) -> str:
    """A customer's."""
    return sign_in(ports, make_user(ports)).access


def inspect(ports: Ports, token: str, actor: Actor = INSPECTOR) -> Inspection:
    return inspect_token(ports, actor, token)


def failure(found: Inspection) -> tuple[CheckName, CheckOutcome]:
    """The check that ended it."""
    assert not found.is_valid
    last = found.checks[-1]
    return last.name, last.outcome


def test_access_token_is_shown_with_person_and_permissions(ports: Ports) -> None:
    user_id = make_staff(ports, "tom@example.com", ORDERS)
    token = sign_in(ports, user_id).access
    found = inspect(ports, f" Bearer {token}\n")
    assert (found.kind, found.is_valid) == (TokenKind.ACCESS, True)
    assert (found.header["alg"], found.claims["email"]) == ("RS256", "tom@example.com")
    assert found.key is not None
    assert (found.key.kid, found.key.status) == (found.header["kid"], KeyStatus.ACTIVE)
    assert found.bearer is not None
    assert (found.bearer.id, found.bearer.email) == (user_id, "tom@example.com")
    assert found.session is not None
    assert found.session.origin is SessionOrigin.PASSWORD
    assert found.effective == (ORDERS,)
    assert [check.name for check in found.checks] == [
        CheckName.FORM,
        CheckName.KEY,
        CheckName.SIGNATURE,
        CheckName.CLAIMS,
        CheckName.ISSUER,
        CheckName.TIME,
        CheckName.SESSION,
        CheckName.PERSON,
        CheckName.LOGIN_MODE,
    ]


def test_inspection_result_does_not_contain_the_token(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    _, secret = make_app(ports)
    for token in (pair.access, pair.refresh, secret):
        found = inspect(ports, token)
        assert token not in repr(found)
        assert token not in f"{found.header}{found.claims}{found.app}"


def test_refresh_token_is_recognized(ports: Ports) -> None:
    found = inspect(ports, sign_in(ports, make_user(ports)).refresh)
    assert (found.kind, found.is_valid) == (TokenKind.REFRESH, True)


def test_extension_token_has_permissions_that_both_hold(ports: Ports) -> None:
    app = make_extension_app(ports, "Labels", ORDERS, SHIPPING)
    user_id = make_staff(ports, "tom@example.com", ORDERS, USERS)
    token = extension_of(ports, sign_in(ports, user_id).access, app.id)
    found = inspect(ports, token)
    assert (found.kind, found.effective) == (TokenKind.EXTENSION, (ORDERS,))
    assert found.app is not None
    assert found.app.name == "Labels"
    assert {
        right.permission: (right.by_person, right.by_app, right.lost_by)
        for right in found.rights or ()
    } == {
        ORDERS: (True, True, None),
        SHIPPING: (False, True, LossReason.PERSON),
        USERS: (True, False, LossReason.APP),
    }
    change_app(ports, app.id, is_active=False)
    off = inspect(ports, token)
    assert [check.name for check in off.checks if check.outcome is CheckOutcome.FAILED] == [
        CheckName.APP
    ]
    assert off.effective == ()


def test_login_mode_losses_and_sso_permissions_are_shown(ports: Ports) -> None:
    token = sign_in(ports, make_staff(ports, "tom@example.com", ORDERS)).access
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    found = inspect(ports, token)
    assert (found.is_valid, found.effective, found.by_sign_on) == (True, (), (ORDERS,))
    assert found.checks[-1].outcome is CheckOutcome.WARNING
    assert [right.lost_by for right in found.rights or ()] == [LossReason.LOGIN_MODE]
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert failure(inspect(ports, token)) == (CheckName.LOGIN_MODE, CheckOutcome.FAILED)


def test_sso_session_keeps_its_permissions(ports: Ports) -> None:
    user_id = make_staff(ports, "tom@example.com", ORDERS)
    token = sign_in(ports, user_id, SessionOrigin.OIDC).access
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert inspect(ports, token).effective == (ORDERS,)


def test_invalid_token_is_explained(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    token = sign_in(ports, user_id).access
    cases = {
        altered(ports, token, iss="https://other.example/graphql/"): CheckName.ISSUER,
        altered(ports, token, owner="another"): CheckName.CLAIMS,
        altered(ports, token, type="other"): CheckName.CLAIMS,
        altered(ports, token, user_id=...): CheckName.CLAIMS,
        altered(ports, token, exp=int(clock.timestamp())): CheckName.TIME,
        altered(ports, token, nbf=int(clock.timestamp()) + 61): CheckName.TIME,
        f"{token[:-8]}AAAAAAAA": CheckName.SIGNATURE,
    }
    for broken, name in cases.items():
        assert failure(inspect(ports, broken))[0] is name
    dead = altered(ports, token, token="x" * 16)
    assert CheckName.SESSION in {
        check.name for check in inspect(ports, dead).checks if check.outcome is CheckOutcome.FAILED
    }
    change_user(ports, user_id, is_active=False)
    assert [
        check.name
        for check in inspect(ports, token).checks
        if check.outcome is CheckOutcome.FAILED
    ] == [CheckName.PERSON]
    clock.pass_(minutes=6)
    expired = inspect(ports, token)
    assert failure(expired)[0] is CheckName.TIME
    assert expired.checks[-1].moment == datetime(2026, 3, 1, 12, 5, tzinfo=UTC)


def test_retired_and_removed_keys_are_reported(ports: Ports, clock: FakeClock) -> None:
    token = sign_in(ports, make_user(ports)).refresh
    clock.pass_(hours=1)
    rotate_keys(ports, OPERATOR)
    retired = inspect(ports, token)
    assert retired.is_valid
    assert retired.key is not None
    assert retired.key.status is KeyStatus.RETIRED
    assert retired.key.verifies_until == clock.now() + timedelta(days=30)
    clock.pass_(hours=31 * 24)
    gone = inspect(ports, token)
    assert failure(gone)[0] is CheckName.KEY
    assert gone.key is not None
    assert gone.key.status is KeyStatus.ENDED


def test_app_token_is_shown_with_app_and_permissions(ports: Ports) -> None:
    app_id, token = make_app(ports, "Labels", ORDERS)
    found = inspect(ports, token)
    assert (found.kind, found.is_valid, found.effective) == (TokenKind.APP, True, (ORDERS,))
    assert found.app is not None
    assert (found.app.id, found.app.name, found.app.last_four) == (app_id, "Labels", token[-4:])
    change_app(ports, app_id, is_active=False)
    assert failure(inspect(ports, token))[0] is CheckName.APP
    with_typo = f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"
    assert failure(inspect(ports, with_typo))[0] is CheckName.FORM
    other, second_process = make_app(ports, "Gone")
    change_app(ports, other, is_active=False, is_installed=False)
    assert inspect(ports, second_process).is_valid


def test_imported_app_token_is_inspected_without_being_used(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Labels", ORDERS)
    token_id = import_token(ports, app_id, "Zx81SpectrumQl68008Commodore64")
    for text in ("unused", "used"):
        found = inspect(ports, "Zx81SpectrumQl68008Commodore64")
        assert (found.kind, found.is_valid, found.effective) == (TokenKind.APP, True, (ORDERS,))
        assert found.app is not None
        assert found.app.last_four == "re64"
        assert ("hasn't been used here yet" in found.checks[0].text) == (text == "unused")
        assert inspect(ports, "1wrongOneWithTheSameEndingre64").kind is TokenKind.UNREADABLE
        identify(ports, Visitor("Zx81SpectrumQl68008Commodore64"))
    change_app(ports, app_id, is_active=False)
    assert failure(inspect(ports, "Zx81SpectrumQl68008Commodore64"))[0] is CheckName.APP
    assert token_id


def test_permissions_are_shown_to_their_owner_and_managers(ports: Ports) -> None:
    tom = make_staff(ports, "tom@example.com", ORDERS)
    token = sign_in(ports, tom).access
    other = actor_of(ports, make_staff(ports, "other@example.com", USERS))
    manager = actor_of(ports, make_staff(ports, "manager@example.com", STAFF))
    hidden = inspect(ports, token, other)
    assert (hidden.rights, hidden.rights_hidden, hidden.is_valid) == (None, True, True)
    for actor in (manager, actor_of(ports, tom)):
        assert inspect(ports, token, actor).effective == (ORDERS,)
    with pytest.raises(PermissionDenied):
        inspect(ports, token, NOBODY)


@pytest.mark.both_databases
def test_inspection_costs_few_statements_and_writes_nothing(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    inspect(ports, token)
    with recorded_statements() as statements:
        inspect(ports, token)
    assert len(selects(statements)) <= 4
    assert not [
        statement
        for statement in statements
        if statement.startswith(("INSERT", "UPDATE", "DELETE"))
    ]


@cases(
    "text",
    [
        "",
        "  ",
        "Bearer",
        "bearer ",
        "a.b.c",
        "..",
        "a.b",
        "opaque",
        "\ud800.\0.x",
        "lkapp_",
        "ä.ö.ü",
    ],
)
def test_non_token_is_reported_without_a_fault(ports: Ports, text: str) -> None:
    found = inspect(ports, text)
    assert not found.is_valid
    assert found.checks[-1].text
    assert found.effective == ()


def test_overlong_token_is_not_parsed(ports: Ports) -> None:
    found = inspect(ports, "a." * MAX_PROVIDER_TOKEN_LENGTH)
    assert found.kind is TokenKind.UNREADABLE


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 900), letter=st.characters(), cut=st.integers(0, 3))
def test_no_change_to_a_token_makes_it_raise_or_pass(
    ports: Ports, token: str, place: int, letter: str, cut: int
) -> None:
    changed = token[:place] + letter + token[place + cut :]
    found = inspect(ports, changed)
    assert found.is_valid is (changed.strip() == token)
