"""Lists from a streaming replica whose replay the tests pause: what may be late, and what not."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from sqlalchemy import TextClause, delete, text, update

from app import models
from app.adapters.database import replica as replica_adapter
from app.adapters.database.replica import SqlReplica
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.installation import CheckResult, CheckState, DatabaseUnavailable
from app.ports import Ports, ReadSession
from app.services.operations.environment_checks import check_readiness
from app.services.operations.health_checks import run_checks
from app.web.operations_server import is_ready
from tests.builders.apps import change_app, make_app
from tests.builders.mails import make_mail
from tests.builders.people import (
    change_user,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.builders.products import make_product, product_id
from tests.builders.shop import configure_shop
from tests.builders.sign_in_events import make_sign_in
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.replica import ReplicatedServers
from tests.graphql.shop_client import ApiClient
from tests.servers.sandbox import PATIENCE

Connect = Callable[..., Ports]
CUSTOMERS = "/console/customers/"
LONG = 3600.0

pytestmark = pytest.mark.xdist_group("replica")

_PRODUCTS = "{ products(first: 100) { totalCount edges { node { name } } } }"
_RENAME = """
mutation ($id: ID!, $name: String!) {
  productUpdate(id: $id, input: {name: $name}) { product { name } errors { code } }
}"""
_CUSTOMERS = "{ customers(first: 100) { edges { node { email } } } }"


@pytest.fixture
def connect_process(
    replicated: ReplicatedServers, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Connect]:
    """Connect processes of a shop; each reads lists from the replica from the first one on.

    However late it is, except where a test sets the limit.
    """
    monkeypatch.setattr(replica_adapter, "MAX_LAG", LONG)
    monkeypatch.setattr(replica_adapter, "_VALID_SECONDS", LONG)
    monkeypatch.setattr(replica_adapter, "_PATIENCE_SECONDS", PATIENCE)
    processes: list[Ports] = []

    def connect(replica_url: str = "") -> Ports:
        url = replica_url or replicated.standby.url
        ports = fake_ports(replicated.primary.url, clock, replica_url=url)
        processes.append(ports)
        if not replica_url:
            replicated.catch_up()
            replica_of(ports).check()
        return ports

    yield connect
    for ports in processes:
        replica_of(ports).close()
        ports.database.close()


@pytest.fixture
def ports(connect_process: Connect) -> Iterator[Ports]:
    made = connect_process()
    yield made
    configure_shop(made, allow_storefront_traffic=True)


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def replica_of(ports: Ports) -> SqlReplica:
    assert isinstance(ports.replica, SqlReplica)
    return ports.replica


def names(reply: object) -> set[str]:
    """Return the names in a reply with products."""
    assert isinstance(reply, dict)
    return {edge["node"]["name"] for edge in reply["data"]["products"]["edges"]}


def test_list_comes_from_the_replica(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    make_product(ports, "before", slug="list-before")
    with replicated.paused():
        make_product(ports, "during", slug="list-during")
        late = api.ask(_PRODUCTS)
        assert "before" in names(late)
        assert "during" not in names(late)
        assert late["data"]["products"]["totalCount"] == len(names(late))
        without = ApiClient(replace(ports, replica=None))
        assert "during" in names(without.ask(_PRODUCTS))
    replicated.catch_up()
    assert "during" in names(api.ask(_PRODUCTS))


def test_client_can_ask_for_the_current_list(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    with replicated.paused():
        make_product(ports, "wanted now", slug="wanted-now")
        query = {"query": _PRODUCTS}
        reply = api.post(query, headers={"Cache-Control": "no-cache"}).json
        assert "wanted now" in names(reply)
        reply = api.post(query, headers={"Cache-Control": "max-age=0"}).json
        assert "wanted now" not in names(reply)


def test_what_a_mutation_returns_and_what_follows_it_is_current(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    _, token = make_app(ports, "products", Permission.MANAGE_PRODUCTS)
    key = make_product(ports, "old name", slug="renamed")
    with replicated.paused():
        change = {"id": product_id(key), "name": "new name"}
        make_product(ports, "before the change", slug="before-the-change")
        before, update, products = api.post(
            [{"query": _PRODUCTS}, {"query": _RENAME, "variables": change}, {"query": _PRODUCTS}],
            token,
        ).json
        assert "before the change" in names(before)
        assert update["data"]["productUpdate"]["product"] == {"name": "new name"}
        assert "new name" in names(products)
        one = api.run("query ($id: ID!) { product(id: $id) { name } }", id=product_id(key))
        assert one == {"name": "new name"}
        assert "new name" in names(api.ask(_PRODUCTS))  # found there, read here


def test_ended_session_and_deactivated_person_are_out_at_once(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    people = {
        email: make_staff(ports, email, Permission.MANAGE_USERS)
        for email in ("ended@example.com", "inactive@example.com", "demoted@example.com")
    }
    tokens = {email: sign_in(ports, key).access for email, key in people.items()}
    with replicated.paused():
        for token in tokens.values():
            assert "errors" not in api.ask(_CUSTOMERS, token)
        (session,) = sessions_of(ports, people["ended@example.com"])
        with ports.database.transaction() as writing:
            writing.delete(session)
        change_user(ports, people["inactive@example.com"], is_active=False)
        with ports.database.transaction() as writing:
            demoted = models.UserPermission.user_id == people["demoted@example.com"]
            writing.execute(delete(models.UserPermission).where(demoted))
        for email, token in tokens.items():
            assert api.ask(_CUSTOMERS, token)["data"] == {"customers": None}, email
        for email in ("ended@example.com", "inactive@example.com"):
            assert api.ask("{ me { email } }", tokens[email])["data"] == {"me": None}


_PRIVATE = """{ customers(first: 100) { edges { node {
  email note privateMetadata { key } } } } }"""
_MAILS = "{ mails(first: 100) { edges { node { recipient } } } }"
_SIGN_INS = "{ signInEvents(first: 100) { edges { node { name address } } } }"


@pytest.mark.parametrize("query", [_PRIVATE, _MAILS, _SIGN_INS])
def test_person_just_made_staff_is_no_customer(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers, query: str
) -> None:
    token = sign_in(
        ports, make_staff(ports, f"support{len(query)}@example.com", Permission.MANAGE_USERS)
    ).access
    promoted, customer = (
        make_user(ports, f"{name}-{len(query)}@example.com") for name in ("promoted", "other")
    )
    for key in (promoted, customer):
        email = user_as_stored(ports, key).email
        make_sign_in(ports, user_id=key, name=email)
        make_mail(ports, user_id=key, recipient=email)
    with replicated.paused():
        assert f"promoted-{len(query)}" in str(api.ask(query, token))
        change_user(ports, promoted, is_staff=True, private_metadata={"salary": "high"})
        change_user(ports, customer, private_metadata={"seen": "by support"})
        reply = api.ask(query, token)
        assert "errors" not in reply
        assert f"other-{len(query)}" in str(reply)
        assert f"promoted-{len(query)}" not in str(reply)
        assert "salary" not in str(reply)
        assert ("seen" in str(reply)) is (query is _PRIVATE)


def test_product_just_unpublished_is_hidden(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    make_product(ports, "kept", slug="kept")
    make_product(ports, "withdrawn", slug="withdrawn")
    with replicated.paused():
        assert {"kept", "withdrawn"} <= names(api.ask(_PRODUCTS))
        with ports.database.transaction() as writing:
            withdrawn = models.Product.slug == "withdrawn"
            writing.execute(update(models.Product).where(withdrawn).values(is_published=False))
        assert {"kept", "withdrawn"} & names(api.ask(_PRODUCTS)) == {"kept"}


def test_switches_and_apps_hold_at_once(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers
) -> None:
    app_id, token = make_app(ports, "customers", Permission.MANAGE_USERS)
    with replicated.paused():
        assert "errors" not in api.ask(_PRODUCTS)
        assert "errors" not in api.ask(_CUSTOMERS, token)
        configure_shop(ports, allow_storefront_traffic=False)
        assert api.post({"query": _PRODUCTS}).status_code == 401
        assert "errors" not in api.ask(_CUSTOMERS, token)
        change_app(ports, app_id, is_active=False)
        assert api.post({"query": _CUSTOMERS}, token).status_code == 401


def test_console_shows_the_own_change_in_every_process(
    ports: Ports, replicated: ReplicatedServers, connect_process: Connect
) -> None:
    key = make_user(ports, "shown@example.com")
    make_staff(ports, "support@example.com", Permission.MANAGE_USERS)
    browser = create_app(ports, Settings()).test_client()
    here = ConsoleClient(browser, ports)
    assert here.sign_in("support@example.com").status == 303
    leave_alone(browser)
    second_process = connect_process()
    with replicated.paused():
        sent = here.send(f"/console/people/{key}/deactivate", seen_at=f"{CUSTOMERS}{key}")
        assert sent.status == 303
        inactive = f"{CUSTOMERS}?status=inactive"
        assert "shown@example.com" in here.open(inactive).text
        other = other_process(browser, second_process)
        assert "shown@example.com" in other.open(inactive).text
        for console in (here, other):
            leave_alone(console.client)
            assert "shown@example.com" not in console.open(inactive).text
    replicated.catch_up()
    assert "shown@example.com" in here.open(inactive).text


def leave_alone(browser: FlaskClient) -> None:
    """Let ten seconds pass after a change: the browser drops the cookie that says so."""
    cookie = browser.get_cookie("latchkey-changed")
    assert cookie is not None
    assert cookie.max_age == 10
    browser.delete_cookie("latchkey-changed")


def other_process(browser: FlaskClient, ports: Ports) -> ConsoleClient:
    """Return the same browser at another process of the installation."""
    other = create_app(ports, Settings()).test_client()
    for name in ("latchkey", "latchkey-changed"):
        cookie = browser.get_cookie(name)
        assert cookie is not None
        other.set_cookie(name, cookie.value, max_age=cookie.max_age)
    return ConsoleClient(other, ports)


def test_lists_work_without_the_replica(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers, caplog: pytest.LogCaptureFixture
) -> None:
    assert "errors" not in api.ask(_PRODUCTS)
    with replicated.stopped():
        make_product(ports, "without", slug="without")
        for _ in range(3):
            assert "without" in names(api.ask(_PRODUCTS))
        (doctor,) = about_replica(run_checks(ports, OPERATOR))
        assert doctor.state is CheckState.WARNING
        assert doctor.message.startswith("Lists are read from the primary: ")
        findings = check_readiness(ports, OPERATOR)
        assert about_replica(findings)[0].state is CheckState.WARNING
        assert is_ready(findings)
    replicated.catch_up()
    (finding,) = about_replica(check_readiness(ports, OPERATOR))
    assert finding.state is CheckState.FINE
    assert replica_of(ports).is_usable()
    said = [record.message for record in caplog.records if "replica_" in record.message]
    assert len(said) == 2, said
    assert said[1] == "database.replica_unavailable_is_over"


def test_silent_replica_holds_up_no_list(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica_of(ports).check()
    with replicated.frozen_check():
        monkeypatch.setattr(replica_adapter, "_PATIENCE_SECONDS", 0.5)
        with pytest.raises(DatabaseUnavailable, match="it doesn't respond"):
            replica_of(ports).check()
        monkeypatch.setattr(replica_adapter, "_VALID_SECONDS", 0.1)
        assert not replica_of(ports).is_usable()
        make_product(ports, "thawing", slug="thawing")
        assert "thawing" in names(api.ask(_PRODUCTS))
        assert is_ready(check_readiness(ports, OPERATOR))
    monkeypatch.setattr(replica_adapter, "_VALID_SECONDS", LONG)
    monkeypatch.setattr(replica_adapter, "_PATIENCE_SECONDS", PATIENCE)
    replica_of(ports).check()
    assert replica_of(ports).is_usable()


def about_replica(findings: tuple[CheckResult, ...]) -> list[CheckResult]:
    return [finding for finding in findings if finding.subject == "replica"]


def by_execute(session: ReadSession, statement: TextClause, seconds: float) -> bool:
    return bool(session.execute(statement, {"seconds": seconds}).one()[0])


def by_rows(session: ReadSession, statement: TextClause, seconds: float) -> bool:
    (row,) = session.rows(statement, {"seconds": seconds})
    return bool(row[0])


@pytest.mark.parametrize("in_recovery", [by_execute, by_rows])
def test_statement_that_conflicts_with_replay_runs_on_the_primary(
    ports: Ports,
    replicated: ReplicatedServers,
    in_recovery: Callable[[ReadSession, TextClause, float], bool],
) -> None:
    database = replica_of(ports).database
    slow = text(
        "SELECT pg_is_in_recovery(), (SELECT count(*) FROM products),"
        " CASE WHEN pg_is_in_recovery() THEN pg_sleep(:seconds) END"
    )
    with database.reading() as session:
        assert in_recovery(session, slow, 0)
        # Read on the replica from now on, whose replay of the lock has to cancel it.
        replicated.lock_during_sleep("products")
        assert not in_recovery(session, slow, PATIENCE)
    assert replica_of(ports).is_usable()


def test_replica_that_is_too_late_is_left_alone(
    ports: Ports, api: ApiClient, replicated: ReplicatedServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with replicated.paused():
        make_product(ports, "too late", slug="too-late")
        assert "too late" not in names(api.ask(_PRODUCTS))
        monkeypatch.setattr(replica_adapter, "MAX_LAG", 0.0)
        with pytest.raises(DatabaseUnavailable, match="seconds behind the primary"):
            replica_of(ports).check()
        assert "too late" in names(api.ask(_PRODUCTS))
        monkeypatch.setattr(replica_adapter, "MAX_LAG", LONG)
    replicated.catch_up()
    replica_of(ports).check()
    assert replica_of(ports).is_usable()


def test_idle_primary_makes_no_lag(ports: Ports, replicated: ReplicatedServers) -> None:
    replicated.catch_up()
    replica_of(ports).check()
    assert replica_of(ports).check() < 1.5


def test_other_servers_are_no_replica(
    replicated: ReplicatedServers, connect_process: Connect
) -> None:
    itself = connect_process(replicated.primary.url)
    with pytest.raises(DatabaseUnavailable, match="isn't a streaming replica"):
        replica_of(itself).check()
    other = connect_process(replicated.standby.url.replace("/postgres?", "/template1?"))
    with pytest.raises(DatabaseUnavailable, match="a replica of another database"):
        replica_of(other).check()
    assert "errors" not in ApiClient(other).ask(_PRODUCTS)


def test_nothing_is_written_through_the_replica(ports: Ports) -> None:
    with pytest.raises(RuntimeError, match="can't write"):
        replica_of(ports).database.transaction()
