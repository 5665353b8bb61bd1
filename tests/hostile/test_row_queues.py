"""Many changes of one account or one cart at once: other people's changes and sign-ins go on."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from threading import Barrier, Event

import pytest

from app import models
from app.adapters.database.sql_database import SubjectLanes, connect_database
from app.adapters.queue.throttle_sql import SqlThrottle
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import TooManyRequests
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.database import Subject, SubjectKind, account
from app.services.accounts.account_details import Details, set_time_zone, update_account
from app.services.commerce.checkouts import LineInput, update_checkout_lines
from app.services.commerce.products import ProductInput, create_product
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from app.services.sign_in.reauthentication import own_id
from app.web.server import THREADS
from tests.builders.apps import make_app
from tests.builders.orders import make_cart
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_user, visit
from tests.builders.products import make_product

PARALLEL = 40
WAITING = 5
"""Changes of one account that queue for it; the others are refused."""

SIGN_INS = 2
"""Transactions that only sign-ins can have."""

AT_ONCE = 3
"""Transactions that an app has open at once."""

LONG_ENOUGH = 60.0
PATIENCE = 1.0
"""Longer than a change waits for a free transaction."""

Work = Callable[[], object]


@pytest.fixture
def server(ports: Ports, database_url: str) -> Iterator[Ports]:
    """The ports of a server's process, with its limit on transactions."""
    database = connect_database(database_url, max_writers=THREADS // 2)
    yield replace(ports, database=database, throttle=SqlThrottle(database))
    database.close()


@contextmanager
def held(server: Ports, subject: Subject, record: type, key: int) -> Iterator[None]:
    """A change of that row is at work, and stays so during the block."""
    is_held, is_over = Event(), Event()

    def hold() -> None:
        with server.database.transaction(subject) as session:
            session.get(record, key, with_for_update=True)
            is_held.set()
            is_over.wait(LONG_ENOUGH)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        try:
            assert is_held.wait(LONG_ENOUGH)
            yield
        finally:
            is_over.set()
        holding.result(LONG_ENOUGH)


def refusals(attack: list[Future[object]], count: int) -> int:
    """Wait for the first ``count`` to end; return how many were refused."""
    ended = islice(as_completed(attack, LONG_ENOUGH), count)
    return sum(isinstance(one.exception(180), TooManyRequests) for one in ended)


def assert_others_go_on(
    server: Ports, subject: Subject, record: type, key: int, work: Work, others: list[Work]
) -> None:
    with ThreadPoolExecutor(PARALLEL + len(others)) as pool:
        with held(server, subject, record, key):
            attack = [pool.submit(work) for _ in range(PARALLEL)]
            assert refusals(attack, PARALLEL - WAITING) == PARALLEL - WAITING
            going_on = [pool.submit(other) for other in others]
            # On SQLite they have their transactions, and wait for the file.
            wait(going_on, PATIENCE)
        for other in going_on:
            other.result(LONG_ENOUGH)


def other_people(server: Ports) -> list[Work]:
    """More changes and sign-ins than would find room if one transaction was left."""
    people = [make_user(server, f"other{n}@example.com") for n in range(3)]
    actors = [actor_of(server, key) for key in people]
    names = Details(first_name="Ada")
    sign_in = partial(create_token, email="other0@example.com", password=PASSWORD)
    return [
        *(partial(update_account, server, actor, names) for actor in actors),
        partial(sign_in, server, replace(NOBODY, address="198.51.100.7")),
    ]


@pytest.mark.first
def test_changes_of_one_account_stop_neither_others_nor_sign_ins(server: Ports) -> None:
    """A customer's queue for their account, also where the use case names nothing to wait for."""
    actor = actor_of(server, make_user(server))
    work = partial(set_time_zone, server, actor, "Europe/Paris")
    key = own_id(actor)
    assert_others_go_on(server, account(key), models.User, key, work, other_people(server))


@pytest.mark.first
def test_changes_of_one_cart_stop_neither_others_nor_sign_ins(server: Ports) -> None:
    product = make_product(server, "Ash bowl")
    cart = make_cart(server, NOBODY, product)
    lines = [LineInput(to_global_id("Product", product), 2)]
    cart_id = to_global_id("Checkout", cart.token)
    work = partial(update_checkout_lines, server, NOBODY, cart_id, lines)
    subject = Subject(SubjectKind.CART, cart.token)
    assert_others_go_on(server, subject, models.Checkout, cart.id, work, other_people(server))


@pytest.mark.first
def test_an_app_that_changes_one_customer_stops_nobody_else(server: Ports) -> None:
    _, token = make_app(server, "an app", Permission.IMPERSONATE_USER)
    actor = identify(server, visit(token)).actor
    key = make_user(server)
    customer = to_global_id("User", key)
    work = partial(update_account, server, actor, Details(first_name="Eve"), customer)
    assert_others_go_on(server, account(key), models.User, key, work, other_people(server))


def test_a_browsers_changes_at_once_all_succeed(server: Ports) -> None:
    actor = actor_of(server, make_user(server))
    together = Barrier(WAITING + 1, timeout=LONG_ENOUGH)

    def change() -> None:
        together.wait()
        update_account(server, actor, Details(first_name="Ada"))

    with ThreadPoolExecutor(WAITING + 1) as pool:
        for made in [pool.submit(change) for _ in range(WAITING + 1)]:
            made.result(LONG_ENOUGH)


def open_connections(server: Ports) -> None:
    """Have a connection for each transaction that the process can have: opening takes a while."""
    together = Barrier(THREADS // 2 - SIGN_INS, timeout=LONG_ENOUGH)

    def connect() -> None:
        with server.database.transaction() as session:
            session.connection()
            if session.get_bind().dialect.name != "sqlite":
                together.wait()

    with ThreadPoolExecutor(together.parties) as pool:
        for made in [pool.submit(connect) for _ in range(together.parties)]:
            made.result(LONG_ENOUGH)


def test_changes_of_many_accounts_at_once_all_succeed(server: Ports) -> None:
    actors = [actor_of(server, make_user(server, f"c{n}@example.com")) for n in range(THREADS)]
    open_connections(server)
    with ThreadPoolExecutor(THREADS) as pool:
        names = Details(first_name="Ada")
        for made in [pool.submit(update_account, server, actor, names) for actor in actors]:
            made.result(LONG_ENOUGH)


def test_an_apps_products_made_at_once_are_all_made(server: Ports) -> None:
    _, token = make_app(server, "an app", Permission.MANAGE_PRODUCTS)
    actor = identify(server, visit(token)).actor
    open_connections(server)
    with ThreadPoolExecutor(THREADS) as pool:
        for made in [
            pool.submit(create_product, server, actor, ProductInput(name=f"Bowl {n}"))
            for n in range(4 * THREADS)
        ]:
            made.result(LONG_ENOUGH)


def test_an_app_whose_changes_stall_leaves_half_of_the_threads() -> None:
    lanes, app = SubjectLanes(stalled_seconds=0), Subject(SubjectKind.CALLER, "app")
    is_over = Event()

    def change() -> None:
        with lanes.turn(app):
            is_over.wait(LONG_ENOUGH)

    with ThreadPoolExecutor(PARALLEL) as pool:
        attack: list[Future[object]] = [pool.submit(change) for _ in range(PARALLEL)]
        try:
            left = PARALLEL - THREADS // 2 - AT_ONCE
            assert refusals(attack, left) == left
        finally:
            is_over.set()
