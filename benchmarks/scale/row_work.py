"""What is done in a shop with few rows and in one with many: reads, searches, events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from ipaddress import ip_network
from itertools import count, cycle

from sqlalchemy import select, update
from typing_extensions import override

from app import models
from app.adapters.keys.passwords import Argon2Hasher
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.accounts.search import UserFilter, UserSort
from app.domain.authorization.actor import OPERATOR, WORKER, SessionOrigin
from app.domain.values.pages import Page, PageRequest
from app.ports import NamedRow
from app.ports.passwords import Match
from app.services.authorization.session_rights import find_session
from app.services.commerce.orders import list_orders
from app.services.commerce.products import ProductInput, update_product
from app.services.console.search import search_everything
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.lists import (
    DeliveryFilter,
    DeliverySearch,
    deliveries_of_webhooks,
    search_deliveries,
)
from app.services.deliveries.sending import send_deliveries
from app.services.people.directory import list_customers, list_staff
from app.services.second_factors.challenges import PendingSession
from app.services.sign_in.password_login import create_token, sign_in_with_password
from app.services.sign_in.sessions import OpenedSession
from app.services.sign_in.tokens import sign_access
from app.services.sign_in_log.events import list_sign_ins
from benchmarks.paths import ME
from benchmarks.scale.filling import ADMIN, PRODUCTS, WEBHOOKS
from tests.builders.people import NOBODY, PASSWORD, actor_of
from tests.builders.products import product_id
from tests.console.staff_client import ConsoleClient

DEPTH = 1000
"""Pages before the one that is read deep in a list; half of them where there are fewer."""

_SIZE = 20
_SIZES = {"`staffUsers`": 5}
"""Entries of a page where a small shop doesn't have enough for a full one."""

_PEOPLE = 64
_STEP = 7919
"""From one user to the next: they are far from each other."""

_LIFETIME = 3600.0
_SEARCHES = {
    "a frequent word": "anna",
    "the word of most": "example.com",
    "the beginning of many words": "s",
    "a rare word": "quimby",
    "a missing word": "nobodyhasthis",
    "two frequent words": "smith anna",
    "two frequent words that don't meet": "anna julia",
    "two frequent words that meet late": "julia smith",
    "a rare and a frequent word": "example.com quimby",
}


class _NoHasher(Argon2Hasher):
    """Every password is right, without being hashed."""

    @override
    def verify_sign_in(self, *_compared: object, **_options: object) -> Match:
        return Match.RIGHT


class FilledShop:
    """A filled database, as one process of the service sees it; webhooks send to ``port``."""

    def __init__(self, url: str, rows: int, port: int) -> None:
        self.url, self.rows = url, rows
        loopback = (ip_network("127.0.0.0/8"),)
        settings = Settings(database_url=url, outgoing_allowed_networks=loopback)
        self.ports = connect(settings)
        self.without_hash = replace(self.ports, passwords=_NoHasher())
        with self.ports.database.transaction() as session:
            target = f"http://127.0.0.1:{port}/hook"
            session.execute(update(models.Webhook).values(target_url=target))
            self.webhook = session.scalars(select(models.Webhook.id).limit(1)).one()
            admin = session.scalars(select(models.User.id).where(models.User.email == ADMIN)).one()
        self.admin = actor_of(self.ports, admin)
        self.client = create_app(self.ports, settings).test_client()
        ConsoleClient(self.client, self.ports).sign_in(ADMIN)
        people = self._some_customers()
        self._emails: Iterator[str] = cycle(person.email for person in people)
        self._tokens = cycle([self._access_token(person.id) for person in people])
        self.numbers = count()

    @property
    def email(self) -> str:
        """Another customer's email with each use."""
        return next(self._emails)

    @property
    def token(self) -> str:
        """The access token of another session with each use."""
        return next(self._tokens)

    def open(self, path: str) -> None:
        """Open a page of the console."""
        answer = self.client.get(path)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} was answered with {answer.status_code}")

    def close(self) -> None:
        self.ports.activity.flush()
        self.ports.database.close()

    def _some_customers(self) -> Sequence[NamedRow]:
        """Return active customers from all over the table."""
        user = models.User
        keys = [1 + number * _STEP % self.rows for number in range(_PEOPLE)]
        chosen = user.id.in_(keys) & user.is_active.is_(True) & user.is_staff.is_(False)
        with self.ports.database.reading() as session:
            return session.execute(select(user.id, user.email).where(chosen)).all()

    def _access_token(self, user: int) -> str:
        of_user = select(models.Session.token).where(models.Session.user_id == user)
        with self.ports.database.reading() as session:
            token = session.scalars(of_user.order_by(models.Session.id).limit(1)).one()
        found = find_session(self.ports, token, user).found
        if found is None:
            raise RuntimeError(f"the session of user {user} has ended")
        now = self.ports.clock.timestamp()
        opened = OpenedSession(token, SessionOrigin.PASSWORD, now, now + _LIFETIME, "")
        return sign_access(self.ports, NOBODY, opened, found.user, "")


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work, done ``times`` in a row, after what comes ``before`` it.

    ``limit`` is how many milliseconds a search can take.
    """

    name: str
    do: Callable[[FilledShop], object]
    times: int = 10
    limit: float = 0.0
    before: Callable[[FilledShop], object] | None = None


Read = Callable[[FilledShop, PageRequest], Page[object]]

_LISTS: dict[str, Read] = {
    "`customers`": lambda shop, page: list_customers(shop.ports, shop.admin, page),
    "`customers`, newest first": lambda shop, page: list_customers(
        shop.ports, shop.admin, page, UserFilter(sort=UserSort.CREATED_AT, descending=True)
    ),
    "`staffUsers`": lambda shop, page: list_staff(shop.ports, shop.admin, page),
    "`eventDeliveries`": lambda shop, page: deliveries_of_webhooks(
        shop.ports, shop.admin, [shop.webhook], page, DeliveryFilter()
    )[shop.webhook],
    "`orders`": lambda shop, page: list_orders(shop.ports, shop.admin, page),
    "all deliveries": lambda shop, page: search_deliveries(
        shop.ports, shop.admin, page, DeliverySearch()
    ),
    "sign-in log": lambda shop, page: list_sign_ins(shop.ports, shop.admin, page),
}
_PAGES = (
    *("/console/", "/console/customers/", "/console/staff/", "/console/deliveries/"),
    *("/console/deliveries/?status=failed", "/console/sign-ins/", "/console/audit/"),
    *("/console/webhooks/", "/console/customers/?status=inactive"),
)
_PAGE_SEARCHES = (
    *("/console/customers/?q=anna", "/console/customers/?q=quimby"),
    *("/console/customers/?q=nobodyhasthis", "/console/search/?q=anna"),
    *("/console/deliveries/?q=no+such+text", "/console/sign-ins/?q=no+such+text"),
)


def works(limit: float) -> Iterator[Work]:
    """Yield all that is measured; ``limit`` is that of searches."""
    yield Work("`me`, in process", _me)
    yield Work("sign-in, with the hash", partial(_sign_in, hashed=True), times=3)
    yield Work("sign-in, without hash and signatures", partial(_sign_in, hashed=False))
    for name, read in _LISTS.items():
        size = _SIZES.get(name, _SIZE)
        yield Work(f"{name}, first page", partial(_read, read, PageRequest(size)))
        yield Work(f"{name}, {DEPTH:,} pages in", _Deep(read, size))
        yield Work(f"{name}, last page", partial(_read, read, PageRequest(size, backwards=True)))
    for path in _PAGES:
        yield Work(f"page `{path}`", partial(_open, path), times=3)
    for name, text in _SEARCHES.items():
        filter_ = UserFilter(search=text)
        yield Work(f"`customers` with {name}", partial(_search, filter_), 5, limit)
        yield Work(f"console's search for {name}", partial(_search_all, text), 5, limit)
    for path in _PAGE_SEARCHES:
        yield Work(f"page `{path}`", partial(_open, path), 3, limit)
    yield Work(f"{PRODUCTS} changes told to {WEBHOOKS} webhooks each", _fan_out, 1, before=_change)
    name = f"dispatch and delivery of {PRODUCTS * WEBHOOKS}"
    yield Work(name, partial(_deliver, PRODUCTS * WEBHOOKS), 1, before=_make_deliveries)


def _me(shop: FilledShop) -> None:
    answer = shop.client.post(
        "/graphql/", json={"query": ME}, headers={"Authorization": f"Bearer {shop.token}"}
    )
    if not answer.get_json()["data"]["me"]:
        raise RuntimeError("`me` is empty")


def _sign_in(shop: FilledShop, *, hashed: bool) -> None:
    if hashed:
        create_token(shop.ports, NOBODY, email=shop.email, password=PASSWORD)
    else:
        sign_in_with_password(
            shop.without_hash, NOBODY, PendingSession(), email=shop.email, password=PASSWORD
        )


def _read(read: Read, page: PageRequest, shop: FilledShop) -> None:
    if not read(shop, page).items:
        raise RuntimeError("the page is empty")


class _Deep:
    """Reads a page deep in a list, whose cursor is found when a shop's page is first read."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._size = size
        self._cursors: dict[int, tuple[str | int, ...]] = {}

    def __call__(self, shop: FilledShop) -> None:
        if shop.rows not in self._cursors:
            before = self._read(shop, PageRequest(DEPTH * _SIZE))
            last = len(before.positions) - 1
            place = before.positions[last if before.has_next else last // 2]
            self._cursors[shop.rows] = tuple(map(_cursor_value, place))
        _read(self._read, PageRequest(self._size, cursor=self._cursors[shop.rows]), shop)


def _cursor_value(value: object) -> str | int:
    return value if isinstance(value, str | int) else _moment(value)


def _moment(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{value!r} can't be in a cursor")
    return value.isoformat()


def _open(path: str, shop: FilledShop) -> None:
    shop.open(path)


def _search(filter_: UserFilter, shop: FilledShop) -> None:
    list_customers(shop.ports, shop.admin, PageRequest(_SIZE), filter_)


def _search_all(text: str, shop: FilledShop) -> None:
    search_everything(shop.ports, shop.admin, text)


def _change(shop: FilledShop) -> None:
    for key in range(1, PRODUCTS + 1):
        name = f"Bowl {next(shop.numbers)}"
        update_product(shop.ports, OPERATOR, product_id(key), ProductInput(name=name))


def _fan_out(shop: FilledShop) -> None:
    if fan_out_events(shop.ports, WORKER) != PRODUCTS:
        raise RuntimeError("not all events were fanned out")


def _make_deliveries(shop: FilledShop) -> None:
    _deliver(None, shop)  # what earlier rounds have left
    _change(shop)
    _fan_out(shop)


def _deliver(expected: int | None, shop: FilledShop) -> None:
    delivered = 0
    while batches := lease_due_deliveries(shop.ports, WORKER):
        delivered += sum(send_deliveries(shop.ports, WORKER, batch) for batch in batches)
    if expected is not None and delivered != expected:
        raise RuntimeError(f"{delivered} were delivered instead of {expected}")
