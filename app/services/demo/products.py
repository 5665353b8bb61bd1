"""The demo shop's products."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from sqlalchemy import select

from app.domain.values.ids import to_global_id
from app.models import ProductRecord
from app.models.commerce import NO_PRICE
from app.services.authorization.register import part
from app.services.commerce.products import ProductInput, create_product, update_product
from app.services.demo.people import EDITOR, MANAGER, OPENED
from app.services.demo.timeline import Happening, Past


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


@part
def assortment() -> Iterator[Happening]:
    """Everything that is on sale, or not yet, is put in."""
    for place, goods in enumerate(GOODS):
        yield Happening(OPENED - 6 - place / 4, partial(_add, goods))


@part
def new_prices() -> Iterator[Happening]:
    """Some of it becomes dearer, or cheaper."""
    for hours_ago, slug, price in _NEW_PRICES:
        yield Happening(hours_ago, partial(_set_price, slug, price))


@part
def goods_on_sale(past: Past) -> Mapping[str, int]:
    """The keys of what can be bought, by slug."""
    return {
        slug: key
        for slug, (key, price, is_published) in _known(past).items()
        if is_published and price != NO_PRICE
    }


def _add(goods: _Goods, past: Past) -> None:
    if goods.slug in _known(past):
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
    found = _known(past).get(slug)
    if found is None:
        return
    hours_ago = next(hours for hours, product_slug, _ in _NEW_PRICES if product_slug == slug)
    update_product(
        past.at(hours_ago),
        past.staff(MANAGER),
        to_global_id("Product", found[0]),
        ProductInput(price=Decimal(price)),
    )


def _known(past: Past) -> Mapping[str, tuple[int, int, bool]]:
    """Return key, price and publication of existing products, by slug."""
    query = select(
        ProductRecord.slug, ProductRecord.id, ProductRecord.price, ProductRecord.is_published
    ).where(ProductRecord.slug.in_([goods.slug for goods in GOODS]))
    with past.ports.database.reading() as session:
        return {
            slug: (key, price, is_published)
            for slug, key, price, is_published in session.execute(query)
        }
