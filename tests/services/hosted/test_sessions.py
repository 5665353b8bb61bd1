"""Sessions of the hosted pages: what they can do, when they end, and where they don't count."""

from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TrafficClosed
from app.ports import Ports
from app.services.console.console_sessions import sign_in_to_console
from app.services.hosted import (
    HostedPerson,
    HostedSession,
    ask_for_hosted_code,
    ask_for_hosted_factor,
    ask_for_hosted_passkey,
    begin_hosted_sign_in,
    find_hosted_person,
    finish_hosted_sign_in,
    set_hosted_password,
    show_waiting_hosted_sign_in,
    sign_in_hosted_with_passkey,
    sign_in_hosted_with_password,
    sign_out_of_hosted_pages,
    verify_hosted_code,
    verify_hosted_factor,
)
from app.services.sign_in.sessions import end_other_sessions, list_sessions
from tests.builders.people import NOBODY, PASSWORD, make_user, visit
from tests.builders.shop import close_storefront, configure_shop, set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

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
        session.execute(update(models.Session).values(is_hosted=False))
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
        assert session.scalars(select(models.Session.id)).all() == []


PAGES = "hosted_pages"
TOLD = {"challenge": "of a page that was open before"}
PLUGIN = "latchkey.authentication.openidconnect"
STEPS: tuple[tuple[str, Callable[[Ports], object]], ...] = (
    ("hosted_password_login", enter),
    (
        "hosted_password_login",
        lambda ports: set_hosted_password(ports, NOBODY, email=ANN, password=PASSWORD, token="x"),
    ),
    ("email_code_login", lambda ports: ask_for_hosted_code(ports, NOBODY, email=ANN)),
    ("email_code_login", lambda ports: verify_hosted_code(ports, NOBODY, **TOLD, code="1")),
    ("hosted_passkey_login", lambda ports: ask_for_hosted_passkey(ports, NOBODY)),
    (PAGES, lambda ports: ask_for_hosted_factor(ports, NOBODY, **TOLD)),
    (PAGES, lambda ports: sign_in_hosted_with_passkey(ports, NOBODY, **TOLD, credential="{}")),
    (PAGES, lambda ports: show_waiting_hosted_sign_in(ports, NOBODY, **TOLD)),
    (PAGES, lambda ports: verify_hosted_factor(ports, NOBODY, **TOLD, code="1")),
    (
        "hosted_provider_login",
        lambda ports: begin_hosted_sign_in(
            ports, NOBODY, plugin_id=PLUGIN, redirect_uri="https://shop.example.com"
        ),
    ),
    (
        "hosted_provider_login",
        lambda ports: finish_hosted_sign_in(
            ports, NOBODY, plugin_id=PLUGIN, code="a code", state="x"
        ),
    ),
)
"""Each step of the pages, and the setting that offers it."""


@cases(("setting", "step"), STEPS)
def test_each_step_is_refused_where_it_is_not_offered(
    ports: Ports, setting: str, step: Callable[[Ports], object]
) -> None:
    def is_offered() -> bool:
        try:
            step(ports)
        except Refused as refused:
            return "isn't available" not in refused.problems[0].message
        return True

    offers = dict.fromkeys((PAGES, *(name for name, _ in STEPS)), True)
    configure_shop(ports, **offers, allow_storefront_traffic=True)
    assert is_offered()
    for off in {setting, PAGES}:
        configure_shop(ports, **{**offers, off: False})
        assert not is_offered(), off
    configure_shop(ports, **offers, allow_storefront_traffic=False)
    with pytest.raises(TrafficClosed):
        step(ports)
