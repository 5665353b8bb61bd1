"""Sessions of the hosted pages: what they can do, when they end, and where they don't count."""

import pytest
from sqlalchemy import select, update

from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TrafficClosed
from app.models import SessionRecord
from app.ports import Ports
from app.services.console.console_sessions import sign_in_to_console
from app.services.hosted import (
    HostedPerson,
    HostedSession,
    find_hosted_person,
    sign_in_hosted_with_password,
    sign_out_of_hosted_pages,
)
from app.services.sign_in.sessions import end_other_sessions, list_sessions
from tests.builders.people import NOBODY, PASSWORD, make_user, visit
from tests.builders.shop import close_storefront, configure_shop, set_mode
from tests.fakes.clock import FakeClock

ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def hosted(ports: Ports) -> None:
    configure_shop(ports, hosted_pages=True)


def enter(ports: Ports, email: str = ANN) -> HostedSession:
    return sign_in_hosted_with_password(ports, NOBODY, email=email, password=PASSWORD)


def person(ports: Ports, session: HostedSession) -> HostedPerson | None:
    return find_hosted_person(ports, visit(), session.token, session.user_id)


def test_session_says_who_since_when_and_how(ports: Ports, clock: FakeClock) -> None:
    key = make_user(ports, ANN)
    began = clock.now()
    session = enter(ports)
    clock.pass_(minutes=4)
    found = person(ports, session)
    assert found is not None
    assert (found.user.id, found.authenticated_at, found.amr) == (key, began, ())
    assert (found.origin, found.provider_id) == (SessionOrigin.PASSWORD, None)
    assert not found.actor.proof_is_old
    clock.pass_(minutes=2)
    later = person(ports, session)
    assert later is not None
    assert later.actor.proof_is_old


def test_session_is_listed_and_ends_like_others(ports: Ports) -> None:
    make_user(ports, ANN)
    first, second = enter(ports), enter(ports)
    found = person(ports, first)
    assert found is not None
    assert [each.is_current for each in list_sessions(ports, found.actor)].count(True) == 1
    assert len(list_sessions(ports, found.actor)) == 2
    end_other_sessions(ports, found.actor)
    assert person(ports, second) is None
    sign_out_of_hosted_pages(ports, found.actor)
    assert person(ports, first) is None


def test_session_expires(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, ANN)
    session = enter(ports)
    clock.pass_(seconds=(session.expires - clock.now()).total_seconds() - 1)
    assert person(ports, session) is not None
    clock.pass_(seconds=1)
    assert person(ports, session) is None


def test_session_of_another_place_signs_no_one_in(ports: Ports) -> None:
    make_user(ports, ANN, is_staff=True)
    own = enter(ports)
    console = sign_in_to_console(ports, NOBODY, email=ANN, password=PASSWORD)
    assert person(ports, own) is not None
    assert find_hosted_person(ports, visit(), console.token, console.user_id) is None
    with ports.database.transaction() as session:
        session.execute(update(SessionRecord).values(is_hosted=False))
    assert person(ports, own) is None


def test_login_mode_applies_to_open_sessions(ports: Ports) -> None:
    make_user(ports, ANN)
    make_user(ports, "sam@example.com", is_staff=True)
    customer, staff = enter(ports), enter(ports, "sam@example.com")
    for mode in PasswordLoginMode:
        set_mode(ports, mode)
        found, is_off = person(ports, staff), mode is PasswordLoginMode.DISABLED
        assert (person(ports, customer) is None) is (found is None) is is_off, mode
        if found is not None:
            assert found.user.is_staff is (mode is PasswordLoginMode.ENABLED)


def test_closed_storefront_refuses_before_the_password_is_looked_at(ports: Ports) -> None:
    make_user(ports, ANN, is_staff=True)
    close_storefront(ports)
    for password in (PASSWORD, "wrong"):
        with pytest.raises(TrafficClosed):
            sign_in_hosted_with_password(ports, NOBODY, email=ANN, password=password)
    with ports.database.reading() as session:
        assert session.scalars(select(SessionRecord.id)).all() == []


def test_pages_that_are_off_sign_no_one_in(ports: Ports) -> None:
    make_user(ports, ANN)
    for settings in ({"hosted_pages": False}, {"hosted_password_login": False}):
        configure_shop(ports, hosted_pages=True, hosted_password_login=True)
        enter(ports)
        configure_shop(ports, **settings)
        with pytest.raises(Refused):
            enter(ports)
