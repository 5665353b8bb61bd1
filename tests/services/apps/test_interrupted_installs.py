"""A worker that dies, or is too slow, leaves nothing half installed; another one goes on."""

import socket
import threading
from dataclasses import replace

import pytest

from app.domain.apps.apps import MAX_INSTALLATION_ATTEMPTS
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Refused
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.apps.app_changes import NewApp, create_app
from app.services.apps.app_lists import list_apps
from app.services.apps.installation_requests import (
    delete_failed_installation,
    list_installations,
    retry_installation,
)
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.fakes.clock import FakeClock
from tests.servers.apps import Handshake, accept, app_server, refuse
from tests.servers.http import Reply
from tests.services.installation_helpers import (
    Dying,
    Killed,
    WithTimeout,
    boss,
    failed,
    left_behind,
    opens,
    want,
    work,
)

ALL = PageRequest(100)


def dying(ports: Ports, path: str, *, after: bool = False) -> Ports:
    return replace(ports, http=Dying(ports.http, path, after))


def pass_lease(clock: FakeClock) -> None:
    clock.pass_(minutes=2, seconds=1)


@pytest.mark.parametrize(
    ("path", "after"),
    [("/manifest", False), ("/manifest", True), ("/register", False), ("/register", True)],
)
def test_another_worker_completes_an_interrupted_installation(
    ports: Ports, second_process: Ports, clock: FakeClock, path: str, after: bool
) -> None:
    with app_server() as app:
        want(ports, app)
        with pytest.raises(Killed):
            work(dying(ports, path, after=after))
        assert work(second_process) == 0
        pass_lease(clock)
        assert work(second_process) == 1
    [installed] = list_apps(ports, OPERATOR, ALL).items
    assert installed.is_active
    tokens = [handshake.token for handshake in app.handshakes]
    assert [opens(ports, token) for token in tokens] == [False] * (len(tokens) - 1) + [True]
    assert left_behind(ports)["apps"] == left_behind(ports)["app_tokens"] == 1
    assert len(events(ports)) == len(trail(ports, "app.install")) == 1


def test_installation_fails_after_several_killed_workers(ports: Ports, clock: FakeClock) -> None:
    with app_server() as app:
        want(ports, app)
        for _ in range(MAX_INSTALLATION_ATTEMPTS):
            with pytest.raises(Killed):
                work(dying(ports, "/register"))
            pass_lease(clock)
        assert work(ports) == 1
    assert "interrupted" in failed(ports)
    assert left_behind(ports) == {}


@pytest.mark.both_databases
def test_slow_worker_does_not_undo_a_completed_installation(
    ports: Ports, second_process: Ports, clock: FakeClock
) -> None:
    with app_server() as app:

        def be_overtaken(_handshake: Handshake) -> Reply:
            app.decide = accept
            pass_lease(clock)
            assert work(second_process) == 1
            return refuse("I am installed already.")

        app.decide = be_overtaken
        want(ports, app)
        assert work(ports) == 0
    first, second = app.handshakes
    assert not opens(ports, first.token)
    assert opens(ports, second.token)
    assert len(list_apps(ports, OPERATOR, ALL).items) == 1
    assert list_installations(ports, OPERATOR) == ()


def test_slow_worker_does_not_finish_what_another_has_begun_anew(
    ports: Ports, second_process: Ports, clock: FakeClock
) -> None:
    """The other one was killed before the app got the token that works now."""
    with app_server() as app:

        def be_overtaken(handshake: Handshake) -> Reply:
            pass_lease(clock)
            with pytest.raises(Killed):
                work(dying(second_process, "/register"))
            return accept(handshake)

        app.decide = be_overtaken
        want(ports, app)
        assert work(ports) == 0
        assert list_apps(ports, OPERATOR, ALL).items == ()
        app.decide = accept
        pass_lease(clock)
        assert work(ports) == 1
    assert [opens(ports, handshake.token) for handshake in app.handshakes] == [False, True]


def test_late_response_is_ignored(ports: Ports) -> None:
    waited = threading.Event()
    late = threading.Event()

    def answer_late(_handshake: Handshake) -> Reply:
        waited.wait(180)
        late.set()
        return Reply()

    with app_server() as app:
        app.decide = answer_late
        want(ports, app)
        assert work(replace(ports, http=WithTimeout(ports.http, "/register"))) == 1
        waited.set()
        assert late.wait(180)
        assert "didn't respond within" in failed(ports)
        assert left_behind(ports) == {}
        assert not opens(ports, app.handshakes[0].token)


def test_app_that_never_answers_is_not_installed(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: Reply(raw=_wait_for_the_end)
        want(ports, app)
        assert work(replace(ports, http=WithTimeout(ports.http, "/register"))) == 1
        assert "didn't respond within" in failed(ports)
        assert left_behind(ports) == {}
        assert not opens(ports, app.handshakes[0].token)


def _wait_for_the_end(connection: socket.socket) -> None:
    connection.recv(1)


def test_unreachable_app_is_not_installed(ports: Ports) -> None:
    with app_server(tokenTargetUrl="http://127.0.0.1:9/register") as app:
        want(ports, app)
        work(ports)
    assert failed(ports).startswith("The app couldn't be given its token: ")
    assert left_behind(ports) == {}


@pytest.mark.both_databases
def test_concurrent_installations_create_one_app(ports: Ports, second_process: Ports) -> None:
    with app_server() as app:

        def meanwhile(_handshake: Handshake) -> Reply:
            assert work(second_process) == 1
            return Reply()

        app.decide = meanwhile
        want(ports, app)
        want(ports, app)
        assert work(ports) == 1
    assert len(list_apps(ports, OPERATOR, ALL).items) == 1
    assert failed(ports) == "identifier: This app is already installed as 'My app'."
    assert len(app.handshakes) == 1


def test_installed_app_cannot_be_installed_again(ports: Ports) -> None:
    create_app(ports, OPERATOR, NewApp("By hand", identifier="example.app"))
    with app_server() as app:
        want(ports, app)
        work(ports)
    assert "already installed as 'By hand'" in failed(ports)
    assert app.handshakes == []


def test_failed_installation_can_be_retried_by_another_person(ports: Ports) -> None:
    asker = boss(ports)
    with app_server() as app:
        app.decide = lambda _told: refuse("Not today.")
        installation = want(ports, app)
        work(ports)
        app.decide = accept
        retried = retry_installation(ports, asker, installation.id)
        assert (retried.status.value, retried.message) == ("PENDING", "")
        assert work(ports) == 1
    assert list_apps(ports, OPERATOR, ALL).items[0].is_active
    [row] = trail(ports, "app.install")
    assert row.actor_name == "boss@example.com"


def test_failed_installation_can_be_deleted(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: refuse("Never.")
        installation = want(ports, app)
        work(ports)
        forgotten = delete_failed_installation(ports, OPERATOR, installation.id)
    assert forgotten.message == "Never."
    assert list_installations(ports, OPERATOR) == ()


@pytest.mark.parametrize("use_case", [retry_installation, delete_failed_installation])
def test_only_failed_installations_can_be_retried_or_deleted(
    ports: Ports, use_case: object
) -> None:
    assert callable(use_case)
    with app_server() as app:
        installation = want(ports, app)
    for key, code in ((installation.id, "INVALID_STATUS"), (4711, "NOT_FOUND")):
        with pytest.raises(Refused) as refused:
            use_case(ports, OPERATOR, key)
        assert [(problem.field, problem.code) for problem in refused.value.problems] == [
            ("id", code)
        ]
