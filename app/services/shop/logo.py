"""The shop's logo, which its emails show."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.design import LOGO_NAME_LENGTH, MAX_HEIGHT, MAX_LOGO_SIZE, MAX_WIDTH, Logo
from app.domain.shop.settings import ShopSettings
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import Upload
from app.models import LogoRecord, ShopRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.database import SHOP
from app.ports.images import InvalidImage
from app.services.audit.log import Change, record
from app.services.authorization.register import part, public, requires
from app.services.shop.settings import settings_of


@requires(Permission.MANAGE_SETTINGS)
def update_logo(ports: Ports, actor: Actor, image: Upload) -> ShopSettings:
    """Replace the logo (`shopLogoUpdate`).

    The image is scaled down where needed and encoded anew from its pixels. Refuses
    FILE_SIZE_LIMIT_EXCEEDED on ``image``, and INVALID for a file that is not an image or has too
    many pixels.
    """
    if len(image.data) > MAX_LOGO_SIZE:
        raise Refused(
            Problem(
                "FILE_SIZE_LIMIT_EXCEEDED",
                "Use a file of at most {max_file_size} MiB.",
                "image",
                values={"max_file_size": MAX_LOGO_SIZE // (1024 * 1024)},
            )
        )
    try:
        drawn = ports.images.fit(image.data, MAX_WIDTH, MAX_HEIGHT)
    except InvalidImage as reason:
        raise Refused(reason.problem) from None
    name = ports.randomness.token(LOGO_NAME_LENGTH)
    logo = LogoRecord(name=name, width=drawn.width, height=drawn.height, data=drawn.data)
    return _replace(ports, actor, logo)


@requires(Permission.MANAGE_SETTINGS)
def delete_logo(ports: Ports, actor: Actor) -> ShopSettings:
    """Show the shop's name instead of a logo (`shopLogoDelete`); none is no problem."""
    return _replace(ports, actor, None)


@public
def show_logo(ports: Ports, actor: Actor, name: str) -> bytes | None:
    """Return the logo of that name as PNG; ``None`` if it doesn't exist."""
    with ports.database.reading() as session:
        return session.scalar(select(LogoRecord.data).where(LogoRecord.name == name))


@part
def read_logo(session: Session, name: str) -> Logo | None:
    """Return the logo ``name``, ``None`` for "" or one that was replaced meanwhile."""
    if not name:
        return None
    columns = (LogoRecord.name, LogoRecord.width, LogoRecord.height, LogoRecord.data)
    row = session.execute(select(*columns).where(LogoRecord.name == name)).one_or_none()
    return None if row is None else Logo(*row)


def _replace(ports: Ports, actor: Actor, logo: LogoRecord | None) -> ShopSettings:
    with ports.database.transaction(SHOP) as session:
        shop = session.get_one(ShopRecord, SHOP_ID, with_for_update=True)
        before, shop.logo = bool(shop.logo), "" if logo is None else logo.name
        session.execute(delete(LogoRecord))
        if logo is not None:
            session.add(logo)
        if before or logo is not None:
            after = {"logo": logo is not None}
            change = Change("shop.logo", "Shop", SHOP_ID, shop.name, {"logo": before}, after)
            record(ports, actor, session, change)
        return settings_of(shop)
