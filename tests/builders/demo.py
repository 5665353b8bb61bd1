"""Demo shops, filled."""

from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.ports import Ports
from app.services.demo.people import PEOPLE
from app.services.demo.shop import GOODS, SALES, SignIn, fill_shop

DEMO_ROWS = {
    models.User: len(PEOPLE),
    models.Product: len(GOODS),
    models.Checkout: len(SALES),
    models.Order: sum("order" in sale.steps for sale in SALES),
    models.App: 5,
    models.AppToken: 8,
    models.Webhook: 5,
    models.AppExtension: 3,
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
