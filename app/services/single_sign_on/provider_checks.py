"""Setting a provider up from its own description, and trying whether it works."""

from collections.abc import Callable, Iterator
from functools import partial

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_settings import discovery_url, issuer_in, read_description
from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected
from app.domain.single_sign_on.providers import Provider, serves_any_client
from app.domain.single_sign_on.waiting_changes import ANY_CLIENT, read_waiting
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.installation import CheckResult, CheckState
from app.domain.values.text import Phrase, Phrases, text, translatable
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.identity_provider import Client, GrantRefused
from app.services.authorization.register import fresh_proof, requires
from app.services.identity.providers import known_providers, secret_for_token_url
from app.services.shop.sign_in_counts import sessions_without_refresh_token
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider

_NOBODYS = "nobody-has-given-this-out"
_REFUSED = 400
_BROKEN = 500


@fresh_proof("always", lambda *_args, **_options: True)
@requires(Permission.MANAGE_PLUGINS)
def discover_provider(
    ports: Ports, actor: Actor, slug: str, issuer: str, *, asks_first: bool = False
) -> Provider:
    """Set the URLs of the provider ``slug`` from the discovery document of ``issuer``.

    ``issuer`` can also be the document's whole URL.
    Refuses INVALID on ``issuer`` if there is no document, it is another issuer's, or it offers
    nothing that this service can use. Refuses what ``save_provider`` does. Other settings stay.
    """
    try:
        document = ports.identity_provider.discover(discovery_url(issuer))
    except CallFailed as failed:
        raise Refused(
            Problem("INVALID", "{failed}", "issuer", values={"failed": Phrase(failed)})
        ) from failed
    settings, problems = read_description(document, issuer_in(issuer))
    refuse_any(*problems)
    return save_provider(ports, actor, slug, ProviderUpdate(settings, asks_first=asks_first))


@requires(Permission.MANAGE_PLUGINS)
def check_provider(ports: Ports, actor: Actor, slug: str) -> tuple[CheckResult, ...]:
    """Test everything that the provider ``slug`` is used for, without signing anyone in.

    Refuses NOT_FOUND on ``provider``.
    """
    provider = next(
        (provider for provider in known_providers(ports) if provider.slug == slug), None
    )
    if provider is None:
        raise Refused(
            Problem("NOT_FOUND", "Unknown provider {slug}.", "provider", values={"slug": slug})
        )
    return tuple(_findings(ports, provider))


_WAYS = {
    (True, True): "This service accepts its access tokens and signs users in with it.",
    (True, False): "This service accepts its access tokens.",
    (False, True): "This service signs users in with it.",
}
"""By whether the provider's access tokens are accepted, and whether users sign in with it."""


def _found(
    subject: str, state: CheckState, message: str, remedy: str = "", **values: object
) -> CheckResult:
    """Return a finding whose message and remedy have places for ``values``."""
    whole = (text(message, **values), text(remedy, **values))
    return CheckResult(subject, state, *whole, templates=(message, remedy), values=values)


def _findings(ports: Ports, provider: Provider) -> Iterator[CheckResult]:
    yield _modes(provider)
    yield from _trust(provider)
    yield from _refreshing(ports, provider)
    if provider.issuer:
        yield _tried("issuer", partial(_issuer, ports, provider))
    if provider.json_web_key_set_url:
        yield _tried("json_web_key_set_url", partial(_keys, ports, provider))
    if provider.user_info_url:
        yield _tried("user_info_url", partial(_user_info, ports, provider))
    if provider.oauth_token_url:
        yield _tried("oauth_token_url", partial(_token, ports, provider))
    for name in ("oauth_authorization_url", "oauth_logout_url"):
        url = getattr(provider, name)
        if url:
            yield _tried(name, partial(_page, ports, name, url))


def _tried(name: str, look: Callable[[], CheckResult]) -> CheckResult:
    try:
        return look()
    except CallFailed as failed:
        remedy = "Check {name} and that this machine can reach it."
        return _found(
            name, CheckState.FAILED, "{failed}", remedy, name=name, failed=Phrase(failed)
        )


def _modes(provider: Provider) -> CheckResult:
    if not (provider.takes_tokens or provider.signs_in):
        message = "The provider isn't set up: it has no usable endpoints."
        return _found("active", CheckState.FAILED, message, "flask oidc discover ISSUER")
    if not provider.active:
        message = "The provider is disabled, so no one can sign in with it."
        return _found("active", CheckState.WARNING, message, "flask oidc set active true")
    if provider.takes_tokens and provider.use_oauth_scope_permissions and not provider.audience:
        message = "Without an audience, scopes of clients' access tokens grant no permissions."
        return _found("audience", CheckState.WARNING, message, "flask oidc set audience …")
    return _found("active", CheckState.FINE, _WAYS[provider.takes_tokens, provider.signs_in])


def _refreshing(ports: Ports, provider: Provider) -> Iterator[CheckResult]:
    """Yield why sessions that begin at the provider can't be refreshed there."""
    if not (provider.active and provider.signs_in):
        return
    name = "enable_refresh_token"
    if not provider.enable_refresh_token:
        message = "Refresh tokens are off: people sign in again when their access token expires."
        yield _found(name, CheckState.WARNING, message, "flask oidc set enable_refresh_token true")
        return
    with ports.database.reading() as session:
        count = session.execute(select(sessions_without_refresh_token(ports, provider))).scalar()
    if count:
        message = (
            "Open sessions for which the provider issued no refresh token: {count:,}. People sign "
            "in again when their access token expires."
        )
        remedy = "Allow this client refresh tokens (offline access) at the provider."
        yield _found(name, CheckState.WARNING, message, remedy, count=count)


def _trust(provider: Provider) -> Iterator[CheckResult]:
    """Warn about settings that wait for confirmation, or that give rights too widely."""
    waiting = [change.setting for change in read_waiting(provider.waiting_changes)]
    if waiting:
        message = (
            "Changes wait for confirmation: {names}. Until then linked accounts can't sign in, "
            "and the provider makes no one staff."
        )
        names = ", ".join(waiting)
        yield _found("active", CheckState.WARNING, message, "flask oidc confirm", names=names)
    if serves_any_client(provider):
        remedy = "flask oidc set accepted_clients …"
        yield _found("accepted_clients", CheckState.WARNING, ANY_CLIENT, remedy)


def _issuer(ports: Ports, provider: Provider) -> CheckResult:
    metadata = ports.identity_provider.discover(discovery_url(provider.issuer))
    settings, problems = read_description(metadata, provider.issuer)
    remedy = f"flask oidc discover {provider.issuer}"
    if problems:
        return _found(
            "issuer", CheckState.FAILED, problems[0].template, remedy, **problems[0].values
        )
    differing = [name for name, value in settings.items() if getattr(provider, name) != value]
    if differing:
        message = "The provider's discovery document differs from the settings: {differing}."
        return _found(
            "issuer", CheckState.WARNING, message, remedy, differing=", ".join(differing)
        )
    return _found("issuer", CheckState.FINE, "The discovery document matches the settings.")


def _keys(ports: Ports, provider: Provider) -> CheckResult:
    keys = ports.identity_provider.fetch_keys(provider.json_web_key_set_url)
    names = Phrases(key.kid or translatable("without an ID") for key in keys)
    message = "1 usable key: {names}." if len(keys) == 1 else "{number} usable keys: {names}."
    return _found("json_web_key_set_url", CheckState.FINE, message, number=len(keys), names=names)


def _user_info(ports: Ports, provider: Provider) -> CheckResult:
    try:
        ports.identity_provider.fetch_person(provider.user_info_url, _NOBODYS)
    except ProviderTokenRejected:
        message = "Responding; rejects an invalid token."
        return _found("user_info_url", CheckState.FINE, message)
    message = "Returned a user for an invalid token."
    return _found("user_info_url", CheckState.FAILED, message, "Do not use this provider.")


def _token(ports: Ports, provider: Provider) -> CheckResult:
    """Exchange an invalid code: providers authenticate the client first."""
    client = Client(
        provider.oauth_token_url, provider.client_id, secret_for_token_url(ports, provider)
    )
    try:
        ports.identity_provider.exchange(
            client, code=_NOBODYS, redirect_uri="https://client.invalid/", verifier=_NOBODYS
        )
    except GrantRefused as refused:
        if refused.error in ("invalid_client", "unauthorized_client"):
            remedy = "Set client_id and client_secret to the values registered at the provider."
            return _found(
                "oauth_token_url",
                CheckState.FAILED,
                "The identity provider refused: {error}.",
                remedy,
                error=refused.error,
            )
        message = "Accepts the client and rejects an invalid code ({error})."
        return _found("oauth_token_url", CheckState.FINE, message, error=refused.error)
    message = "Issued tokens for an invalid code."
    return _found("oauth_token_url", CheckState.FAILED, message, "Do not use this provider.")


def _page(ports: Ports, name: str, url: str) -> CheckResult:
    """The browser goes there, not this service: that something answers is all to look at."""
    status = ports.identity_provider.fetch_status(url)
    if status >= _BROKEN:
        message = "Responded with HTTP {status}."
        return _found(name, CheckState.WARNING, message, "Check {name}.", status=status, name=name)
    refuses = "Responding; rejects an empty request with HTTP {status}."
    answers = "Responding with HTTP {status}."
    return _found(name, CheckState.FINE, refuses if status >= _REFUSED else answers, status=status)
