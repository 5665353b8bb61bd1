"""The setup checklist of a new shop: what is done, and dismissing it for everyone."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select, update

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import AppRecord, IdentityProviderRecord, ShopRecord, UserRecord, WebhookRecord
from app.models.shop import SHOP_ID
from app.ports import NamedRow, Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires


@dataclass(frozen=True, slots=True)
class Setup:
    """Which steps are done; ``sends_mail`` is false while mail is written to a file."""

    sends_mail: bool
    has_staff: bool
    has_sign_on: bool
    has_app: bool
    has_webhook: bool

    @property
    def is_done(self) -> bool:
        return all(
            (self.sends_mail, self.has_staff, self.has_sign_on, self.has_app, self.has_webhook)
        )


@part
def setup_columns() -> tuple[ColumnElement[Any], ...]:
    """Return the columns that ``read_setup`` reads."""
    staff = select(UserRecord.id).where(UserRecord.is_staff).limit(2).subquery()
    return (
        ShopRecord.setup_dismissed.label("setup_dismissed"),
        select(func.count()).select_from(staff).scalar_subquery().label("setup_staff"),
        exists().where(IdentityProviderRecord.active).label("setup_sign_on"),
        exists().where(AppRecord.id.is_not(None)).label("setup_app"),
        exists().where(WebhookRecord.id.is_not(None)).label("setup_webhook"),
    )


@part
def read_setup(ports: Ports, row: NamedRow) -> Setup | None:
    """Return the checklist in a row that has ``setup_columns``; ``None`` if dismissed."""
    if row.setup_dismissed:
        return None
    return Setup(
        sends_mail=ports.configuration.sends_mail,
        has_staff=row.setup_staff > 1,
        has_sign_on=row.setup_sign_on,
        has_app=row.setup_app,
        has_webhook=row.setup_webhook,
    )


@requires(Permission.MANAGE_SETTINGS)
def sends_mail(ports: Ports, actor: Actor) -> bool:
    """Whether mail is sent to its recipients, rather than written to a file."""
    return ports.configuration.sends_mail


@requires(Permission.MANAGE_SETTINGS)
def dismiss_setup(ports: Ports, actor: Actor) -> None:
    """Hide the setup checklist for everyone; safe to repeat."""
    dismissed = (
        update(ShopRecord)
        .where(ShopRecord.id == SHOP_ID, ~ShopRecord.setup_dismissed)
        .values(setup_dismissed=True)
        .returning(ShopRecord.name)
    )
    with ports.database.transaction() as session:
        name = session.scalar(dismissed)
        if name is not None:
            record(ports, actor, session, Change("shop.dismiss_setup", "Shop", SHOP_ID, name))
