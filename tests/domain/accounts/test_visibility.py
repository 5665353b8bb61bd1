"""What belongs to an account is visible to its owner and to those who manage such accounts."""

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.accounts.users import ACCOUNT_READERS, User, sees_account
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CUSTOMER = User(
    id=7,
    email="customer@example.com",
    first_name="",
    last_name="",
    is_staff=False,
    is_active=True,
    is_confirmed=True,
    is_superuser=False,
    date_joined=NOW,
    updated_at=NOW,
    last_login=None,
)
STAFF = replace(CUSTOMER, id=8, is_staff=True)


def caller(*permissions: Permission, user_id: int = 1) -> Actor:
    return Actor(ActorKind.USER, user_id=user_id, permissions=frozenset(permissions))


@cases("user", [CUSTOMER, STAFF])
def test_only_readers_see_other_peoples_accounts(user: User) -> None:
    readers = ACCOUNT_READERS[user.is_staff]
    assert not sees_account(
        caller(*(ALL_PERMISSIONS - set(readers))), user.id, is_staff=user.is_staff
    )
    for permission in readers:
        assert sees_account(caller(permission), user.id, is_staff=user.is_staff)


def test_people_see_their_own_account() -> None:
    assert sees_account(caller(user_id=CUSTOMER.id), CUSTOMER.id, is_staff=False)
    assert sees_account(OPERATOR, CUSTOMER.id, is_staff=False)
    assert not sees_account(anonymous(), CUSTOMER.id, is_staff=False)


def test_proven_user_is_visible_to_the_request_that_proved_it() -> None:
    assert sees_account(anonymous(), CUSTOMER.id, is_staff=False, proven={CUSTOMER.id})
    assert not sees_account(anonymous(), CUSTOMER.id, is_staff=False, proven={STAFF.id})
