"""The shop's row as every request reads it, in the one statement that says who is calling."""

from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, select

from app.domain.shop.settings import PasswordLoginMode, PublicShop, Switches
from app.models import ShopRecord
from app.models.shop import SHOP_ID
from app.ports import NamedRow, Ports
from app.services.authorization.declarations import part

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ShopState:
    """The shop's settings that anyone can read, and what tells caches that they are old."""

    shop: PublicShop
    keys_version: int
    providers_version: int

    @property
    def switches(self) -> Switches:
        return self.shop.switches


@dataclass(frozen=True, slots=True)
class Lookup(Generic[Found]):
    """What a statement of the hot path read: the shop, and what was looked for."""

    shop_state: ShopState
    found: Found


_SETTINGS = tuple(field.name for field in fields(PublicShop))
SHOP_STATE_COLUMNS = tuple(
    getattr(ShopRecord, name).label(f"shop_{name}")
    for name in (*_SETTINGS, "keys_version", "providers_version")
)
"""What ``read_shop_state`` expects in a row."""

_SHOP: Select[*tuple[object, ...]] = select(*SHOP_STATE_COLUMNS).where(ShopRecord.id == SHOP_ID)
_values_in = attrgetter(*(column.name for column in SHOP_STATE_COLUMNS))


@part
def load_shop_state(ports: Ports) -> ShopState:
    """Return the shop alone: all there is to know about a caller without a credential."""
    return read_shop_state(ports.database.read(_SHOP, {})[0])


@part
def read_shop_state(row: NamedRow) -> ShopState:
    """Return the shop from a row that has ``SHOP_STATE_COLUMNS``, as a driver gives it."""
    return _state(*_values_in(row))


# The row is read by every request and changes now and then: the same row is the same state.
@lru_cache(maxsize=16)
def _state(*columns: object) -> ShopState:
    *settings, keys_version, providers_version = columns
    values: dict[str, Any] = dict(zip(_SETTINGS, settings, strict=True))
    values["password_login_mode"] = PasswordLoginMode(values["password_login_mode"])
    values["allow_storefront_traffic"] = bool(values["allow_storefront_traffic"])
    return ShopState(PublicShop(**values), int(str(keys_version)), int(str(providers_version)))
