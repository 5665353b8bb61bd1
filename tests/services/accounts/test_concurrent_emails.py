"""An address that somebody else takes between the look whether it is free and the writing.

On PostgreSQL alone: SQLite lets nobody else write meanwhile.
"""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.registration import NewAccount, register_account
from app.services.people.customers import NewCustomer, create_customer, update_customer
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from app.services.people.users import Details, NewUser, create_user
from tests.builders.outbox import events, mails
from tests.builders.people import NOBODY, PASSWORD, make_staff, make_user
from tests.services.error_codes import codes

WANTED = "ann@example.com"
Taking = Callable[[Ports, str], object]


@pytest.fixture
def database_url(postgresql_url: str) -> str:
    return postgresql_url


@pytest.fixture
def quicker(second_process: Ports) -> Iterator[list[int]]:
    """Whoever is about to write the wanted address finds that somebody else just has."""
    keys: list[int] = []

    def take(session: Session, *_rest: object) -> None:
        mine = [
            record for record in (*session.new, *session.dirty) if isinstance(record, models.User)
        ]
        if not keys and WANTED in [record.email for record in mine]:
            keys.append(0)
            keys[0] = make_user(second_process, WANTED)

    event.listen(Session, "before_flush", take)
    yield keys
    event.remove(Session, "before_flush", take)


TAKINGS: dict[str, Taking] = {
    "a user is made": lambda ports, _key: create_user(ports, OPERATOR, NewUser(WANTED)),
    "staff are made": lambda ports, _key: create_staff(ports, OPERATOR, NewStaff(WANTED)),
    "a customer is made": lambda ports, _key: create_customer(
        ports, OPERATOR, NewCustomer(WANTED)
    ),
    "staff move": lambda ports, key: update_staff(
        ports, OPERATOR, key, StaffChanges(Details(email=WANTED))
    ),
    "a customer moves": lambda ports, key: update_customer(
        ports, OPERATOR, key, Details(email=WANTED)
    ),
}


@pytest.mark.parametrize("taking", TAKINGS.values(), ids=TAKINGS)
def test_second_user_of_an_email_is_refused(
    ports: Ports, quicker: list[int], taking: Taking, request: pytest.FixtureRequest
) -> None:
    is_staff = "staff" in request.node.name
    key = make_staff(ports, "old@example.com") if is_staff else make_user(ports, "old@example.com")
    with pytest.raises(Refused) as refused:
        taking(ports, to_global_id("User", key))
    assert len(quicker) == 1
    assert codes(refused) == [("email", "UNIQUE")]
    assert (mails(ports), events(ports)) == ([], [])


def test_second_registration_gets_the_same_answer(ports: Ports, quicker: list[int]) -> None:
    new = NewAccount(WANTED, PASSWORD, redirect_url="http://localhost:3000/confirm")
    assert register_account(ports, NOBODY, new).needs_confirmation
    [key] = quicker
    with ports.database.reading() as session:
        assert session.query(models.User).one().id == key
