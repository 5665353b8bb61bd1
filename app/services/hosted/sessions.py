"""Sessions of the hosted pages: who is signed in there, and since when.

They are ordinary sessions, listed and ended with all others, but no client has tokens of them, and
the console's cookie can't name one.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import and_, bindparam, select

from app.domain.accounts.users import User
from app.domain.authorization.actor import PROOF_LASTS, Actor, SessionOrigin
from app.domain.shop.settings import PasswordLoginMode, rejects_password_sessions
from app.models import SessionRecord, ShopRecord
from app.models.record import UtcDateTime
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.register import building_block, input_decides, public
from app.services.authorization.session_rights import (
    IN_SESSION,
    effective_user,
    read_session,
    session_query,
    with_current_grant,
)
from app.services.authorization.shop_state import moment, read_shop_state
from app.services.identity.identify import Visitor, session_actor
from app.services.oauth.client_sessions import continue_sessions, end_grants_of_sign_in
from app.services.shop.settings import settings_of
from app.services.sign_in.sessions import OpenedSession, end_own_session

_HOSTED = session_query(
    and_(
        IN_SESSION,
        SessionRecord.is_hosted.is_(True),
        SessionRecord.expires_at > bindparam("now", type_=UtcDateTime),
    ),
    SessionRecord.authenticated_at.label("session_authenticated_at"),
    SessionRecord.created_at.label("session_created_at"),
)


@dataclass(frozen=True, slots=True)
class HostedShop:
    """The shop as the hosted pages show it, and which ways to sign in they offer.

    ``opens_at`` is when a closed storefront opens by itself, ``None`` if it doesn't say.
    """

    name: str
    is_on: bool
    is_open: bool
    opens_at: datetime | None
    offers_passwords: bool
    offers_codes: bool
    offers_passkeys: bool
    offers_providers: bool
    confirms_accounts: bool
    logo: str
    accent_color: str
    legal_line: str
    default_language: str


@dataclass(frozen=True, slots=True)
class HostedSession:
    """A session that has begun, as its cookie names it."""

    token: str = field(repr=False)
    user_id: int
    expires: datetime


@dataclass(frozen=True, slots=True)
class HostedPerson:
    """Who is signed in at the hosted pages.

    ``authenticated_at`` is when they last proved who they are, ``amr`` how, as far as it was more
    than a password (RFC 8176). ``origin`` is PASSWORD for every local credential (password, code,
    passkey) and OIDC for an identity provider's, which ``provider_id`` names then.
    """

    actor: Actor
    user: User
    session_id: int
    authenticated_at: datetime
    amr: tuple[str, ...]
    origin: SessionOrigin
    provider_id: int | None

    @property
    def language_code(self) -> str:
        return self.user.language_code


@public
def show_hosted_shop(ports: Ports, actor: Actor) -> HostedShop:
    """Return the shop for a page, and whether and how people can sign in there."""
    with ports.database.reading() as session:
        shop = settings_of(session.get_one(ShopRecord, SHOP_ID))
    mode = shop.password_login_mode
    has_local = mode is not PasswordLoginMode.DISABLED
    return HostedShop(
        name=shop.name,
        is_on=shop.hosted_pages,
        is_open=shop.allow_storefront_traffic,
        opens_at=shop.storefront_opens_at,
        offers_passwords=has_local and shop.hosted_password_login,
        offers_codes=has_local and shop.email_code_login,
        offers_passkeys=has_local and shop.hosted_passkey_login,
        offers_providers=shop.hosted_provider_login,
        confirms_accounts=shop.enable_account_confirmation_by_email,
        logo=shop.logo,
        accent_color=shop.accent_color,
        legal_line=shop.shown_legal_line,
        default_language=shop.default_language,
    )


@building_block
def find_hosted_person(
    ports: Ports, visitor: Visitor, token: str, user_id: int
) -> HostedPerson | None:
    """Return who is signed in by a cookie of the hosted pages; one statement.

    ``None`` for a session that ended, belongs to the console or to a client, or that the login
    mode rejects. The person's rights are those that count in the session right now.
    """
    row = ports.database.read(
        _HOSTED, {"session": token, "user_id": user_id, "now": ports.clock.now()}
    )[0]
    state = read_shop_state(row, ports.clock.now())
    live = with_current_grant(ports, read_session(row))
    if live is None or live.session_id is None:
        return None
    if rejects_password_sessions(state.switches.password_login_mode, live.origin):
        return None
    user = effective_user(live, state.switches)
    since = moment(row.session_authenticated_at) or moment(row.session_created_at)
    authenticated_at = since or ports.clock.now()
    actor = session_actor(visitor, live, user)
    is_old = ports.clock.now() - authenticated_at > PROOF_LASTS
    return HostedPerson(
        actor=replace(actor, proof_is_old=is_old),
        user=user,
        session_id=live.session_id,
        authenticated_at=authenticated_at,
        amr=live.amr,
        origin=live.origin,
        provider_id=live.provider_id,
    )


@building_block
def hosted_session(opened: OpenedSession, user_id: int) -> HostedSession:
    """Return what the cookie of a session that has just begun names."""
    return HostedSession(opened.token, user_id, datetime.fromtimestamp(opened.expires, UTC))


@input_decides
def sign_out_of_hosted_pages(ports: Ports, actor: Actor) -> None:
    """End the caller's session; every copy of its cookie stops working.

    Grants of clients that began in it end too, unless they have offline access.
    """
    if actor.session_id is not None:
        with ports.database.transaction() as session:
            end_grants_of_sign_in(session, actor.session_id)
        end_own_session(ports, actor, actor.session_id)


@input_decides
def replace_hosted_session(ports: Ports, actor: Actor, opened: HostedSession) -> None:
    """End the caller's session for the one that the same browser has just begun.

    Clients stay signed in if it is the same person's, and are told to sign out otherwise.
    """
    if actor.session_id is None or opened.user_id != actor.user_id:
        sign_out_of_hosted_pages(ports, actor)
        return
    with ports.database.transaction() as session:
        query = select(SessionRecord.id).where(
            SessionRecord.token == opened.token, SessionRecord.user_id == opened.user_id
        )
        continue_sessions(session, actor.session_id, session.scalars(query).one())
    end_own_session(ports, actor, actor.session_id)
