"""Shop settings for tests, written without a permission."""

from sqlalchemy import update

from app import models
from app.domain.shop.settings import PasswordLoginMode, ShopSettings
from app.ports import Ports


def shop_settings(*, name: str = "Shop") -> ShopSettings:
    """Return the settings of a new shop."""
    return ShopSettings(
        name=name,
        description="",
        password_login_mode=PasswordLoginMode.ENABLED,
        allow_storefront_traffic=True,
    )


def set_mode(ports: Ports, mode: PasswordLoginMode) -> None:
    """Set the password login mode."""
    configure_shop(ports, password_login_mode=mode.value)


def close_storefront(ports: Ports) -> None:
    """Close the storefront."""
    configure_shop(ports, allow_storefront_traffic=False)


def configure_shop(ports: Ports, **settings: object) -> None:
    """Write ``settings`` into the shop's row, by column name."""
    with ports.database.transaction() as session:
        session.execute(update(models.Shop).values(**settings))
