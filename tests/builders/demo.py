"""Demo shops, filled."""

from sqlalchemy import func, select

from app.domain.authorization.actor import OPERATOR, Actor
from app.models import (
    AppExtensionRecord,
    AppRecord,
    AppTokenRecord,
    CheckoutRecord,
    OrderRecord,
    ProductRecord,
    UserRecord,
    WebhookRecord,
)
from app.ports import Ports
from app.services.demo.people import PEOPLE
from app.services.demo.shop import GOODS, SALES, SignIn, fill_shop

DEMO_ROWS = {
    UserRecord: len(PEOPLE),
    ProductRecord: len(GOODS),
    CheckoutRecord: len(SALES),
    OrderRecord: sum("order" in sale.steps for sale in SALES),
    AppRecord: 5,
    AppTokenRecord: 8,
    WebhookRecord: 5,
    AppExtensionRecord: 3,
}
"""Count the rows of everything that is created once."""


def fill_demo(ports: Ports, actor: Actor = OPERATOR) -> list[SignIn]:
    """Fill a shop; return the sign-ins that were shown."""
    made: list[SignIn] = []
    fill_shop(ports, actor, made.extend)
    return made


def demo_rows(ports: Ports) -> dict[object, int]:
    """Count the rows of each kind in ``DEMO_ROWS``."""
    with ports.database.reading() as session:
        return {
            kind: session.scalar(select(func.count()).select_from(kind)) or 0 for kind in DEMO_ROWS
        }
