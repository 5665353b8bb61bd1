"""Customers, made, changed and deleted by those who manage them."""

from collections.abc import Callable

import pytest

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.mails.mail import MailKind
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.identity.identify import identify
from app.services.people.customers import (
    NewCustomer,
    create_customer,
    delete_customer,
    update_customer,
)
from app.services.people.users import Details
from tests.builders.audit import trail
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    make_staff,
    make_user,
    sign_in,
    user_as_stored,
    visit,
)
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

USERS = Permission.MANAGE_USERS
REDIRECT = "http://localhost:3000/welcome"


@pytest.fixture
def clerk(ports: Ports) -> Actor:
    """Somebody who manages customers."""
    return actor_of(ports, make_staff(ports, "clerk@example.com", USERS))


def change(ports: Ports, actor: Actor, key: int, **details: object) -> User:
    return update_customer(
        ports,
        actor,
        to_global_id("User", key),
        Details(**details),  # type: ignore[arg-type]
    )


def test_new_customer_is_audited_and_published(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer(" Ann@Example.com", "Ann", "Lee"))
    assert (ann.email, ann.first_name, ann.last_name) == ("ann@example.com", "Ann", "Lee")
    assert (ann.is_staff, ann.is_active, ann.is_confirmed) == (False, True, False)
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("CUSTOMER_CREATED", ann.id)
    assert event.principal == ("User", clerk.user_id)
    [row] = trail(ports, "user.create")
    assert (row.actor_name, row.subject_name) == ("clerk@example.com", "ann@example.com")
    assert mails(ports) == []


def test_an_invitation_leads_to_the_first_password(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer("ann@example.com", redirect_url=REDIRECT))
    [mail] = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.CUSTOMER_INVITATION, "ann@example.com")
    assert "clerk" not in str(mail.values)
    created, requested = events(ports)
    assert (created.type, requested.type) == ("CUSTOMER_CREATED", "ACCOUNT_SET_PASSWORD_REQUESTED")
    assert requested.token == token_in(mail)
    pair = set_password(
        ports, NOBODY, email="ann@example.com", token=token_in(mail), password=PASSWORD
    )
    assert pair.user.id == ann.id
    assert (ann.is_confirmed, pair.user.is_confirmed) == (False, True)


def test_inactive_new_user_is_not_invited(ports: Ports, clerk: Actor) -> None:
    new = NewCustomer("ann@example.com", is_active=False, redirect_url=REDIRECT)
    assert not create_customer(ports, clerk, new).is_active
    assert mails(ports) == []


def test_all_problems_of_a_new_customer_are_reported(ports: Ports, clerk: Actor) -> None:
    new = NewCustomer("", "a\0b", redirect_url="https://evil.example/")
    with pytest.raises(Refused) as refused:
        create_customer(ports, clerk, new)
    assert codes(refused) == [
        ("email", "REQUIRED"),
        ("firstName", "INVALID"),
        ("redirectUrl", "INVALID"),
    ]


def test_email_belongs_to_one_user(ports: Ports, clerk: Actor) -> None:
    ann = make_user(ports, "ann@example.com")
    for taken in ("ANN@example.com", "clerk@example.com"):
        with pytest.raises(Refused) as refused:
            create_customer(ports, clerk, NewCustomer(taken))
        assert codes(refused) == [("email", "UNIQUE")]
    with pytest.raises(Refused) as refused:
        change(ports, clerk, ann, email="clerk@example.com")
    assert codes(refused) == [("email", "UNIQUE")]


def test_customer_change_is_audited_and_mailed_to_the_old_email(
    ports: Ports, clerk: Actor
) -> None:
    ann = make_user(ports, "ann@example.com", first_name="Ann", last_name="Lee")
    user = change(ports, clerk, ann, first_name="Anna", last_name=None, email="A@x.example")
    assert (user.first_name, user.last_name, user.email) == ("Anna", "", "a@x.example")
    change(ports, clerk, ann, is_confirmed=False)
    assert not user_as_stored(ports, ann).is_confirmed
    [mail] = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.EMAIL_CHANGED, "ann@example.com")
    assert [event.type for event in events(ports)] == ["CUSTOMER_UPDATED", "CUSTOMER_UPDATED"]
    first, second = trail(ports, "customer.update")
    assert first.before == {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}
    assert (second.before, second.after) == ({"is_confirmed": True}, {"is_confirmed": False})


def test_unchanged_values_are_neither_audited_nor_published(ports: Ports, clerk: Actor) -> None:
    ann = make_user(ports, "ann@example.com")
    change(ports, clerk, ann, email="ANN@example.com", is_active=True, first_name="")
    assert events(ports) == []
    assert trail(ports, "customer.update") == []


def test_deactivated_user_is_signed_out_immediately(ports: Ports, clerk: Actor) -> None:
    ann = make_user(ports, "ann@example.com")
    pair = sign_in(ports, ann)
    assert not change(ports, clerk, ann, is_active=False).is_active
    assert identify(ports, visit(pair.access)).actor.fault is not None
    assert change(ports, clerk, ann, is_active=True).is_active


def test_email_change_invalidates_earlier_links(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer("ann@example.com", redirect_url=REDIRECT))
    token = token_in(mails(ports)[0])
    change(ports, clerk, ann.id, email="new@example.com")
    with pytest.raises(Refused) as refused:
        set_password(ports, NOBODY, email="new@example.com", token=token, password=PASSWORD)
    assert codes(refused) == [("token", "INVALID")]


def test_invalid_details_are_refused(ports: Ports, clerk: Actor) -> None:
    ann = make_user(ports, "ann@example.com")

    @cases(
        ("details", "expected"),
        [
            ({"email": None}, ("email", "REQUIRED")),
            ({"email": "x"}, ("email", "INVALID")),
            ({"first_name": "a\r\nb"}, ("firstName", "INVALID")),
            ({"is_active": None}, ("isActive", "INVALID")),
            ({"is_confirmed": None}, ("isConfirmed", "INVALID")),
        ],
    )
    def check(details: dict[str, object], expected: tuple[str, str]) -> None:
        with pytest.raises(Refused) as refused:
            change(ports, clerk, ann, **details)
        assert codes(refused) == [expected]

    check()


def test_deletion_removes_the_user_and_publishes_a_snapshot(ports: Ports, clerk: Actor) -> None:
    ann = make_user(ports, "ann@example.com", first_name="Ann")
    pair = sign_in(ports, ann)
    assert delete_customer(ports, clerk, to_global_id("User", ann)).first_name == "Ann"
    assert identify(ports, visit(pair.access)).actor.fault is not None
    with ports.database.reading() as session:
        assert session.get(models.User, ann) is None
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("CUSTOMER_DELETED", ann)
    [row] = trail(ports, "customer.delete")
    assert row.subject_name == "ann@example.com"


def test_staff_cannot_be_changed_as_customers(ports: Ports) -> None:
    bob = make_staff(ports, "bob@example.com")
    with pytest.raises(Refused) as refused:
        change(ports, OPERATOR, bob, first_name="x")
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_customer(ports, OPERATOR, to_global_id("User", bob))
    assert codes(refused) == [("id", "DELETE_STAFF_ACCOUNT")]


@cases(
    ("strange", "code"),
    [
        (None, "REQUIRED"),
        ("garbage", "NOT_FOUND"),
        (to_global_id("User", 4711), "NOT_FOUND"),
        (to_global_id("App", 1), "NOT_FOUND"),
    ],
)
def test_unknown_person_is_not_found(
    ports: Ports, clerk: Actor, strange: str | None, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        update_customer(ports, clerk, strange, Details())
    assert codes(refused) == [("id", code)]
    with pytest.raises(Refused) as refused:
        delete_customer(ports, clerk, strange)
    assert codes(refused) == [("id", code)]


def test_app_can_manage_customers(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, name="crm", permissions=frozenset({USERS}))
    ann = create_customer(ports, app, NewCustomer("ann@example.com"))
    assert change(ports, app, ann.id, first_name="Ann").first_name == "Ann"
    delete_customer(ports, app, to_global_id("User", ann.id))
    assert [row.actor_name for row in trail(ports, "customer.delete")] == ["crm"]
    assert {event.principal for event in events(ports)} == {("App", 1)}


def test_customers_require_manage_users(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    others = ALL_PERMISSIONS - {USERS}
    actor = actor_of(ports, make_staff(ports, "bob@example.com", *others))
    attempts: list[Callable[[], object]] = [
        lambda: create_customer(ports, actor, NewCustomer("x@example.com")),
        lambda: change(ports, actor, ann, first_name="x"),
        lambda: delete_customer(ports, actor, to_global_id("User", ann)),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionDenied) as denied:
            attempt()
        assert denied.value.required == (USERS,)
