"""Removing the second factors of someone who lost them."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.second_factors import ChallengePurpose
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.people.user_status import reset_second_factors, show_person
from app.services.second_factors.challenges import ask
from app.services.second_factors.stored_factors import FactorCounts, read_factors
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.people import actor_of, make_staff, make_user, sessions_of, sign_in, visit
from tests.builders.second_factor_rule import MFA, add_unusable_passkey
from tests.builders.second_factors import make_authenticator_app, make_recovery_codes

STAFF, USERS = Permission.MANAGE_STAFF, Permission.MANAGE_USERS


def uid(key: int) -> str:
    return to_global_id("User", key)


def factors(ports: Ports, user_id: int) -> FactorCounts:
    with ports.database.reading() as session:
        return read_factors(session, user_id)


@pytest.fixture
def manager(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", STAFF))


@pytest.fixture
def ann(ports: Ports) -> int:
    """A staff member with a passkey, an app, codes, two sessions and an unfinished sign-in."""
    user_id = make_staff(ports, "ann@example.com")
    sign_in(ports, user_id, SessionOrigin.OIDC)
    sign_in(ports, user_id, amr=MFA)
    add_unusable_passkey(ports, user_id)
    make_authenticator_app(ports, user_id)
    make_recovery_codes(ports, user_id)
    with ports.database.transaction() as session:
        ask(ports, session, ChallengePurpose.SIGN_IN, user_id=user_id)
    return user_id


def code(ports: Ports, actor: Actor, user_id: str) -> tuple[str | None, str]:
    with pytest.raises(Refused) as refused:
        reset_second_factors(ports, actor, user_id)
    (problem,) = refused.value.problems
    return problem.field, problem.code


@pytest.mark.parametrize("by_operator", [False, True])
def test_reset_removes_factors_codes_sessions_and_challenges(
    ports: Ports, manager: Actor, ann: int, by_operator: bool
) -> None:
    bob = make_staff(ports, "bob@example.com")
    add_unusable_passkey(ports, bob)

    reset_second_factors(ports, OPERATOR if by_operator else manager, uid(ann))

    assert factors(ports, ann) == FactorCounts()
    assert factors(ports, bob).passkeys == 1
    assert sessions_of(ports, ann) == []
    with ports.database.reading() as session:
        for record in (models.RecoveryCode, models.SecondFactorChallenge):
            assert session.scalar(select(func.count()).select_from(record)) == 0
    [entry] = trail(ports, "second_factor.reset")
    assert (entry.subject_name, entry.before) == (
        "ann@example.com",
        {"passkeys": 1, "authenticator_app": True, "recovery_codes": 10, "sessions": 2},
    )
    [mail] = mails(ports, MailKind.SECOND_FACTORS_RESET)
    assert mail.recipient == "ann@example.com"
    assert mail.values["not_me"] == ""


def test_account_without_a_factor_is_not_mailed(ports: Ports, manager: Actor) -> None:
    reset_second_factors(ports, manager, uid(make_staff(ports, "new@example.com")))
    assert mails(ports, MailKind.SECOND_FACTORS_RESET) == []


def test_own_factors_cannot_be_reset(ports: Ports, manager: Actor) -> None:
    assert manager.user_id is not None
    add_unusable_passkey(ports, manager.user_id)
    assert code(ports, manager, uid(manager.user_id)) == ("id", "INVALID")
    assert factors(ports, manager.user_id).is_active


def test_people_with_more_permissions_are_out_of_reach(ports: Ports, manager: Actor) -> None:
    orders = make_staff(ports, "orders@example.com", Permission.MANAGE_ORDERS)
    root = make_user(ports, "root@example.com", is_superuser=True)
    for user_id in (orders, root):
        add_unusable_passkey(ports, user_id)
        assert code(ports, manager, uid(user_id)) == ("id", "OUT_OF_SCOPE_USER")
        assert factors(ports, user_id).is_active


def test_missing_user_is_refused(ports: Ports, manager: Actor) -> None:
    assert code(ports, manager, uid(999)) == ("id", "NOT_FOUND")


def test_staff_need_manage_staff_and_customers_manage_users(ports: Ports, ann: int) -> None:
    customer = make_user(ports)
    add_unusable_passkey(ports, customer)
    of_users = actor_of(ports, make_staff(ports, "users@example.com", USERS))
    of_staff = actor_of(ports, make_staff(ports, "staff@example.com", STAFF))
    with pytest.raises(PermissionDenied):
        reset_second_factors(ports, of_users, uid(ann))
    with pytest.raises(PermissionDenied):
        reset_second_factors(ports, of_staff, uid(customer))
    reset_second_factors(ports, of_users, uid(customer))
    assert not factors(ports, customer).is_active
    assert factors(ports, ann).is_active


def test_no_app_can_reset_anyone(ports: Ports, ann: int) -> None:
    _, token = make_app(ports, "Hooks", STAFF, USERS)
    with pytest.raises(PermissionDenied):
        reset_second_factors(ports, identify(ports, visit(token)).actor, uid(ann))
    assert factors(ports, ann).is_active


def test_console_asks_for_a_fresh_proof(ports: Ports, manager: Actor, ann: int) -> None:
    with pytest.raises(ProofRequired):
        reset_second_factors(ports, replace(manager, proof_is_old=True), uid(ann))
    assert factors(ports, ann).is_active


def test_person_shows_factors(ports: Ports, manager: Actor, ann: int) -> None:
    assert show_person(ports, manager, ann).factors == FactorCounts(
        passkeys=1, has_authenticator_app=True, recovery_codes=10
    )
