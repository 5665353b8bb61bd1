"""Sessions that began at a provider: verified, refreshed there and here, and ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, update

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ScopeGrant, write_grant
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason
from app.domain.sign_in.tokens import Claims, TokenType, is_access, successor_of
from app.domain.single_sign_on.provider_tokens import (
    LogoutToken,
    ProviderTokenRejected,
    read_logout_token,
    reason_of,
)
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import waits_for
from app.domain.urls.redirects import (
    fold_parameter,
    may_redirect_to_other_host,
    redirect_parameters,
    with_query,
)
from app.domain.values.errors import Problem, Refused, TokenRejected, refuse_any
from app.domain.values.text import Sentence
from app.domain.values.text_rules import has_control_characters
from app.ports import Ports
from app.ports.database import account
from app.ports.http import CallFailed
from app.ports.identity_provider import Client, GrantRefused, TokenResponse
from app.ports.process_cache import CallPurpose
from app.services.accounts.email_links import client_url_problem
from app.services.audit.log import Change, record
from app.services.authorization.register import input_decides, public
from app.services.authorization.session_rights import LiveSession
from app.services.identity.own_tokens import VerifiedSession, owner_of
from app.services.identity.provider_assertions import WAITS
from app.services.identity.provider_calls import verify_with
from app.services.identity.providers import provider_of
from app.services.sign_in import tokens
from app.services.sign_in.reauthentication import end_current_session
from app.services.sign_in.sessions import OpenedSession, load_refresh_token, store_refresh_token
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in
from app.services.single_sign_on.sign_in import (
    ask_for_tokens,
    read_identity,
    read_rights,
    unavailable,
)

_MAX_QUERY_LENGTH = 16 * 1024
"""Characters; providers take ID tokens in the URL, and servers no URL that is much longer."""

_CLOCKS = timedelta(seconds=5)
"""By how much a provider's clock can be behind; it tells whole seconds, rounded down."""


@public
def verify_external_token(
    ports: Ports, actor: Actor, *, plugin_id: str | None, token: str | None
) -> tokens.Verified | None:
    """Verify an access token whose session began at a provider (`externalVerify`).

    ``None`` when it is not, whatever the reason, and for a plugin that is unknown or inactive.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None or not token:
        return None
    try:
        verified = tokens.verify_argument_token(ports, actor, token, "token")
    except Refused:
        return None
    found = verified.found
    if found is None or found.provider_id != provider.id or not is_access(verified.claims):
        return None
    return tokens.verified_as(found, verified.shop_state.switches, verified.claims)


@input_decides
def log_out_external(
    ports: Ports, actor: Actor, *, plugin_id: str | None, values: Mapping[str, str]
) -> str | None:
    """Where to send the user to be signed out there, too (`externalLogout`); ends our session.

    ``values`` go into the query of the provider's logout address. ``None`` for a plugin that is
    unknown, inactive or has no such address; the caller's own session ends all the same, unless
    the caller is an extension. Refuses INVALID on each value that the provider can redirect to
    (``redirect_parameters``) and that doesn't lead to one of ``ALLOWED_CLIENT_HOSTS``, and for
    ``values`` that are too long for a URL.
    """
    if sum(len(name) + len(value) for name, value in values.items()) > _MAX_QUERY_LENGTH:
        message = "The input must not be longer than {max_query_length} characters."
        raise Refused(
            Problem("INVALID", message, "input", values={"max_query_length": _MAX_QUERY_LENGTH})
        )
    provider = provider_of(ports, plugin_id)
    redirecting = redirect_parameters("" if provider is None else provider.oauth_logout_url)
    problems = [
        _value_problem(ports, name, value, redirects=fold_parameter(name) in redirecting)
        for name, value in values.items()
    ]
    refuse_any(*problems)
    if actor.is_account_owner:
        end_current_session(ports, actor)
    if provider is None or not provider.oauth_logout_url:
        return None
    return with_query(provider.oauth_logout_url, **values)


@input_decides
def end_sessions_by_provider(
    ports: Ports, actor: Actor, *, plugin_id: str, token: str
) -> int | None:
    """End the sessions that a logout token names (Back-Channel Logout 1.0); return how many.

    One session by ``sid``, or all of the subject, with the provider's own tokens issued until
    then. Sessions that began after the logout token was issued stay: it may come late, or twice.
    ``None`` for an unknown or inactive plugin. Raises ``TokenRejected`` for an invalid logout
    token, and ``CallFailed`` when the provider's keys can't be fetched.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None or not provider.json_web_key_set_url:
        return None
    now = ports.clock.timestamp()
    logout = read_logout_token(verify_with(ports, provider, token), provider, now=now)
    return _end_at(ports, actor, provider, logout)


def _value_problem(ports: Ports, name: str, value: str, *, redirects: bool) -> Problem | None:
    """Return why ``value`` can't be copied into the logout URL, or ``None``.

    ``redirects`` is whether the provider can redirect to the parameter ``name``.
    """
    if has_control_characters(name + value):
        return Problem("INVALID", "The input contains control characters.")
    if not redirects or not may_redirect_to_other_host(value):
        return None
    return client_url_problem(ports, value, name)


def _end_at(ports: Ports, actor: Actor, provider: Provider, logout: LogoutToken) -> int:
    """End the sessions that ``logout`` means."""
    moment = datetime.fromtimestamp(logout.issued, UTC)
    begun_before = moment + _CLOCKS
    identities = select(models.ExternalIdentity.id).where(
        models.ExternalIdentity.issuer.in_(provider.issuers_here(logout.issuer))
    )
    if waits_for(provider, "issuer", "client_id", "json_web_key_set_url", "active"):
        # Who changed them could sign out anyone else.
        identities = identities.where(models.ExternalIdentity.waiting_mark == provider.link_mark)
    if logout.subject:
        identities = identities.where(models.ExternalIdentity.subject == logout.subject)
    going = delete(models.Session).where(
        models.Session.identity_id.in_(identities),
        models.Session.provider_id == provider.id,
        models.Session.created_at <= begun_before,
    )
    if logout.sid:
        going = going.where(models.Session.sid == logout.sid)
    with ports.database.transaction() as session:
        ended = session.execute(going.returning(models.Session.user_id)).scalars().all()
        if not logout.sid:
            session.execute(
                update(models.ExternalIdentity)
                .where(models.ExternalIdentity.id.in_(identities))
                .values(tokens_valid_after=moment)
            )
        reason = "The identity provider ended the session."
        after = {"reason": reason, "provider": provider.name}
        for user_id in sorted(set(ended)):
            record(ports, actor, session, Change("session.end", "User", user_id, after=after))
    return len(ended)


_TURN = timedelta(seconds=30)
"""How long a refresh may take before another may begin: longer than any call."""

_FIELD = "refreshToken"
_OVER = "invalid_grant"
"""RFC 6749, 5.2: the grant has expired, was revoked, or was used twice."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """The right to refresh a session, and what that needs."""

    refresh_token: str = field(repr=False)
    issuer: str
    subject: str


@input_decides
def refresh_external_session(
    ports: Ports, actor: Actor, *, plugin_id: str | None, token: str | None
) -> tokens.TokenPair | None:
    """Return new tokens once the provider has refreshed its own (`externalRefresh`).

    The answer's refresh token is the next one; the one before stays usable, unless
    ``SINGLE_USE_REFRESH_TOKENS`` is on. No more scope is asked for than was granted. ``None`` for
    a plugin that is unknown or inactive.

    Refuses on ``refreshToken``: JWT_MISSING_TOKEN, JWT_SIGNATURE_EXPIRED, JWT_DECODE_ERROR,
    JWT_INVALID_TOKEN (no refresh token, or of a session that did not begin at this provider, or of
    one that the provider has ended: it ends here, too); on no field JWT_INVALID_TOKEN for a
    session that has ended, and INVALID when the provider does not answer, or its settings wait for
    confirmation, which ends nothing.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None:
        return None
    entry = SignInEntry(
        SignInMethod.REFRESH, provider=provider.name, reason=SignInReason.SSO_REFUSED
    )
    with logged_sign_in(ports, actor, entry):
        try:
            return _refresh_session(ports, actor, provider, token)
        except Refused:
            entry.user_id = owner_of(ports, token)
            raise


def _refresh_session(
    ports: Ports, actor: Actor, provider: Provider, token: str | None
) -> tokens.TokenPair:
    if not token:
        raise Refused(Problem("JWT_MISSING_TOKEN", "A refresh token is needed.", _FIELD))
    verified = tokens.verify_argument_token(ports, actor, token, _FIELD)
    claims, live_session = verified.claims, verified.found
    if claims.type != TokenType.REFRESH:
        raise Refused(_invalid("This is no refresh token."))
    if live_session is None:
        raise Refused(tokens.SESSION_ENDED)
    if live_session.provider_id != provider.id or not provider.enable_refresh_token:
        raise Refused(_invalid("This session can't be refreshed with this provider."))
    turn = _take_turn(ports, actor, provider, claims, live_session.user.email)
    if turn is None:
        return _follow(ports, actor, token, verified, live_session)
    return _refresh(ports, actor, provider, verified, live_session, turn)


def _follow(
    ports: Ports, actor: Actor, token: str, verified: VerifiedSession, live_session: LiveSession
) -> tokens.TokenPair:
    """Another tab is at it, or has just been: this one goes on with the session as it is."""
    claims = verified.claims
    going_on = tokens.continued_session(
        ports, claims, live_session, successor_of(claims.csrf_token)
    )
    pair = tokens.sign_pair(
        ports, actor, going_on, live_session.user, verified.shop_state.switches
    )
    follows = ports.configuration.single_use_refresh_tokens
    return pair if follows else replace(pair, refresh=token)


def _refresh(
    ports: Ports,
    actor: Actor,
    provider: Provider,
    verified: VerifiedSession,
    live_session: LiveSession,
    turn: _Turn,
) -> tokens.TokenPair:
    claims = verified.claims
    before = live_session.grant or ScopeGrant()

    def refresh(client: Client) -> TokenResponse:
        return ports.identity_provider.refresh(client, turn.refresh_token)

    try:
        answer = ask_for_tokens(ports, provider, CallPurpose.VERIFIED, refresh)
        _require_same_person(ports, provider, answer, turn)
        granted = read_rights(ports, provider, answer, unsaid=before)
    except (GrantRefused, TokenRejected) as refused:
        if isinstance(refused, GrantRefused) and refused.error != _OVER:
            _give_up(ports, claims)
            raise Refused(
                Problem("INVALID", "{refused}.", values={"refused": refused})
            ) from refused
        reason = str(refused) if isinstance(refused, GrantRefused) else reason_of(refused)
        _end(ports, actor, claims, live_session.user.email, reason)
        raise Refused(_invalid(reason)) from refused
    except (CallFailed, Refused) as failed:
        _give_up(ports, claims)
        raise unavailable(failed) if isinstance(failed, CallFailed) else failed from failed
    grant = None if granted is None else granted.within(before)
    going_on = _keep(ports, claims, live_session, answer.refresh_token, grant)
    return tokens.sign_pair(
        ports, actor, going_on, live_session.user, verified.shop_state.switches
    )


def _invalid(message: Sentence) -> Problem:
    return Problem("JWT_INVALID_TOKEN", message, _FIELD)


def _take_turn(
    ports: Ports, actor: Actor, provider: Provider, claims: Claims, email: str
) -> _Turn | None:
    """Take the turn to refresh; ``None`` while another request has it or just had it.

    Providers that rotate tokens treat two concurrent uses as theft. While the provider's settings
    wait for confirmation, the refresh tokens of confirmed sessions don't go there.
    """
    now = ports.shared_clock.now()
    with ports.database.transaction(account(claims.named_user)) as session:
        row = session.execute(
            select(models.Session, models.ExternalIdentity)
            .join(
                models.ExternalIdentity, models.ExternalIdentity.id == models.Session.identity_id
            )
            .where(
                models.Session.token == claims.session, models.Session.user_id == claims.user_id
            )
            .with_for_update(of=models.Session)
        ).one_or_none()
        if row is None:
            raise Refused(tokens.SESSION_ENDED)
        stored, identity = row
        if provider.waits and identity.waiting_mark != provider.link_mark:
            raise Refused(WAITS)
        used = ports.configuration.single_use_refresh_tokens and not tokens.is_current(
            stored, claims
        )
        if used and tokens.was_just_used(ports, stored, claims):
            return None
        if not used:
            until = stored.refreshing_until
            # No turn ends later than twice its length: the clock has been put back since.
            if until is not None and now < until <= now + 2 * _TURN:
                return None
            refresh_token = load_refresh_token(ports, stored)
            if not refresh_token:
                raise Refused(
                    _invalid("The provider didn't issue a refresh token for this session.")
                )
            stored.refreshing_until = now + _TURN
            return _Turn(refresh_token, identity.issuer, identity.subject)
    tokens.use_up(ports, actor, claims, email)
    raise Refused(tokens.SESSION_ENDED)


def _require_same_person(
    ports: Ports, provider: Provider, answer: TokenResponse, turn: _Turn
) -> None:
    """OpenID Connect Core, 12.2: a refresh may bring an ID token, of the same person."""
    if not answer.id_token:
        return
    identity = read_identity(ports, provider, answer, nonce=None)
    if (provider.issuer_here(identity.issuer), identity.subject) != (turn.issuer, turn.subject):
        raise ProviderTokenRejected("The provider's response is about another person.")


def _give_up(ports: Ports, claims: Claims) -> None:
    with ports.database.transaction(account(claims.named_user)) as session:
        session.execute(
            update(models.Session)
            .where(models.Session.token == claims.session)
            .values(refreshing_until=None)
        )


def _end(ports: Ports, actor: Actor, claims: Claims, email: str, reason: str) -> None:
    query = select(models.Session).where(models.Session.token == claims.session)
    after = {"reason": reason}
    with ports.database.transaction(account(claims.named_user)) as session:
        stored = session.scalar(query)
        if stored is not None:
            session.delete(stored)
            change = Change("session.end", "User", stored.user_id, email, after=after)
            record(ports, actor, session, change)


def _keep(
    ports: Ports,
    claims: Claims,
    live_session: LiveSession,
    refresh_token: str,
    grant: ScopeGrant | None,
) -> OpenedSession:
    with ports.database.transaction(account(claims.named_user)) as session:
        stored = session.scalar(
            select(models.Session).where(models.Session.token == claims.session).with_for_update()
        )
        if stored is None:
            raise Refused(tokens.SESSION_ENDED)
        store_refresh_token(ports, stored, refresh_token)
        stored.refreshing_until = None
        stored.scope = write_grant(grant)
        successor = tokens.replace_token(ports, stored, claims)
    return tokens.continued_session(ports, claims, replace(live_session, grant=grant), successor)
