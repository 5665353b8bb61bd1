"""Who stands behind a provider's token that has been seen before: again one statement."""

from datetime import datetime

from sqlalchemy import Select, and_, bindparam, select

from app.domain.actor import SessionOrigin
from app.domain.users import User
from app.models import ExternalIdentityRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.provider_memory import SeenToken
from app.services.access import part
from app.services.callers import USER_COLUMNS, SessionFound, moment, read_user
from app.services.doors import DOOR_COLUMNS, Door, read_door

_IDENTITY: Select[*tuple[object, ...]] = (
    select(
        *DOOR_COLUMNS,
        ExternalIdentityRecord.tokens_valid_after,
        UserRecord.tokens_valid_after,
        *USER_COLUMNS,
    )
    .select_from(ShopRecord)
    .outerjoin(
        ExternalIdentityRecord,
        and_(
            ExternalIdentityRecord.id == bindparam("identity_id"),
            ExternalIdentityRecord.issuer == bindparam("issuer"),
            ExternalIdentityRecord.subject == bindparam("subject"),
        ),
    )
    .outerjoin(
        UserRecord,
        and_(UserRecord.id == ExternalIdentityRecord.user_id, UserRecord.is_active.is_(True)),
    )
    .where(ShopRecord.id == SHOP_ID)
)


@part
def find_bearer(ports: Ports, seen: SeenToken) -> tuple[Door, SessionFound | None]:
    """The active user whose token was ``seen``, unless it was issued before they signed out.

    Signing out everywhere here, and being signed out everywhere by the provider, count alike. The
    identity's row must still name the token's issuer and subject: a restored backup can give its
    key to somebody else.
    """
    values = {"identity_id": seen.identity_id, "issuer": seen.issuer, "subject": seen.subject}
    row = ports.database.read(_IDENTITY, values)[0]
    signed_out_there, signed_out_here, *columns = row[len(DOOR_COLUMNS) :]
    door = read_door(row)
    if columns[0] is None or is_ended(seen.issued, signed_out_here, signed_out_there):
        return door, None
    user: User = read_user(columns)
    return door, SessionFound(None, SessionOrigin.OIDC, user, seen.grant)


@part
def is_ended(issued: float, *signed_out: object) -> bool:
    """Whether a token that was ``issued`` then (Unix seconds) is older than one of the moments.

    Providers tell whole seconds, rounded down: a token of the same second counts as older.
    """
    moments = (moment(one) for one in signed_out)
    return any(isinstance(one, datetime) and issued <= one.timestamp() for one in moments)
