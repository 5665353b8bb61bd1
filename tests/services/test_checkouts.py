"""Carts are filled, changed and emptied by those whose they are."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import delete, func, select, update

from app.domain.actor import Actor, ActorKind
from app.domain.checkouts import MOST_LINES, MOST_PIECES, Checkout
from app.domain.errors import PermissionDenied, Refused
from app.domain.ids import to_global_id
from app.domain.money import of_units
from app.domain.permissions import ALL_PERMISSIONS, Permission
from app.models import CheckoutLineRecord, CheckoutRecord, ProductRecord, UserRecord
from app.ports import Ports
from app.services.cart_lines import Wanted
from app.services.checkouts import (
    add_checkout_lines,
    attach_checkout,
    create_checkout,
    delete_checkout_lines,
    update_checkout_email,
    update_checkout_lines,
)
from tests.builders.audit import trail
from tests.builders.orders import EMAIL, checkout_id, make_cart
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_user
from tests.builders.products import make_product, product_id, reprice
from tests.fakes.clock import FakeClock

OTHER = Actor(ActorKind.USER, user_id=4711)
CLERK = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.HANDLE_CHECKOUTS}))
STOREKEEPER = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)


def refused(excinfo: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in excinfo.value.problems]


def contents(checkout: Checkout) -> list[tuple[str, int, Decimal]]:
    return [(line.product_name, line.quantity, line.unit_price.amount) for line in checkout.lines]


def line_id(checkout: Checkout, place: int = 0) -> str:
    return to_global_id("CheckoutLine", checkout.lines[place].id)


def test_anybody_begins_a_cart_that_only_its_token_opens(ports: Ports) -> None:
    bowl = make_product(ports, "Bowl", "12.50")
    first = create_checkout(ports, NOBODY, [Wanted(product_id(bowl), 2)], " Ann@Example.com ")
    assert contents(first) == [("Bowl", 2, Decimal("12.50"))]
    assert (first.total, first.quantity) == (of_units(2500), 2)
    assert (first.user_id, first.email) == (None, "ann@example.com")
    second = create_checkout(ports, NOBODY)
    assert (second.lines, second.total.units, second.email) == ((), 0, "")
    assert len(first.token) == len(second.token) == 32
    assert first.token != second.token
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CHECKOUT_CREATED", first.id),
        ("CHECKOUT_CREATED", second.id),
    ]
    assert trail(ports, "checkout.create") == []


def test_a_persons_cart_is_their_own_and_has_their_email(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    assert create_checkout(ports, ann).email == "ann@example.com"
    cart = create_checkout(ports, ann, email="work@example.com")
    assert (cart.user_id, cart.email) == (ann.user_id, "work@example.com")


def test_somebody_whose_account_is_gone_begins_no_cart(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    with ports.database.transaction() as session:
        session.execute(delete(UserRecord))
    with pytest.raises(PermissionDenied):
        create_checkout(ports, ann)


@pytest.mark.parametrize(
    ("quantity", "code"),
    [
        (0, "ZERO_QUANTITY"),
        (-1, "ZERO_QUANTITY"),
        (MOST_PIECES + 1, "QUANTITY_GREATER_THAN_LIMIT"),
        (2**31 - 1, "QUANTITY_GREATER_THAN_LIMIT"),
    ],
)
def test_a_quantity_beyond_reason_is_refused(ports: Ports, quantity: int, code: str) -> None:
    cart = make_cart(ports)
    wanted = [Wanted(product_id(make_product(ports)), quantity)]
    attempts: list[Callable[[], object]] = [
        lambda: create_checkout(ports, NOBODY, wanted),
        lambda: add_checkout_lines(ports, NOBODY, checkout_id(cart), wanted),
    ]
    if quantity:
        attempts.append(lambda: update_checkout_lines(ports, NOBODY, checkout_id(cart), wanted))
    for attempt in attempts:
        with pytest.raises(Refused) as excinfo:
            attempt()
        assert refused(excinfo) == [("quantity", code)]


def test_what_cannot_be_bought_cannot_be_put_in(ports: Ports) -> None:
    hidden = product_id(make_product(ports, "Hidden", is_published=False))
    priceless = product_id(make_product(ports, "Priceless", None))
    cart = make_cart(ports)
    before = len(events(ports))
    for id_, actor, code in (
        (hidden, NOBODY, "NOT_FOUND"),
        (hidden, STOREKEEPER, "PRODUCT_NOT_PUBLISHED"),
        (priceless, NOBODY, "PRODUCT_UNAVAILABLE_FOR_PURCHASE"),
        (product_id(4711), NOBODY, "NOT_FOUND"),
        (to_global_id("User", 1), NOBODY, "NOT_FOUND"),
        ("nonsense", NOBODY, "NOT_FOUND"),
    ):
        with pytest.raises(Refused) as excinfo:
            create_checkout(ports, actor, [Wanted(id_, 1)])
        assert refused(excinfo) == [("productId", code)]
        with pytest.raises(Refused) as excinfo:
            add_checkout_lines(ports, actor, checkout_id(cart), [Wanted(id_, 1)])
        assert refused(excinfo) == [("productId", code)]
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(CheckoutRecord)) == 1
    assert len(events(ports)) == before


@pytest.mark.parametrize("email", ["nonsense", "a@b", "a\n@example.com", "a" * 300])
def test_an_email_that_is_none_is_refused(ports: Ports, email: str) -> None:
    with pytest.raises(Refused) as excinfo:
        create_checkout(ports, NOBODY, email=email)
    assert refused(excinfo) == [("email", "INVALID")]
    with pytest.raises(Refused) as excinfo:
        update_checkout_email(ports, NOBODY, checkout_id(make_cart(ports)), email)
    assert refused(excinfo) == [("email", "INVALID")]


def test_what_is_put_in_twice_is_there_together_at_the_present_price(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl", "12.50"), make_product(ports, "Cup", "5")
    cart = make_cart(ports, NOBODY, bowl, quantity=2)
    reprice(ports, bowl, "10")
    reprice(ports, cup, "4")
    again = [Wanted(product_id(bowl), 1), Wanted(product_id(cup), 1), Wanted(product_id(cup), 2)]
    after = add_checkout_lines(ports, NOBODY, checkout_id(cart), again)
    assert contents(after) == [("Bowl", 3, Decimal("10.00")), ("Cup", 3, Decimal("4.00"))]
    full = [Wanted(product_id(bowl), MOST_PIECES - 2)]
    with pytest.raises(Refused) as excinfo:
        add_checkout_lines(ports, NOBODY, checkout_id(cart), full)
    assert refused(excinfo) == [("quantity", "QUANTITY_GREATER_THAN_LIMIT")]


def test_a_price_stays_until_somebody_touches_the_line(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl", "12.50"), make_product(ports, "Cup", "5")
    cart = make_cart(ports, NOBODY, bowl)
    reprice(ports, bowl, "99")
    after = add_checkout_lines(ports, NOBODY, checkout_id(cart), [Wanted(product_id(cup), 1)])
    assert contents(after)[0] == ("Bowl", 1, Decimal("12.50"))
    after = update_checkout_lines(ports, NOBODY, checkout_id(cart), [Wanted(product_id(bowl), 1)])
    assert contents(after)[0] == ("Bowl", 1, Decimal("99.00"))


def test_an_update_says_how_many_there_are_to_be(ports: Ports, clock: FakeClock) -> None:
    bowl, cup, jug = (make_product(ports, name) for name in ("Bowl", "Cup", "Jug"))
    cart = make_cart(ports, NOBODY, bowl, cup, quantity=5)
    clock.pass_(seconds=9)
    wanted = [Wanted(product_id(key), n) for key, n in ((bowl, 2), (cup, 0), (jug, 1))]
    after = update_checkout_lines(ports, NOBODY, checkout_id(cart), wanted)
    assert [(name, quantity) for name, quantity, _ in contents(after)] == [("Bowl", 2), ("Jug", 1)]
    assert after.updated_at == clock.now()
    twice = [Wanted(product_id(bowl), 1), Wanted(product_id(bowl), 2)]
    with pytest.raises(Refused) as excinfo:
        update_checkout_lines(ports, NOBODY, checkout_id(cart), twice)
    assert refused(excinfo) == [("lines", "DUPLICATED_INPUT_ITEM")]
    absent = [Wanted(product_id(cup), 0)]
    assert update_checkout_lines(ports, NOBODY, checkout_id(cart), absent).quantity == 3


def test_a_cart_has_so_many_lines_and_no_more(ports: Ports) -> None:
    keys = [make_product(ports, f"Bowl {number}") for number in range(MOST_LINES + 1)]
    with pytest.raises(Refused) as excinfo:
        create_checkout(ports, NOBODY, [Wanted(product_id(key), 1) for key in keys])
    assert refused(excinfo) == [("lines", "INVALID")]
    cart = create_checkout(ports, NOBODY, [Wanted(product_id(key), 1) for key in keys[1:]])
    assert len(cart.lines) == MOST_LINES
    with pytest.raises(Refused) as excinfo:
        add_checkout_lines(ports, NOBODY, checkout_id(cart), [Wanted(product_id(keys[0]), 1)])
    assert refused(excinfo) == [("lines", "INVALID")]
    swap = [Wanted(product_id(keys[1]), 0), Wanted(product_id(keys[0]), 1)]
    assert len(update_checkout_lines(ports, NOBODY, checkout_id(cart), swap).lines) == MOST_LINES


def test_lines_are_taken_out_by_their_ids(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl"), make_product(ports, "Cup")
    cart, other = make_cart(ports, NOBODY, bowl, cup), make_cart(ports, NOBODY, bowl)
    for ids in ([line_id(cart), line_id(other)], ["nonsense"], [to_global_id("CheckoutLine", 99)]):
        with pytest.raises(Refused) as excinfo:
            delete_checkout_lines(ports, NOBODY, checkout_id(cart), ids)
        assert refused(excinfo) == [("linesIds", "NOT_FOUND")]
    for ids, code in (([], "REQUIRED"), ([line_id(cart)] * 101, "INVALID")):
        with pytest.raises(Refused) as excinfo:
            delete_checkout_lines(ports, NOBODY, checkout_id(cart), ids)
        assert refused(excinfo) == [("linesIds", code)]
    twice = [line_id(cart), line_id(cart)]
    after = delete_checkout_lines(ports, NOBODY, checkout_id(cart), twice)
    assert [name for name, *_ in contents(after)] == ["Cup"]
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(CheckoutLineRecord)) == 2


def test_a_line_outlives_its_product(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl"), make_product(ports, "Cup")
    cart = make_cart(ports, NOBODY, bowl, cup)
    with ports.database.transaction() as session:
        session.execute(delete(ProductRecord).where(ProductRecord.id == bowl))
        session.execute(
            update(ProductRecord).where(ProductRecord.id == cup).values(is_published=False)
        )
    after = update_checkout_email(ports, NOBODY, checkout_id(cart), "x@example.com")
    assert [(line.product_name, line.product) for line in after.lines] == [
        ("Bowl", None),
        ("Cup", None),
    ]
    after = update_checkout_email(ports, STOREKEEPER, checkout_id(cart), "y@example.com")
    shown = [line.product for line in after.lines]
    assert shown[0] is None
    assert shown[1] is not None
    left = delete_checkout_lines(ports, NOBODY, checkout_id(cart), [line_id(after)])
    assert [name for name, *_ in contents(left)] == ["Cup"]


def test_nobody_changes_somebody_elses_cart(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl = make_product(ports, "Bowl")
    cart = make_cart(ports, ann, bowl)
    before = len(events(ports))
    wanted = [Wanted(product_id(bowl), 1)]
    for actor in (NOBODY, OTHER, Actor(ActorKind.APP, app_id=1)):
        attempts: list[Callable[[str], object]] = [
            partial(add_checkout_lines, ports, actor, wanted=wanted),
            partial(update_checkout_lines, ports, actor, wanted=wanted),
            partial(delete_checkout_lines, ports, actor, line_ids=[line_id(cart)]),
            partial(update_checkout_email, ports, actor, email=EMAIL),
        ]
        ids = (
            checkout_id(cart),
            to_global_id("Checkout", cart.id),
            to_global_id("Checkout", "\0"),
            to_global_id("Cart", cart.token),
            cart.token,
            "",
        )
        for attempt in attempts:
            for id_ in ids:
                with pytest.raises(Refused) as excinfo:
                    attempt(id_)
                assert refused(excinfo) == [("id", "NOT_FOUND")]
    assert len(events(ports)) == before
    assert add_checkout_lines(ports, CLERK, checkout_id(cart), wanted).quantity == 2
    assert add_checkout_lines(ports, ann, checkout_id(cart), wanted).quantity == 3


def test_nobodys_cart_becomes_the_callers_own(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bob = actor_of(ports, make_user(ports, "bob@example.com"))
    cart = create_checkout(ports, NOBODY)
    owned = attach_checkout(ports, ann, checkout_id(cart))
    assert (owned.user_id, owned.email) == (ann.user_id, "ann@example.com")
    assert attach_checkout(ports, ann, checkout_id(cart)) == owned
    for actor in (bob, NOBODY):
        with pytest.raises(Refused if actor is bob else PermissionDenied):
            attach_checkout(ports, actor, checkout_id(cart))
    clerk = actor_of(
        ports,
        make_user(
            ports, "c@example.com", is_staff=True, permissions=[Permission.MANAGE_CHECKOUTS]
        ),
    )
    with pytest.raises(Refused):
        attach_checkout(ports, clerk, checkout_id(cart))
    kept = make_cart(ports)
    assert attach_checkout(ports, ann, checkout_id(kept)).email == EMAIL


def test_every_change_is_told_and_no_change_is_not(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl = make_product(ports)
    cart = create_checkout(ports, NOBODY)
    id_, one = checkout_id(cart), [Wanted(product_id(bowl), 1)]
    filled = add_checkout_lines(ports, NOBODY, id_, one)
    update_checkout_lines(ports, NOBODY, id_, [Wanted(product_id(bowl), 2)])
    delete_checkout_lines(ports, NOBODY, id_, [line_id(filled)])
    for _ in range(2):
        update_checkout_email(ports, NOBODY, id_, EMAIL)
    for _ in range(2):
        attach_checkout(ports, ann, id_)
    for attempt in (add_checkout_lines, update_checkout_lines):
        with pytest.raises(Refused) as excinfo:
            attempt(ports, ann, id_, [])
        assert refused(excinfo) == [("lines", "REQUIRED")]
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CHECKOUT_CREATED", cart.id),
        *[("CHECKOUT_UPDATED", cart.id)] * 5,
    ]
