"""The shop's row as every request reads it, in the one statement that says who is calling."""

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, select

from app import models
from app.domain.shop.settings import PasswordLoginMode, PublicShop, Switches
from app.domain.values.unchanging import unchanging
from app.ports import NamedRow, Ports
from app.services.authorization.declarations import building_block

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ShopState:
    """The shop's settings that anyone can read, and what tells caches that they are old.

    ``second_factor_from`` is when staff need a second factor, ``None`` while it is optional.
    """

    shop: PublicShop
    keys_version: int
    providers_version: int
    switches: Switches
    second_factor_from: datetime | None


@unchanging
class Lookup(Generic[Found]):
    """What a statement of the hot path read: the shop, and what was looked for."""

    shop_state: ShopState
    found: Found


_SETTINGS = tuple(field.name for field in fields(PublicShop))
SHOP_STATE_COLUMNS = tuple(
    getattr(models.Shop, name).label(f"shop_{name}")
    for name in (*_SETTINGS, "keys_version", "providers_version", "second_factor_from")
)
"""What ``read_shop_state`` expects in a row."""

_SHOP: Select[*tuple[object, ...]] = select(*SHOP_STATE_COLUMNS).where(
    models.Shop.id == models.SHOP_ID
)
_values_in = attrgetter(*(column.name for column in SHOP_STATE_COLUMNS))


@building_block
def load_shop_state(ports: Ports) -> ShopState:
    """Return the shop alone: all there is to know about a caller without a credential."""
    return read_shop_state(ports.database.read(_SHOP, {})[0], ports.clock.now())


@building_block
def read_shop_state(row: NamedRow, now: datetime) -> ShopState:
    """Return the shop from a row that has ``SHOP_STATE_COLUMNS``, as a driver gives it.

    ``now`` decides whether the grace period of a required second factor is over.
    """
    *columns, second_factor_from = _values_in(row)
    required = is_second_factor_required(second_factor_from, now)
    return _state(required, second_factor_from, *columns)


@building_block
def is_second_factor_required(second_factor_from: object, now: datetime) -> bool:
    """Whether staff need a second factor at ``now``; the moment is as a driver gives it."""
    begins = moment(second_factor_from)
    return begins is not None and begins <= now


@building_block
def moment(value: object) -> datetime | None:
    """Return a moment in UTC as a driver gives it: aware, or SQLite's text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# The row is read by every request and changes now and then: the same row is the same state.
@lru_cache(maxsize=16)
def _state(
    second_factor_required: bool,  # noqa: FBT001 - a key
    second_factor_from: object,
    *columns: object,
) -> ShopState:
    *settings, keys_version, providers_version = columns
    values: dict[str, Any] = dict(zip(_SETTINGS, settings, strict=True))
    values["password_login_mode"] = PasswordLoginMode(values["password_login_mode"])
    values["allow_storefront_traffic"] = bool(values["allow_storefront_traffic"])
    shop = PublicShop(**values)
    return ShopState(
        shop,
        int(str(keys_version)),
        int(str(providers_version)),
        replace(shop.switches, second_factor_required=second_factor_required),
        moment(second_factor_from),
    )
