"""Anybody looks at what is published; those who manage products see the rest."""

from datetime import datetime
from decimal import Decimal
from itertools import product

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.products import ProductSortField
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest, Range, moment_range, read_cursor
from app.ports import Ports
from app.services.commerce.products import ALL_PRODUCTS, ProductFilter, list_products, show_product
from tests.builders.products import make_product, product_id
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

PRODUCTS = frozenset({Permission.MANAGE_PRODUCTS})
EVERYTHING = PageRequest(100)
SEES_ALL = {
    "customer": (Actor(ActorKind.USER, user_id=2), False),
    "nobody": (anonymous(), False),
    "staff without": (
        Actor(ActorKind.USER, user_id=3, is_staff=True, permissions=ALL_PERMISSIONS - PRODUCTS),
        False,
    ),
    "staff with": (Actor(ActorKind.USER, user_id=3, is_staff=True, permissions=PRODUCTS), True),
    "app without": (Actor(ActorKind.APP, app_id=1), False),
    "app with": (Actor(ActorKind.APP, app_id=1, permissions=PRODUCTS), True),
}


def names(
    ports: Ports, filter_: ProductFilter = ALL_PRODUCTS, actor: Actor = OPERATOR
) -> list[str]:
    return [product.name for product in list_products(ports, actor, EVERYTHING, filter_).items]


def test_unpublished_products_are_visible_to_product_managers(ports: Ports) -> None:
    make_product(ports, "Bowl")
    hidden = make_product(ports, "Secret", is_published=False)
    filter_ = ProductFilter(is_published=False, ids=(product_id(hidden),), slugs=("secret",))
    for who, (actor, sees_all) in SEES_ALL.items():
        assert names(ports, actor=actor) == (["Bowl", "Secret"] if sees_all else ["Bowl"]), who
        page = list_products(ports, actor, EVERYTHING)
        assert page.count() == len(page.items), who
        for found in (
            show_product(ports, actor, product_id=product_id(hidden)),
            show_product(ports, actor, slug="secret"),
        ):
            assert (found is not None) is sees_all, who
        assert names(ports, filter_, actor) == (["Secret"] if sees_all else []), who


def test_product_is_found_by_its_id_or_by_its_slug(ports: Ports) -> None:
    key = make_product(ports, "Bowl")
    by_id = show_product(ports, anonymous(), product_id=product_id(key))
    assert by_id is not None
    assert by_id == show_product(ports, anonymous(), slug="bowl")
    assert show_product(ports, anonymous(), product_id=product_id(4711)) is None
    for slug in ("", "BOWL", "bowl\0", "\ud800", "b" * 100_000):
        assert show_product(ports, anonymous(), slug=slug) is None


@cases(
    ("id_", "slug", "code"),
    [
        (None, None, "GRAPHQL_ERROR"),
        (product_id(1), "bowl", "GRAPHQL_ERROR"),
        (to_global_id("User", 1), None, "NOT_FOUND"),
        ("nonsense", None, "NOT_FOUND"),
    ],
)
def test_filter_without_products_is_refused(
    ports: Ports, id_: str | None, slug: str | None, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        show_product(ports, anonymous(), product_id=id_, slug=slug)
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [("id", code)]


def test_search_matches_part_of_the_name(ports: Ports) -> None:
    for name in ("Ash Bowl", "Crème Cup", "100% a_c"):
        make_product(ports, name)

    @cases(
        ("search", "found"),
        [
            ("", ["Ash Bowl", "Crème Cup", "100% a_c"]),
            ("bowl", ["Ash Bowl"]),
            ("h B", ["Ash Bowl"]),
            ("CREME", ["Crème Cup"]),
            ("è", ["Crème Cup"]),
            ("%", ["100% a_c"]),
            ("a_", ["100% a_c"]),
            ("\\", []),
            ("nothing", []),
            ("\0", []),
            ("\ud800", []),
            ("%" * 100_000, []),
        ],
    )
    def check(search: str, found: list[str]) -> None:
        assert names(ports, ProductFilter(search=search)) == found

    check()


def test_price_range_excludes_products_without_price(ports: Ports) -> None:
    for name, cost in (("Draft", None), ("Gift", "0"), ("Cup", "5"), ("Bowl", "12.50")):
        make_product(ports, name, cost)

    @cases(
        ("lowest", "highest", "found"),
        [
            (None, None, ["Gift", "Cup", "Bowl"]),
            ("0.01", None, ["Cup", "Bowl"]),
            ("5", "5", ["Cup"]),
            ("4.999", "5.001", ["Cup"]),
            ("5.001", None, ["Bowl"]),
            (None, "-1", []),
            ("-1", None, ["Gift", "Cup", "Bowl"]),
            ("1E+300", None, []),
            (None, "Infinity", ["Gift", "Cup", "Bowl"]),
        ],
    )
    def check(lowest: str | None, highest: str | None, found: list[str]) -> None:
        prices = Range(*(None if end is None else Decimal(end) for end in (lowest, highest)))
        assert names(ports, ProductFilter(price=prices)) == found

    check()


def test_products_are_filtered_by_change_time(ports: Ports, clock: FakeClock) -> None:
    make_product(ports, "Bowl")
    early = clock.now()
    clock.pass_(seconds=60)
    make_product(ports, "Cup")
    changed_at = clock.now()
    for span, found in (
        (moment_range(None, early), ["Bowl"]),
        (moment_range(changed_at, None), ["Cup"]),
        (moment_range(early, changed_at), ["Bowl", "Cup"]),
        (moment_range(changed_at, early), []),
        (moment_range(datetime.min, datetime.max), ["Bowl", "Cup"]),  # noqa: DTZ901 - as sent
    ):
        assert names(ports, ProductFilter(updated_at=span)) == found


def test_products_are_filtered_by_ids_and_slugs(ports: Ports) -> None:
    keys = [make_product(ports, name) for name in ("Bowl", "Cup", "Jug")]
    assert names(ports, ProductFilter(ids=())) == []
    assert names(ports, ProductFilter(ids=(product_id(keys[2]), product_id(4711)))) == ["Jug"]
    assert names(ports, ProductFilter(slugs=("cup", "cup", "nothing"))) == ["Cup"]
    assert names(ports, ProductFilter(slugs=("cup", "\0"))) == ["Cup"]


@cases(
    ("filter_", "field", "code"),
    [
        (ProductFilter(ids=("nonsense",)), "ids", "NOT_FOUND"),
        (ProductFilter(ids=(to_global_id("User", 1),)), "ids", "NOT_FOUND"),
        (ProductFilter(ids=(product_id(1),) * 1001), "ids", "GRAPHQL_ERROR"),
        (ProductFilter(slugs=("cup",) * 40_000), "slugs", "GRAPHQL_ERROR"),
    ],
)
def test_invalid_filter_is_refused(
    ports: Ports, filter_: ProductFilter, field: str, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        names(ports, filter_)
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [(field, code)]


@pytest.mark.both_databases
def test_pages_go_through_the_whole_list_in_its_order(ports: Ports, clock: FakeClock) -> None:
    for name, cost in (("Cup", "9"), ("Ash", "5"), ("Draft", None), ("Bowl", "5")):
        make_product(ports, name, cost)
        clock.pass_(seconds=1)
    orders = {
        None: "Cup Ash Draft Bowl",
        ProductSortField.NAME: "Ash Bowl Cup Draft",
        ProductSortField.PRICE: "Draft Ash Bowl Cup",
        ProductSortField.CREATED_AT: "Cup Ash Draft Bowl",
        ProductSortField.LAST_MODIFIED_AT: "Cup Ash Draft Bowl",
    }
    for (sort_by, order), descending in product(orders.items(), (False, True)):
        found: list[str] = []
        cursor: tuple[str | int, ...] = ()
        while True:
            request = PageRequest(1, cursor=cursor)
            page = list_products(ports, OPERATOR, request, sort_by=sort_by, descending=descending)
            found += [item.name for item in page.items]
            if not page.has_next:
                break
            cursor = read_cursor(page.cursors[-1], "after")
        assert found == (order.split()[::-1] if descending else order.split()), sort_by


@pytest.mark.both_databases
def test_page_costs_one_statement_for_any_list_length(ports: Ports) -> None:
    for number in range(25):
        make_product(ports, f"Bowl {number}")
    list_products(ports, OPERATOR, PageRequest(20))
    with recorded_statements() as statements:
        page = list_products(ports, OPERATOR, PageRequest(20))
    assert (len(page.items), page.has_next) == (20, True)
    assert len(selects(statements)) == 1
