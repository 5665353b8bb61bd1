"""Turn a credential into an ``Actor``."""

from app.domain.accounts.users import User
from app.domain.apps.apps import is_app_token, last_four, token_digest
from app.domain.authorization.actor import Actor, ActorKind, AppClient, anonymous
from app.domain.shop.settings import PublicShop, Switches, rejects_password_sessions, traffic_kind
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason, SignInRefusal
from app.domain.sign_in.tokens import is_access, is_loopback_issuer
from app.domain.single_sign_on.provider_tokens import claimed_issuer
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.unchanging import unchanging
from app.ports import Ports
from app.ports.process_cache import CachedClientToken, CachedProviderToken
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import LiveSession, effective_user, shown_user
from app.services.authorization.shop_state import Lookup, ShopState, load_shop_state
from app.services.authorization.token_rights import (
    FoundApp,
    find_app,
    find_linked_app,
    find_provider_session,
)
from app.services.identity.imported_tokens import identify_foreign_token
from app.services.identity.own_tokens import digest_of_token, verify_own_token
from app.services.identity.provider_token_verification import (
    identify_provider_token,
    refuse_known_token,
)
from app.services.sign_in_log.recording import count_refusal


@unchanging
class Visitor:
    """What an HTTP edge knows about a caller before any lookup.

    ``issuer`` is the ``iss`` of this request's URL: the configured one, or in development the
    request's own scheme and host. ``address`` is the client's IP address, ``None`` if unknown.
    """

    credential: str | None = None
    address: str | None = None
    user_agent: str = ""
    issuer: str = ""


@unchanging
class Identity:
    """The caller, and the shop as it stood in the same read.

    ``user`` when it is a person, or a third party that may see their account; ``app_token_id``
    when it is an app, by which of its tokens.
    ``expires`` is when the credential ends (Unix seconds), ``None`` for one that doesn't end, and
    ``session`` names the session of one of Latchkey's tokens, as its claim ``token`` does.
    """

    actor: Actor
    shop: PublicShop
    user: User | None = None
    app_token_id: int | None = None
    expires: float | None = None
    session: str = ""

    @property
    def switches(self) -> Switches:
        return self.shop.switches


@building_block
def identify(ports: Ports, visitor: Visitor) -> Identity:
    """Identify the caller; a bad credential doesn't raise, its fault is in the actor.

    One statement when the token was seen before, and no write (``quality.md``, "Speed"). Raises
    ``TooManyRequests`` for what may be an imported app token and can't be compared right now.
    """
    credential = visitor.credential
    if credential is None:
        return Identity(_anonymous(visitor, None), load_shop_state(ports).shop)
    if is_app_token(credential):
        app = find_app(ports, token_digest(credential))
        return _app_identity(ports, visitor, credential, app)
    digest = digest_of_token(credential)
    seen = ports.cache.providers.tokens.get(digest)
    bearer = None if seen is None else _identity_of_known_token(ports, visitor, seen)
    if bearer is not None:
        return bearer
    foreign = identify_foreign_token(ports, credential, digest, visitor.address)
    if foreign is not None and foreign.is_of_app:
        return _app_identity(ports, visitor, credential, foreign.app)
    shop_state = None if foreign is None else foreign.app.shop_state
    try:
        verified = verify_own_token(ports, credential, visitor.issuer, digest)
        shop_state, claims = verified.shop_state, verified.claims
        # Other types of tokens aren't allowed in a header.
        found = Lookup(shop_state, verified.found if is_access(claims) else None)
        return identity_of_session(visitor, found, expires=claims.exp, session=claims.session)
    except TokenRejected as rejected:
        shop_state = shop_state or load_shop_state(ports)
        return _identify_by_provider(ports, visitor, digest, shop_state, rejected.fault)


@building_block
def identity_of_session(
    visitor: Visitor,
    found: Lookup[LiveSession | None],
    *,
    expires: float | None = None,
    session: str = "",
) -> Identity:
    """Return the identity that the live session ``found`` gives.

    Raises ``TokenRejected`` INVALID without a session, or if the login mode rejects it.
    """
    shop_state, live_session = found.shop_state, found.found
    mode = shop_state.switches.password_login_mode
    if live_session is None or rejects_password_sessions(mode, live_session.origin):
        raise TokenRejected(TokenFault.INVALID)
    user = effective_user(live_session, shop_state.switches)
    actor = session_actor(visitor, live_session, user)
    shown = shown_user(live_session.client, user)
    return Identity(actor, shop_state.shop, shown, expires=expires, session=session)


@building_block
def session_actor(visitor: Visitor, live_session: LiveSession, user: User) -> Actor:
    """Return the caller in a session of ``user``, who is as the login mode leaves them."""
    return Actor(
        ActorKind.USER,
        user_id=user.id,
        app_id=None if live_session.app is None else live_session.app.id,
        session_id=live_session.session_id,
        provider_token=live_session.provider_token,
        client=live_session.client,
        name=user.email,
        is_staff=user.is_staff,
        origin=live_session.origin,
        amr=live_session.amr,
        permissions=user.permissions,
        channel_ids=user.channel_ids,
        grant=live_session.grant,
        used=None if live_session.app is None else set(),
        address=visitor.address,
        user_agent=visitor.user_agent,
        issuer=visitor.issuer,
    )


def _identity_of_known_token(
    ports: Ports,
    visitor: Visitor,
    seen: CachedProviderToken | CachedClientToken,
    *,
    is_new: bool = False,
) -> Identity | None:
    """Identify the caller of a known provider token; ``None`` if it must be verified again.

    That is after a change of settings, when the token isn't valid at this time, or when its client
    may be linked anew, unless it was verified for this request (``is_new``).
    """
    if not seen.not_before <= ports.clock.timestamp() < seen.expires:
        return None
    if isinstance(seen, CachedClientToken):
        return _identity_of_known_client(ports, visitor, seen, is_new=is_new)
    session = find_provider_session(ports, seen)
    if session.shop_state.providers_version != seen.version:
        return None
    if session.found is None:
        fault = refuse_known_token(ports, _anonymous(visitor, None), seen)
        return Identity(_anonymous(visitor, fault), session.shop_state.shop)
    return identity_of_session(visitor, session, expires=seen.expires)


def _identity_of_known_client(
    ports: Ports, visitor: Visitor, seen: CachedClientToken, *, is_new: bool
) -> Identity | None:
    """Identify the app of a linked client; see ``_identity_of_known_token``."""
    app = find_linked_app(ports, seen.client)
    is_current = app.shop_state.providers_version == seen.version
    if not is_current or (app.found is None and not is_new):
        return None
    if app.found is None:
        fault = refuse_known_token(ports, _anonymous(visitor, None), seen)
        return Identity(_anonymous(visitor, fault), app.shop_state.shop)
    actor = _app_actor(visitor, app.found, seen.client)
    return Identity(actor, app.shop_state.shop, expires=seen.expires)


def _identify_by_provider(
    ports: Ports, visitor: Visitor, digest: bytes, shop_state: ShopState, fault: TokenFault
) -> Identity:
    """Identify the caller of a token that isn't Latchkey's: a provider's, or an invalid one."""
    token = visitor.credential or ""
    if not _is_own_issuer(ports, visitor, token):
        caller = _anonymous(visitor, None)
        try:
            version = shop_state.providers_version
            seen = identify_provider_token(ports, caller, token, digest, version)
        except TokenRejected as rejected:
            fault = rejected.fault
        else:
            bearer = None
            if seen is not None:
                bearer = _identity_of_known_token(ports, visitor, seen, is_new=True)
            if bearer is not None:
                return bearer
    return Identity(_anonymous(visitor, fault), shop_state.shop)


def _is_own_issuer(ports: Ports, visitor: Visitor, token: str) -> bool:
    issuer = claimed_issuer(token)
    if issuer is None or ports.configuration.issuer:
        return issuer == visitor.issuer
    return issuer == visitor.issuer or is_loopback_issuer(issuer)


def _app_identity(
    ports: Ports, visitor: Visitor, token: str, app: Lookup[FoundApp | None]
) -> Identity:
    shop, found = app.shop_state.shop, app.found
    if found is None:
        refusal = SignInRefusal(
            method=SignInMethod.APP_TOKEN,
            reason=SignInReason.TOKEN_INVALID,
            address=visitor.address or "",
            token_digest=token_digest(token),
            token_end=last_four(token),
        )
        count_refusal(ports, refusal, visitor.user_agent)
        return Identity(_anonymous(visitor, TokenFault.INVALID), shop)
    actor = _app_actor(visitor, found)
    return Identity(actor, shop, app_token_id=found.token_id, expires=found.expires)


@building_block
def record_use(ports: Ports, identity: Identity) -> None:
    """Record a request of this caller, in memory, so that no request waits for a write."""
    activity, actor = ports.activity, identity.actor
    activity.count_request(traffic_kind(actor))
    if actor.session_id is not None:
        activity.record_session_use(actor.session_id)
    elif identity.app_token_id is not None:
        activity.record_app_token_use(identity.app_token_id, actor.address)


@building_block
def record_permission_uses(ports: Ports, actor: Actor) -> None:
    """Record, in memory, what an app or its extension has needed in this request."""
    if actor.app_id is not None:
        for permission in actor.used or ():
            ports.activity.record_permission_use(actor.app_id, permission)


def _app_actor(visitor: Visitor, found: FoundApp, client: AppClient | None = None) -> Actor:
    return Actor(
        ActorKind.APP,
        app_id=found.app_id,
        app_token_id=found.token_id,
        app_client=client,
        name=found.name,
        permissions=found.granted,
        token_limit=found.limit,
        used=set(),
        address=visitor.address,
        user_agent=visitor.user_agent,
        issuer=visitor.issuer,
    )


def _anonymous(visitor: Visitor, fault: TokenFault | None) -> Actor:
    return anonymous(
        address=visitor.address, user_agent=visitor.user_agent, issuer=visitor.issuer, fault=fault
    )
