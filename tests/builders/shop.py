"""The shop's settings as a test wants them, whoever may set them otherwise."""

from sqlalchemy import update

from app.domain.shop.settings import PasswordLoginMode
from app.models import ShopRecord
from app.ports import Ports


def set_mode(ports: Ports, mode: PasswordLoginMode) -> None:
    """Set the password login mode."""
    configure_shop(ports, password_login_mode=mode.value)


def close_storefront(ports: Ports) -> None:
    """Switch storefront traffic off."""
    configure_shop(ports, allow_storefront_traffic=False)


def configure_shop(ports: Ports, **settings: object) -> None:
    """Write ``settings`` into the shop's row, by the names of its columns."""
    with ports.database.transaction() as session:
        session.execute(update(ShopRecord).values(**settings))
