"""A form that is sent twice at once is answered once: the second gets the first's answer."""

import html
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import BoundedSemaphore, Event
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from typing_extensions import override
from werkzeug.test import TestResponse

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import WORKER
from app.domain.sign_in.rate_limits import CONSOLE_FORM, RateLimitPolicy, parse_rates
from app.ports import Ports
from app.services.operations.cleanup import clean_up
from app.web import sessions as page_sessions
from tests.builders.people import PASSWORD, make_staff, make_user
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import HeldHasher
from tests.fixtures.ports import fake_ports

SIGN_IN = "/console/sign-in"
CODE = "/console/sign-in/code"
FORGOTTEN = "/console/forgotten"
EMAIL = "staff@example.com"
RIGHT = {"email": EMAIL, "password": PASSWORD}
WRONG = {"email": EMAIL, "password": "wrong"}


class NotedSemaphore(BoundedSemaphore):
    """Tells that a request waits for another's answer."""

    def __init__(self, waits: Event) -> None:
        super().__init__(4)
        self._waits = waits

    @override
    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        self._waits.set()
        return super().acquire(blocking, timeout)


@pytest.fixture
def held(shop: Ports) -> HeldHasher:
    make_staff(shop)
    return HeldHasher(shop.database)


@pytest.fixture
def clicks(
    shop: Ports, held: HeldHasher, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., list[TestResponse]]]:
    """Sends two forms of one page, the second while the first is being answered."""
    waits = Event()
    monkeypatch.setattr(page_sessions, "_waiting", NotedSemaphore(waits))
    app = create_app(replace(shop, passwords=held), Settings())

    def click(first: dict[str, str], second: dict[str, str]) -> list[TestResponse]:
        browser = app.test_client()
        token = token_on(browser, SIGN_IN)
        other = copy_of(browser)
        with ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(post, browser, SIGN_IN, token, first)]
            assert held.begun.wait(timeout=60)
            answers.append(pool.submit(post, other, SIGN_IN, token, second))
            if first == second:
                assert waits.wait(timeout=60)
            else:
                answers[-1].result(timeout=60)
            held.go.set()
            return [answer.result(timeout=60) for answer in answers]

    yield click
    held.go.set()


def token_on(browser: FlaskClient, path: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', browser.get(path).text)
    assert found is not None
    return html.unescape(found[1])


def copy_of(browser: FlaskClient, app: Any = None) -> FlaskClient:
    """Return the browser as it was when it sent the first form: it drops that answer's cookie."""
    other: FlaskClient = (app or browser.application).test_client()
    cookie = browser.get_cookie("latchkey")
    if cookie is not None:
        other.set_cookie("latchkey", cookie.value)
    return other


def post(browser: FlaskClient, path: str, token: str, fields: dict[str, str]) -> TestResponse:
    return browser.post(path, data={"csrf_token": token, **fields})


def sessions(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Session)) or 0


def is_signed_in(answer: TestResponse, browser: FlaskClient) -> bool:
    for cookie in answer.headers.getlist("Set-Cookie"):
        name, _, value = cookie.partition(";")[0].partition("=")
        browser.set_cookie(name, value)
    return browser.get("/console/keyboard").status_code == 200


def test_double_click_on_sign_in_signs_in(
    shop: Ports, held: HeldHasher, clicks: Callable[..., list[TestResponse]]
) -> None:
    answers = clicks(RIGHT, RIGHT)
    assert [answer.status_code for answer in answers] == [303, 303]
    app = create_app(shop, Settings())
    assert all(is_signed_in(answer, app.test_client()) for answer in answers)
    assert (held.verifications, sessions(shop)) == (1, 1)


def test_other_process_gives_the_same_answer(
    shop: Ports, sqlite_url: str, clock: FakeClock
) -> None:
    make_staff(shop)
    second = fake_ports(sqlite_url, clock, first_key=10)
    here, there = create_app(shop, Settings()), create_app(second, Settings())
    first = here.test_client()
    token = token_on(first, SIGN_IN)
    late = copy_of(first, there)
    assert post(first, SIGN_IN, token, RIGHT).status_code == 303
    answer = post(late, SIGN_IN, token, RIGHT)
    assert is_signed_in(answer, there.test_client())
    assert sessions(shop) == 1
    second.database.close()


def test_wrong_password_that_is_sent_twice_at_once_counts_once(
    shop: Ports, held: HeldHasher, clicks: Callable[..., list[TestResponse]]
) -> None:
    answers = clicks(WRONG, WRONG)
    assert [answer.status_code for answer in answers] == [422, 422]
    assert all("Incorrect email or password" in answer.text for answer in answers)
    assert held.verifications == 1
    address = shop.throttle.find("127.0.0.1", shop.clock.timestamp())
    assert address is not None
    assert address.failures == 1


def test_another_password_at_the_same_time_is_blocked(
    held: HeldHasher, clicks: Callable[..., list[TestResponse]]
) -> None:
    first, second = clicks(RIGHT, WRONG)
    assert (first.status_code, second.status_code) == (303, 422)
    assert "Too many attempts" in second.text
    assert held.verifications == 1


def test_wrong_password_that_is_sent_again_is_another_attempt(
    shop: Ports, anonymous_console: ConsoleClient, clock: FakeClock
) -> None:
    make_staff(shop)
    browser = anonymous_console.client
    token = token_on(browser, SIGN_IN)
    texts = [post(browser, SIGN_IN, token, WRONG).text for _ in range(2)]
    clock.pass_(seconds=2)
    texts.append(post(browser, SIGN_IN, token, WRONG).text)
    assert "Incorrect email or password" in texts[0]
    assert "Too many attempts" in texts[1]
    assert "Incorrect email or password" in texts[2]


def test_answer_is_for_this_browser_and_these_fields(shop: Ports, app: Any) -> None:
    make_staff(shop)
    for browser in (app.test_client(), app.test_client()):
        headers = {"X-CSRFToken": token_on(browser, SIGN_IN)}  # so that the fields are alike
        assert browser.post(SIGN_IN, data=RIGHT, headers=headers).status_code == 303
    assert sessions(shop) == 2
    browser = app.test_client()
    token = token_on(browser, SIGN_IN)
    kept = copy_of(browser)
    assert post(browser, SIGN_IN, token, RIGHT).status_code == 303
    assert post(kept, SIGN_IN, token, WRONG).status_code == 422
    other = app.test_client()
    other_token = token_on(other, SIGN_IN)
    assert "Too many attempts" in post(other, SIGN_IN, other_token, RIGHT).text
    assert post(other, SIGN_IN, token, RIGHT).status_code == 400


def test_answer_is_encrypted_and_kept_for_seconds(shop: Ports, app: Any, clock: FakeClock) -> None:
    make_staff(shop)
    browser = app.test_client()
    token = token_on(browser, SIGN_IN)
    kept = copy_of(browser)
    assert post(browser, SIGN_IN, token, RIGHT).status_code == 303
    with shop.database.reading() as session:
        [stored] = session.scalars(select(models.FormAnswer.encrypted_answer))
        [opened] = session.scalars(select(models.Session.token))
    assert opened not in stored
    assert "console" not in stored
    clock.pass_(seconds=11)
    assert post(kept, SIGN_IN, token, RIGHT).status_code == 303
    assert sessions(shop) == 2
    clock.pass_(seconds=11)
    assert clean_up(shop, WORKER).form_answers == 1


@pytest.mark.parametrize("kind", ["code", "recovery"])
def test_code_that_is_sent_twice_signs_in(shop: Ports, app: Any, kind: str) -> None:
    key = make_staff(shop)
    secret = make_authenticator_app(shop, key)
    codes = make_recovery_codes(shop, key)
    path = CODE if kind == "code" else f"{CODE}?with=recovery"
    browser = app.test_client()
    assert post(browser, SIGN_IN, token_on(browser, SIGN_IN), RIGHT).location == CODE
    token = token_on(browser, path)
    again = copy_of(browser)
    code = {"code": one_time_code(shop, secret) if kind == "code" else codes[0]}
    for one in (browser, again):
        assert post(one, path, token, code).location == "/console/"
        assert one.get("/console/keyboard").status_code == 200
    assert sessions(shop) == 1
    later = app.test_client()
    assert post(later, SIGN_IN, token_on(later, SIGN_IN), RIGHT).location == CODE
    assert post(later, path, token_on(later, path), code).status_code == 422


def test_fresh_proof_that_is_sent_twice_is_taken_twice(
    shop: Ports, staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    secret = make_authenticator_app(shop, sessions_user(shop))
    browser = console.client
    path = "/console/prove?next=/console/keyboard"
    token = token_on(browser, path)
    proof = {"proof_code": one_time_code(shop, secret)}
    again = copy_of(browser)
    for one in (browser, again):
        assert post(one, path, token, proof).location == "/console/keyboard"
    clock.pass_(seconds=11)
    assert post(copy_of(again), path, token, proof).status_code in (303, 422)


def sessions_user(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalars(select(models.Session.user_id)).one()


def test_form_that_its_rate_limit_refuses_checks_no_proof_and_keeps_no_answer(
    shop: Ports, statements: Statements
) -> None:
    """The control: the same form within the limit does both."""
    make_staff(shop, EMAIL)
    rates = RateLimitPolicy({CONSOLE_FORM: parse_rates("1/minute")})
    configuration = replace(shop.configuration, rate_limits=rates)
    app = create_app(replace(shop, configuration=configuration), Settings())
    console = ConsoleClient(app.test_client(), shop)
    console.enter(EMAIL)
    path = "/console/account/name"
    token = token_on(console.client, "/console/account/")
    for status, kept in ((422, True), (429, False)):
        proof = {"first_name": str(status), "proof_password": "wrong"}
        with statements() as seen:
            assert post(console.client, path, token, proof).status_code == status
        assert any(models.FormAnswer.__tablename__ in one for one in seen) is kept


def test_each_request_for_a_link_is_counted_unless_sent_at_once(shop: Ports, app: Any) -> None:
    make_user(shop, "clara@example.com", is_staff=True)
    browser = app.test_client()
    token = token_on(browser, FORGOTTEN)
    statuses = [
        post(browser, FORGOTTEN, token, {"email": "clara@example.com"}).status_code
        for _ in range(21)
    ]
    assert statuses[0] == 200
    assert statuses[-1] == 429
