"""The shop's row as every request reads it, in the one statement that says who is calling."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Select, select

from app.domain.shop.settings import PasswordLoginMode, PublicShop, Switches
from app.models import ShopRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.declarations import part


@dataclass(frozen=True, slots=True)
class ShopState:
    """The shop's row as a request finds it."""

    switches: Switches
    keys_version: int
    providers_version: int
    shop: PublicShop


SHOP_STATE_COLUMNS = (
    ShopRecord.password_login_mode,
    ShopRecord.allow_storefront_traffic,
    ShopRecord.keys_version,
    ShopRecord.providers_version,
    ShopRecord.name,
    ShopRecord.description,
)
"""What ``read_shop_state`` expects at the beginning of a row."""

_ANYONE: Select[*tuple[object, ...]] = select(*SHOP_STATE_COLUMNS).where(ShopRecord.id == SHOP_ID)


@part
def load_shop_state(ports: Ports) -> ShopState:
    """The switches alone: all there is to know about a caller without a credential."""
    return read_shop_state(ports.database.read(_ANYONE, {})[0])


@part
def read_shop_state(row: Sequence[object]) -> ShopState:
    """Read the shop's state from a row that begins with ``SHOP_STATE_COLUMNS``."""
    return _shop_state(*row[: len(SHOP_STATE_COLUMNS)])


@lru_cache(maxsize=16)
def _shop_state(
    mode: object,
    traffic: object,
    keys_version: object,
    providers_version: object,
    name: object,
    description: object,
) -> ShopState:
    # The row is read by every request and changes now and then: the same row is the same door.
    shop = PublicShop(
        name=str(name),
        description=str(description),
        password_login_mode=PasswordLoginMode(str(mode)),
        allow_storefront_traffic=bool(traffic),
    )
    return ShopState(shop.switches, int(str(keys_version)), int(str(providers_version)), shop)
