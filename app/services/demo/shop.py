"""Fill the demo shop and its carts and orders, and tell it from a real shop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app import models
from app.domain.apps.apps import TOKEN_RANDOM_LENGTH, last_four, make_app_token, token_digest
from app.domain.authorization.actor import Actor
from app.domain.commerce.sales import OrderStatus
from app.domain.values.ids import to_global_id
from app.domain.values.installation import OnProgress, ignore_progress
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal
from app.services.commerce.checkouts import LineInput, create_checkout
from app.services.commerce.orders import (
    cancel_order,
    complete_checkout,
    confirm_order,
    fulfill_order,
    mark_order_paid,
)
from app.services.commerce.products import ProductInput, create_product, update_product
from app.services.demo.activity import (
    FORGETFUL,
    block_guesser,
    write_mails,
    write_sign_ins,
    write_traces,
)
from app.services.demo.apps import (
    APP_NAMES,
    WAREHOUSE,
    app_made_for_demo,
    installations,
    made_apps,
)
from app.services.demo.apps import NAME as PARCELS
from app.services.demo.deliveries import past_deliveries, write_deliveries
from app.services.demo.people import (
    CUSTOMERS,
    EDITOR,
    MANAGER,
    OPENED,
    PEOPLE,
    SUPPORT,
    Person,
    customer,
    made_for_demo,
    people_happenings,
)
from app.services.demo.timeline import MAKER, Happening, Past
from app.services.keys import ring
from app.services.outbox.base_url import issuer_of


@dataclass(frozen=True, slots=True)
class _Goods:
    slug: str
    name: str
    price: str
    description: str


PUBLISHED = (
    _Goods("ash-bowl", "Ash bowl", "38.00", "Stoneware in a matt ash glaze, for soup or bread."),
    _Goods("ash-bowl-small", "Ash bowl, small", "24.00", "The same for porridge and olives."),
    _Goods("tide-plate", "Tide plate", "32.00", "A dinner plate whose glaze runs out like water."),
    _Goods("tide-plate-small", "Tide plate, small", "22.00", "For cake, and for what is left."),
    _Goods("fjord-mug", "Fjord mug", "26.00", "Holds 350 ml and a whole hand. Blue inside."),
    _Goods("fjord-cup", "Fjord cup", "18.00", "For espresso. It has no handle and needs none."),
    _Goods("moss-teapot", "Moss teapot", "84.00", "Pours without a drop beside the cup. 900 ml."),
    _Goods(
        "moss-tea-bowl", "Moss tea bowl", "29.00", "Thrown thin, glazed thick, each a bit off."
    ),
    _Goods("birch-vase", "Birch vase", "56.00", "White slip over dark clay, scratched by hand."),
    _Goods(
        "birch-vase-tall", "Birch vase, tall", "92.00", "Stands 38 cm. For branches, not roses."
    ),
    _Goods("salt-jar", "Salt jar", "34.50", "With a lid that a wet hand can lift."),
    _Goods("butter-dish", "Butter dish", "45.00", "Keeps butter soft in winter and firm in May."),
    _Goods("gravel-planter", "Gravel planter", "48.00", "Unglazed outside, with a saucer."),
    _Goods("herb-pot", "Herb pot", "19.90", "Basil likes it. So does mint, alas."),
    _Goods("lantern", "Window lantern", "42.00", "Pierced while leather-hard; a tea light fits."),
    _Goods("candle-ring", "Candle ring", "64.00", "For four candles, or for one at a time."),
    _Goods("serving-dish", "Serving dish", "72.00", "Oval, 36 cm, safe in the oven to 220 °C."),
    _Goods("pie-dish", "Pie dish", "58.00", "Fluted, 26 cm, glazed where the pie sits."),
    _Goods("cruet", "Oil cruet", "39.00", "One slow pour. Cork included."),
    _Goods("egg-cups", "Egg cups, set of four", "36.00", "In the four glazes of the house."),
    _Goods("spoon-rest", "Spoon rest", "16.00", "What the stove was missing."),
    _Goods("tile-coaster", "Tile coaster", "9.50", "Cut from test tiles: no two alike."),
)
_UNPUBLISHED = (
    _Goods(
        "solstice-bowl", "Solstice bowl", "118.00", "Fired in wood for three days. In December."
    ),
    _Goods("seconds-box", "Box of seconds", "", "Five pieces with a flaw that we could not sell."),
)
GOODS = (*PUBLISHED, *_UNPUBLISHED)

_NEW_PRICES = (
    (130.0, "tide-plate", "34.00"),
    (75.0, "fjord-cup", "19.50"),
    (47.5, "lantern", "39.00"),
    (30.2, "herb-pot", "17.90"),
    (21.8, "moss-teapot", "89.00"),
    (16.6, "pie-dish", "62.00"),
    (9.4, "candle-ring", "58.00"),
    (5.1, "birch-vase", "54.00"),
    (2.2, "cruet", "41.50"),
    (0.9, "salt-jar", "36.00"),
)
"""Hours ago, what, and what it has cost since: none twice, so that it can be said again."""


def _product_happenings() -> Iterator[Happening]:
    """Everything that is on sale, or not yet, is put in."""
    for place, goods in enumerate(GOODS):
        yield Happening(OPENED - 6 - place / 4, partial(_add, goods))


def _new_prices() -> Iterator[Happening]:
    """Some of it becomes dearer, or cheaper."""
    for hours_ago, slug, price in _NEW_PRICES:
        yield Happening(hours_ago, partial(_set_price, slug, price))


def _goods_on_sale(past: Past) -> Mapping[str, int]:
    """Return the keys of what can be bought, by slug."""
    return {
        slug: key
        for slug, (key, price, is_published) in _existing_products(past).items()
        if is_published and price != models.NO_PRICE
    }


def _add(goods: _Goods, past: Past) -> None:
    if goods.slug in _existing_products(past):
        return
    input_ = ProductInput(
        name=goods.name,
        slug=goods.slug,
        description=goods.description,
        price=Decimal(goods.price) if goods.price else None,
        is_published=goods in PUBLISHED,
    )
    hours_ago = OPENED - 6 - GOODS.index(goods) / 4
    create_product(past.at(hours_ago), past.staff(EDITOR), input_)


def _set_price(slug: str, price: str, past: Past) -> None:
    found = _existing_products(past).get(slug)
    if found is None:
        return
    hours_ago = next(hours for hours, product_slug, _ in _NEW_PRICES if product_slug == slug)
    update_product(
        past.at(hours_ago),
        past.staff(MANAGER),
        to_global_id("Product", found[0]),
        ProductInput(price=Decimal(price)),
    )


def _existing_products(past: Past) -> Mapping[str, tuple[int, int, bool]]:
    """Return key, price and publication of existing products, by slug."""
    query = select(
        models.Product.slug, models.Product.id, models.Product.price, models.Product.is_published
    ).where(models.Product.slug.in_([goods.slug for goods in GOODS]))
    with past.ports.database.reading() as session:
        return {
            slug: (key, price, is_published)
            for slug, key, price, is_published in session.execute(query)
        }


_COUNT = 52
_EVERY_CART_LEFT = 6
_EVERY_CANCELLED = 9
_LAGS = {"order": 0.2, "pay": 0.4, "confirm": 3.0, "cancel": 7.0, "fulfill": 26.0}
"""Hours from the cart to each step, which has not come yet where they are not over."""


@dataclass(frozen=True, slots=True)
class Sale:
    """A cart and the steps taken with it; ``turn`` counts those of one customer from 0."""

    email: str
    turn: int
    hours_ago: float
    goods: Mapping[str, int]
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """How far a sale has come; no ``order_id`` while it is a cart."""

    token: str
    order_id: int | None
    status: str | None
    is_paid: bool | None


def _sales() -> Iterator[Sale]:
    turns: dict[str, int] = {}
    for place in reversed(range(_COUNT)):
        # Ten in the last day, fewer a day the longer ago.
        hours_ago = 0.6 + 0.27 * place**2
        joined = [person for person in CUSTOMERS if person.joined > hours_ago + 1]
        email = joined[place * 7 % len(joined)].email
        turns[email] = turns.get(email, -1) + 1
        goods = {
            PUBLISHED[(place * 5 + more * 8) % len(PUBLISHED)].slug: 1 + (place + more) % 4
            for more in range(1 + place % 3)
        }
        yield Sale(email, turns[email], hours_ago, goods, _steps(place))


def _steps(place: int) -> tuple[str, ...]:
    if place % _EVERY_CART_LEFT == _EVERY_CART_LEFT - 1:
        return ()
    if place % _EVERY_CANCELLED == _EVERY_CANCELLED - 1:
        return ("order", "cancel")
    # Some pay later than the shop takes them on, or have not yet.
    return ("order", "confirm") if place % 7 == 2 else ("order", "pay", "confirm", "fulfill")  # noqa: PLR2004


SALES = tuple(_sales())


@building_block
def sales() -> Iterator[Happening]:
    """People fill carts and order, and the staff does its part."""
    for sale in SALES:
        yield Happening(sale.hours_ago, partial(_fill_cart, sale))
        for step in sale.steps:
            hours_ago = sale.hours_ago - _LAGS[step]
            if hours_ago > 0:
                yield Happening(hours_ago, partial(_take, sale, step))


def _fill_cart(sale: Sale, past: Past) -> None:
    buyer, products = customer(past, sale.email), _goods_on_sale(past)
    lines = [
        LineInput(to_global_id("Product", products[slug]), quantity)
        for slug, quantity in sale.goods.items()
        if slug in products
    ]
    if buyer is not None and lines and _state(past, buyer, sale) is None:
        create_checkout(past.at(sale.hours_ago), buyer, lines)


def _take(sale: Sale, step: str, past: Past) -> None:
    """Take one step, if the sale has come to it and not past it."""
    buyer = customer(past, sale.email)
    state = None if buyer is None else _state(past, buyer, sale)
    if buyer is None or state is None:
        return
    ports = past.at(sale.hours_ago - _LAGS[step])
    if step == "order":
        if state.order_id is None:
            complete_checkout(ports, buyer, to_global_id("Checkout", state.token))
    elif state.order_id is not None:
        _work_on(ports, past, step, state.order_id, state)


def _work_on(ports: Ports, past: Past, step: str, key: int, state: _State) -> None:
    """Take the staff's steps, each in the state that it is for."""
    order_id = to_global_id("Order", key)
    if step == "confirm" and state.status == OrderStatus.UNCONFIRMED:
        confirm_order(ports, past.staff(SUPPORT), order_id)
    elif step == "pay" and not state.is_paid:
        mark_order_paid(ports, past.staff(MANAGER), order_id)
    elif step == "fulfill" and state.status == OrderStatus.UNFULFILLED:
        fulfill_order(ports, past.staff(SUPPORT), order_id)
    elif step == "cancel" and state.status == OrderStatus.UNCONFIRMED:
        cancel_order(ports, past.staff(SUPPORT), order_id)


def _state(past: Past, buyer: Actor, sale: Sale) -> _State | None:
    """How far a sale has come; ``None`` before its cart. A person's carts keep their order."""
    query = (
        select(models.Checkout.token, models.Order.id, models.Order.status, models.Order.is_paid)
        .outerjoin(models.Order, models.Order.checkout_id == models.Checkout.id)
        .where(models.Checkout.user_id == buyer.user_id)
        .order_by(models.Checkout.id)
        .offset(sale.turn)
        .limit(1)
    )
    with past.ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else _State(*row)


SHOP_NAME = "Northlight Ceramics"

_UNNAMED = "Latchkey shop"
_PASSWORD_LENGTH = 16
_FILLED = "demo.fill"
_TOKEN_NAME = "Demo"  # noqa: S105


@dataclass(frozen=True, slots=True)
class SignIn:
    """A demo person's credentials; ``secret`` is shown once."""

    role: str
    name: str
    secret: str = field(repr=False)


@internal
def fill_shop(
    ports: Ports,
    actor: Actor,
    tell: Callable[[Sequence[SignIn]], None],
    on_progress: OnProgress = ignore_progress,
) -> None:
    """Create what the demo shop lacks; ``tell`` gets all sign-ins at once.

    Safe to repeat: existing people don't change, and a completed shop only gets back people and
    products. An interrupted run is completed: no sign-in works until all were passed to ``tell``.
    No webhook receives the events: the demo's own get their past deliveries, and no others any.
    """
    past = Past(ports, ports.clock.now(), issuer_of(ports, ports.configuration.issuer))
    is_new = not is_filled(ports)
    happenings = [*people_happenings(), *_product_happenings()]
    if is_new:
        ring(past.at(OPENED + 1))  # the next key is then old enough for a rotation
        happenings += [*made_apps(), *installations(), *_new_prices(), *sales()]
    happenings.sort(key=lambda happening: happening.hours_ago, reverse=True)
    for number, happening in enumerate(happenings, 1):
        happening.happen(past)
        on_progress(number, len(happenings))
    _finish(past, tell, is_new=is_new)


@internal
def is_in_use(ports: Ports, actor: Actor) -> bool:
    """Whether the demo shop is complete, or the shop has other people or apps.

    Demo people and apps alone, none of whom has signed in, are left by an interrupted run.
    """
    emails = [person.email for person in PEOPLE]
    stranger = or_(models.User.email.not_in(emails), models.User.last_login.is_not(None))
    foreign = models.App.name.not_in([*APP_NAMES, PARCELS])
    with ports.database.reading() as session:
        found = (
            session.scalar(select(models.User.id).where(stranger).limit(1)),
            session.scalar(select(models.App.id).where(foreign).limit(1)),
        )
    return found != (None, None) or is_filled(ports)


@internal
def sign_in_people(ports: Ports, actor: Actor) -> tuple[Person, ...]:
    """Return those who were made for the demo to sign in as, and are there still."""
    emails = [person.email for person in PEOPLE if person.role]
    with ports.database.reading() as session:
        users = made_for_demo(session, emails)
    return tuple(person for person in PEOPLE if person.email in users)


@building_block
def is_filled(ports: Ports) -> bool:
    """Whether the demo filled this shop to the end."""
    mark = select(models.AuditEntry.id).where(models.AuditEntry.action == _FILLED).limit(1)
    with ports.database.reading() as session:
        return session.scalar(mark) is not None


def _finish(past: Past, tell: Callable[[Sequence[SignIn]], None], *, is_new: bool) -> None:
    """Pass the sign-ins to ``tell``, then store what completes the shop.

    In that order: after an interruption the next run passes new ones, whereas stored passwords
    that no one saw would be lost.
    """
    ports = past.ports
    waiting = _without_password(ports)
    passwords = {
        person: ports.randomness.token(_PASSWORD_LENGTH) for person in waiting if person.role
    }
    hashes = {person: ports.passwords.hash(password) for person, password in passwords.items()}
    # Everyone else has chosen a password too, which isn't known; one hash is enough for them.
    unknown = ports.passwords.hash(ports.randomness.token(_PASSWORD_LENGTH))
    hashes |= {person: unknown for person in waiting if not person.role and not person.subject}
    deliveries = past_deliveries(past) if is_new else ()
    app = app_made_for_demo(past, WAREHOUSE) if is_new else None
    token = make_app_token(ports.randomness.token(TOKEN_RANDOM_LENGTH))
    sign_ins = [
        SignIn(person.role, person.email, password) for person, password in passwords.items()
    ]
    if app is not None:
        sign_ins.append(SignIn("app", WAREHOUSE, token))
    if is_new:
        block_guesser(past, _customer(waiting))
    tell(sign_ins)
    with ports.database.transaction() as session:
        for person, hashed in hashes.items():
            session.get_one(models.User, waiting[person]).password_hash = hashed
        if is_new:
            write_traces(past, session, app)
            write_sign_ins(past, session)
            write_mails(past, session)
            write_deliveries(past, session, deliveries)
            if app is not None:
                session.add(_token(past, app, token))
            _mark_as_filled(past, session)


def _customer(people: Mapping[Person, int]) -> int | None:
    """Return the key of the customer whose sign-ins fail in the demo's log, too."""
    return next((key for person, key in people.items() if person.email == FORGETFUL), None)


def _without_password(ports: Ports) -> Mapping[Person, int]:
    """Return those of the demo's own people who cannot sign in yet, in the order of their list."""
    with ports.database.reading() as session:
        users = made_for_demo(session, [person.email for person in PEOPLE])
        query = select(models.User.id).where(
            models.User.id.in_(users.values()), models.User.password_hash.is_(None)
        )
        waiting = set(session.scalars(query))
    return {person: users[person.email] for person in PEOPLE if users.get(person.email) in waiting}


def _token(past: Past, app_id: int, token: str) -> models.AppToken:
    return models.AppToken(
        app_id=app_id,
        name=_TOKEN_NAME,
        digest=token_digest(token),
        last_four=last_four(token),
        created_at=past.now,
    )


def _mark_as_filled(past: Past, session: Session) -> None:
    shop = session.get_one(models.Shop, models.SHOP_ID)
    if shop.name == _UNNAMED:
        shop.name = SHOP_NAME
    shop.setup_dismissed = True
    record(past.ports, MAKER, session, Change(_FILLED, "Shop", models.SHOP_ID, shop.name))
