"""Sessions that began at a provider: verified, and ended from here or from there."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, update

from app.domain.authorization.actor import Actor
from app.domain.sign_in.tokens import is_access
from app.domain.single_sign_on.provider_tokens import LogoutToken, read_logout_token
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import waits_for
from app.domain.urls.redirects import (
    fold_parameter,
    may_redirect_to_other_host,
    redirect_parameters,
    redirect_problem,
    with_query,
)
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.text_rules import has_control_characters
from app.models import ExternalIdentityRecord, SessionRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.live_sessions import effective_user
from app.services.authorization.register import input_decides, public
from app.services.identity.provider_keys import verify_with
from app.services.identity.providers import provider_of
from app.services.sign_in.tokens import Verified, verify_argument_token

_MAX_QUERY_LENGTH = 16 * 1024
"""Characters; providers take ID tokens in the URL, and servers no URL that is much longer."""

_CLOCKS = timedelta(seconds=5)
"""By how much a provider's clock may be behind ours; it tells whole seconds, rounded down."""


@public
def verify_external_token(
    ports: Ports, actor: Actor, *, plugin_id: str | None, token: str | None
) -> Verified | None:
    """Whether an access token of ours is good, its session having begun there (`externalVerify`).

    ``None`` when it is not, whatever the reason, and for a plugin that is unknown or inactive.
    """
    provider = provider_of(ports, plugin_id)
    if provider is None or not token:
        return None
    try:
        verified = verify_argument_token(ports, actor, token, "token")
    except Refused:
        return None
    found = verified.found
    if found is None or found.provider_id != provider.id or not is_access(verified.claims):
        return None
    return Verified(
        effective_user(found, verified.shop_state.switches), verified.claims.everything
    )


@input_decides
def log_out_external(
    ports: Ports, actor: Actor, *, plugin_id: str | None, values: Mapping[str, str]
) -> str | None:
    """Where to send the user to be signed out there, too (`externalLogout`); ends our session.

    ``values`` go into the query of the provider's logout address. ``None`` for a plugin that is
    unknown, inactive or has no such address; the caller's own session ends all the same, unless
    the caller is an extension. Refuses
    INVALID on each value that the provider can redirect to (``redirect_parameters``) and that
    doesn't lead to one of ``ALLOWED_CLIENT_HOSTS``, and for ``values`` that are
    too long for a URL.
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
    _end_own_session(ports, actor)
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
    """Why ``value`` can't be copied into the logout URL, or ``None``.

    ``redirects`` is whether the provider can redirect to the parameter ``name``.
    """
    if has_control_characters(name + value):
        return Problem("INVALID", "The input contains control characters.")
    if not redirects or not may_redirect_to_other_host(value):
        return None
    configuration = ports.configuration
    return redirect_problem(
        value,
        configuration.allowed_client_hosts,
        development=configuration.development,
        field=name,
    )


def _end_own_session(ports: Ports, actor: Actor) -> None:
    if actor.session_id is None or not actor.is_account_owner:
        return
    with ports.database.transaction() as session:
        session.execute(delete(SessionRecord).where(SessionRecord.id == actor.session_id))
        change = Change("session.end", "User", actor.user_id or 0, actor.name)
        record(ports, actor, session, change)


def _end_at(ports: Ports, actor: Actor, provider: Provider, logout: LogoutToken) -> int:
    """End the sessions that ``logout`` means."""
    moment = datetime.fromtimestamp(logout.issued, UTC)
    begun_before = moment + _CLOCKS
    identities = select(ExternalIdentityRecord.id).where(
        ExternalIdentityRecord.issuer.in_(provider.issuers_here(logout.issuer))
    )
    if waits_for(provider, "issuer", "client_id", "json_web_key_set_url", "active"):
        # Who changed them could sign out anyone else.
        identities = identities.where(ExternalIdentityRecord.waiting_mark == provider.link_mark)
    if logout.subject:
        identities = identities.where(ExternalIdentityRecord.subject == logout.subject)
    going = delete(SessionRecord).where(
        SessionRecord.identity_id.in_(identities),
        SessionRecord.provider_id == provider.id,
        SessionRecord.created_at <= begun_before,
    )
    if logout.sid:
        going = going.where(SessionRecord.sid == logout.sid)
    with ports.database.transaction() as session:
        ended = session.execute(going.returning(SessionRecord.user_id)).scalars().all()
        if not logout.sid:
            session.execute(
                update(ExternalIdentityRecord)
                .where(ExternalIdentityRecord.id.in_(identities))
                .values(tokens_valid_after=moment)
            )
        for user_id in sorted(set(ended)):
            after = {
                ("reason"): "The identity provider ended the session.",
                "provider": provider.slug,
            }
            record(ports, actor, session, Change("session.end", "User", user_id, after=after))
    return len(ended)
