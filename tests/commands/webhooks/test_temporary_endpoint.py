"""``flask webhook listen --temporary``: a webhook that lives as long as its command."""

import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update
from standardwebhooks import Webhook

from app import models
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR
from app.domain.events import EventType
from app.domain.webhooks import TEMPORARY_URL
from app.ports import Ports
from app.services.apps.app_tokens import TokenOptions, create_app_token
from tests.builders.people import sign_in
from tests.commands.real_installation import (
    TIMEOUT_SECONDS,
    Installation,
    at_a_terminal,
    wait_until,
)
from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import Shops
from tests.commands.webhooks.test_listen import happen
from tests.fakes.clock import FakeClock
from tests.servers.http import HttpServer, Reply, http_server

pytestmark = pytest.mark.first

QUICK = ("--interval", "0.1")


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server() as server:
        server.answer("/local", Reply(200))
        yield server


@dataclass(frozen=True, slots=True)
class Desk:
    """Somebody who listens to the shop of ``ports``."""

    ports: Ports
    installation: Installation
    place: tuple[str, ...]

    def words(self, *more: str) -> tuple[str, ...]:
        return ("webhook", "listen", *more, *QUICK, *self.place)

    def endpoints(self) -> list[str]:
        """The names of the temporary endpoints that there are."""
        query = select(models.Webhook.name).where(models.Webhook.target_url == TEMPORARY_URL)
        with self.ports.database.reading() as session:
            return list(session.scalars(query))

    def apps(self) -> list[str]:
        with self.ports.database.reading() as session:
            return list(session.scalars(select(models.App.name).order_by(models.App.id)))


def disable_webhooks(ports: Ports) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.Webhook).values(is_active=False))


@pytest.fixture
def here(shops: Shops, tmp_path: Path) -> Desk:
    disable_webhooks(shops.local)
    return Desk(shops.local, at_a_terminal(f"sqlite:///{shops.files[0]}", tmp_path), ())


@pytest.fixture
def there(shops: Shops, tmp_path: Path) -> Desk:
    disable_webhooks(shops.remote)
    token = shops.remote_access.token
    nowhere = at_a_terminal("sqlite:////nowhere/shop", tmp_path, LATCHKEY_TOKEN=token)
    return Desk(shops.remote, nowhere, ("-u", shops.url))


@pytest.fixture(params=["here", "there"])
def desk(request: pytest.FixtureRequest) -> Desk:
    found: Desk = request.getfixturevalue(request.param)
    return found


APPS = ["Warehouse", "Bookkeeping"]


def test_event_is_forwarded_and_the_endpoint_is_gone_afterwards(
    desk: Desk, receiver: HttpServer
) -> None:
    words = ("--temporary", "--events", "product-updated,ORDER_PAID", "--count", "1", "--json")
    forward = ("--forward-to", f"{receiver.url}/local")
    with desk.installation.running(*desk.words(*words, *forward)) as running:
        wait_until(lambda: bool(desk.endpoints()), "there is an endpoint")
        assert desk.apps() == [*APPS, *desk.endpoints()]
        happen(desk.ports)
        with desk.ports.database.reading() as session:
            attempt = session.scalars(
                select(models.DeliveryAttempt).order_by(models.DeliveryAttempt.id.desc())
            ).first()
        done = running.finish(TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr
    heard = json.loads(done.stdout)
    assert (heard["event"], heard["forwarded"]) == ("PRODUCT_UPDATED", 200)
    [forwarded] = receiver.calls("/local")
    assert json.loads(forwarded.body) == heard["payload"]
    assert {"latchkey-signature", "webhook-id"} <= forwarded.headers.keys()
    assert attempt is not None
    assert (attempt.status, attempt.response_status) == ("SUCCESS", 202)
    assert (desk.endpoints(), desk.apps()) == ([], APPS)
    assert "Listening to a temporary endpoint for 2 events." in done.stderr


def test_clock_ahead_of_the_instance_hides_no_event(shops: Shops, here: Desk) -> None:
    ahead = replace(shops.remote_access, clock=FakeClock(SystemClock().now() + timedelta(hours=1)))

    def change_a_product() -> None:
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
        happen(shops.local)

    with ThreadPoolExecutor(1) as other:
        changed = other.submit(change_a_product)
        words = here.words("--temporary", "--events", "product-updated", "--count", "1", "--json")
        result = run(shops.local, *words, remote_access=ahead)
        changed.result(180)
    assert json.loads(result.stdout)["event"] == "PRODUCT_UPDATED"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signal_removes_the_endpoint(here: Desk, number: int, code: int) -> None:
    with here.ports.database.transaction() as session:
        session.execute(delete(models.Webhook))
    with here.installation.running(*here.words()) as running:
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
        running.command.send_signal(number)
        done = running.finish(TIMEOUT_SECONDS)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert (here.endpoints(), here.apps()) == ([], APPS)


@pytest.mark.one_of("desk")
def test_endpoint_of_a_killed_process_is_removed_by_the_next(desk: Desk) -> None:
    with desk.installation.running(*desk.words("--temporary")) as running:
        wait_until(lambda: bool(desk.endpoints()), "there is an endpoint")
    assert running.command.returncode == -signal.SIGKILL
    [left] = desk.endpoints()
    with desk.installation.running(*desk.words("--temporary")) as running:
        wait_until(lambda: desk.endpoints() not in ([], [left]), "there is another")
        assert left not in [*desk.endpoints(), *desk.apps()]
        with desk.installation.running(*desk.words("--temporary")) as other:
            wait_until(lambda: len(desk.endpoints()) == 2, "both listen")
            other.command.send_signal(signal.SIGINT)
            other.finish(TIMEOUT_SECONDS)
        assert len(desk.endpoints()) == 1


def test_plain_listening_removes_what_a_killed_process_left(here: Desk) -> None:
    with here.installation.running(*here.words("--temporary")):
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
    with here.installation.running(*here.words()):
        wait_until(lambda: not here.endpoints(), "it is removed")
        assert here.apps() == APPS


def test_links_are_left_out_unless_they_are_asked_for(here: Desk) -> None:
    shown = here.words("--temporary")
    with here.installation.running(*shown):
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
        listed = here.installation.run("webhook", "list", "--json", *here.place)
    [events] = [hook["events"] for hook in json.loads(listed.stdout) if hook["app"] not in APPS]
    assert "ORDER_PAID" in events
    assert not {"ACCOUNT_SET_PASSWORD_REQUESTED", "APP_INSTALLED"} & set(events)
    assert set(events) < {event.value for event in EventType}


def test_app_listens_to_an_endpoint_of_its_own(shops: Shops, tmp_path: Path) -> None:
    disable_webhooks(shops.remote)
    new = create_app_token(shops.remote, OPERATOR, 1, TokenOptions("listening"))
    app = at_a_terminal("sqlite:////nowhere/shop", tmp_path, LATCHKEY_TOKEN=new.secret)
    desk = Desk(shops.remote, app, ("-u", shops.url))
    words = desk.words("--temporary", "--count", "1", "--json")
    with desk.installation.running(*words) as running:
        wait_until(lambda: bool(desk.endpoints()), "there is an endpoint")
        assert desk.apps() == APPS
        happen(desk.ports)
        done = running.finish(TIMEOUT_SECONDS)
    assert (done.returncode, json.loads(done.stdout)["event"]) == (0, "PRODUCT_UPDATED")
    assert (desk.endpoints(), desk.apps()) == ([], APPS)


def test_any_events_are_listened_to(here: Desk) -> None:
    words = here.words("--temporary", "--event", "any-events", "--count", "1", "--json")
    with here.installation.running(*words) as running:
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
        happen(here.ports)
        done = running.finish(TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["event"] == "PRODUCT_UPDATED"


def test_secret_of_the_endpoint_signs_what_is_forwarded(here: Desk, receiver: HttpServer) -> None:
    words = ("--temporary", "--secret", "generate", "--count", "1", "--json")
    forward = ("--forward-to", f"{receiver.url}/local")
    with here.installation.running(*here.words(*words, *forward)) as running:
        wait_until(lambda: bool(here.endpoints()), "there is an endpoint")
        happen(here.ports)
        done = running.finish(TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr
    printed = re.search(r"Secret of the endpoint: (whsec_\S+)", done.stderr)
    assert printed
    [forwarded] = receiver.calls("/local")
    Webhook(printed[1]).verify(forwarded.body, forwarded.headers)


def test_secret_needs_a_temporary_endpoint(here: Desk) -> None:
    done = here.installation.run(*here.words("--secret", "generate"))
    assert (done.returncode, here.endpoints()) == (2, [])
    assert "--secret requires --temporary." in done.stderr


def test_person_without_manage_apps_is_refused(shops: Shops, tmp_path: Path) -> None:
    token = sign_in(shops.remote, 2).access
    clerk = at_a_terminal("sqlite:////nowhere/shop", tmp_path, LATCHKEY_TOKEN=token)
    desk = Desk(shops.remote, clerk, ("-u", shops.url))
    done = desk.installation.run(*desk.words("--temporary"))
    assert done.returncode == 4
    assert desk.apps() == APPS
