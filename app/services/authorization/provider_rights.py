"""Find the user behind a provider's token that was seen before, in one statement."""

from datetime import datetime

from sqlalchemy import Select, and_, bindparam, select

from app.domain.authorization.actor import ProviderToken, SessionOrigin
from app.domain.authorization.permissions import ScopeGrant
from app.models import ExternalIdentityRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.process_cache import CachedProviderToken
from app.services.authorization.declarations import building_block
from app.services.authorization.session_rights import (
    USER_COLUMNS,
    LiveSession,
    permissions_while_waiting,
    read_user,
)
from app.services.authorization.shop_state import (
    SHOP_STATE_COLUMNS,
    Lookup,
    moment,
    read_shop_state,
)

_IDENTITY: Select[*tuple[object, ...]] = (
    select(
        *SHOP_STATE_COLUMNS,
        ExternalIdentityRecord.tokens_valid_after.label("signed_out_there"),
        UserRecord.tokens_valid_after.label("signed_out_here"),
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


@building_block
def find_provider_session(ports: Ports, seen: CachedProviderToken) -> Lookup[LiveSession | None]:
    """Return the active user of the token ``seen``, unless it was issued before they signed out.

    Signing out everywhere here and at the provider count alike. The identity's row must still have
    the token's issuer and subject: a restored backup can reuse its key.
    """
    token = ProviderToken(
        seen.identity_id,
        seen.issuer,
        seen.subject,
        seen.issued,
        seen.version,
        seen.waiting_changes,
    )
    return find_provider_session_again(ports, token, seen.grant, seen.amr)


@building_block
def find_provider_session_again(
    ports: Ports, token: ProviderToken, grant: ScopeGrant | None, amr: tuple[str, ...]
) -> Lookup[LiveSession | None]:
    """Find a user as ``find_provider_session`` does, by an actor's ``ProviderToken``.

    While settings of the provider wait for confirmation, users who hold more than those who
    changed them hold now aren't found, and no more is granted.
    """
    values = {
        "identity_id": token.identity_id,
        "issuer": token.issuer,
        "subject": token.subject,
    }
    row = ports.database.read(_IDENTITY, values)[0]
    state = read_shop_state(row, ports.clock.now())
    signed_out = row.signed_out_here, row.signed_out_there
    if row.user_id is None or is_signed_out(token.issued, *signed_out):
        return Lookup(state, None)
    user = read_user(row)
    if token.waiting_changes:
        held = permissions_while_waiting(ports, token.waiting_changes)
        if user.is_staff or not user.permissions <= held:
            return Lookup(state, None)
        grant = None if grant is None else ScopeGrant(grant.permissions & held)
    found = LiveSession(None, SessionOrigin.OIDC, user, grant, provider_token=token, amr=amr)
    return Lookup(state, found)


@building_block
def is_signed_out(issued: float, *signed_out: object) -> bool:
    """Whether a token ``issued`` then (Unix seconds) is older than one of the moments.

    Providers round down to seconds: a token of the same second counts as older.
    """
    ends = map(moment, signed_out)
    return any(isinstance(end, datetime) and issued <= end.timestamp() for end in ends)
