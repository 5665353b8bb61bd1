"""Sign in to another instance by a code that its person enters in a browser (RFC 8628)."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from math import inf
from typing import Any

from app.domain.oauth import COMMAND_LINE
from app.domain.urls.web_urls import parse_web_url
from app.domain.values.errors import PermissionDenied, TrafficClosed
from app.domain.values.installation import Fault
from app.ports.http import CallFailed, Http, HttpRequest, HttpResponse
from app.ports.instance import DeviceLogin, Profile
from app.remote import api

_DISCOVERY = "/.well-known/oauth-authorization-server"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER = 5
_MAX_INTERVAL, _MAX_WAIT = 60, 30 * 60
"""Seconds: what is longer is cut, so that no instance keeps the command waiting."""

_CALLER = "query Caller { me { email } }"


def begin_device_login(http: Http, url: str) -> DeviceLogin | None:
    """Return the codes of a new login at ``url``; ``None`` if the instance doesn't offer it.

    Its endpoints must be below the instance's own URL: the tokens go nowhere else. Raises
    ``Fault`` for codes that can't be read.
    """
    base = url.removesuffix(api.API_PATH)
    try:
        found = api.read_object(
            http.send(HttpRequest(f"{base}{_DISCOVERY}", timeout=api.TIMEOUT_SECONDS))
        )
    except CallFailed:
        return None
    endpoints = [str(found.get(f"{name}_endpoint")) for name in ("device_authorization", "token")]
    if found.get("issuer") != base or not all(one.startswith(f"{base}/") for one in endpoints):
        return None
    try:
        answer = api.post_form(http, endpoints[0], client_id=COMMAND_LINE)
    except CallFailed:
        return None
    codes = api.read_object(answer)
    if answer.status != HTTPStatus.OK:
        return None  # disabled there, or another program with such endpoints

    def read() -> DeviceLogin:
        return DeviceLogin(
            url=url,
            token_url=endpoints[1],
            device_code=api.read_text(codes, "device_code"),
            user_code=api.read_text(codes, "user_code"),
            verification_url=api.read_text(codes, "verification_uri"),
            expires_in=min(_seconds(url, codes, "expires_in"), _MAX_WAIT),
            interval=min(max(_seconds(url, codes, "interval", _SLOWER), 1), _MAX_INTERVAL),
        )

    login = api.read_as(url, read)
    # Codes of another shop, relayed, would be let in there by whoever follows its URL.
    is_own = login.verification_url.startswith(f"{base}/")
    return login if is_own and parse_web_url(login.verification_url) is not None else None


def _seconds(url: str, codes: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Return the seconds in the member ``name``; what another server says isn't believed."""
    found = codes.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or not -inf < found < inf:
        raise Fault(f"{url} sent a code whose {name} isn't a number of seconds.")
    return found


def finish_device_login(http: Http, login: DeviceLogin, pause: Callable[[float], None]) -> Profile:
    """Wait until the person has decided; ``pause`` waits for that many seconds.

    Raises ``PermissionDenied`` when they refuse, or the code has expired.
    """
    interval, waited = login.interval, 0.0
    while waited < login.expires_in:
        pause(interval)
        waited += interval
        try:
            answer = api.post_form(
                http,
                login.token_url,
                grant_type=_GRANT,
                device_code=login.device_code,
                client_id=COMMAND_LINE,
            )
        except CallFailed:
            interval += _SLOWER  # out of reach for a moment (RFC 8628, 3.5)
            continue
        if answer.status == HTTPStatus.OK:
            return _profile(http, login.url, api.read_object(answer))
        error = api.read_object(answer).get("error")
        if error == "slow_down":
            interval += _SLOWER
        elif error != "authorization_pending":
            raise _error(login.url, error, answer)
    raise PermissionDenied(message=_EXPIRED)


_EXPIRED = "The code has expired. Run the command again for a new one."


def _error(url: str, error: object, answer: HttpResponse) -> Exception:
    if error == "access_denied":
        return PermissionDenied(message="The sign-in was refused in the browser.")
    if error == "expired_token":
        return PermissionDenied(message=_EXPIRED)
    if error == "temporarily_unavailable":
        return TrafficClosed(f"{url} is closed to all but staff, and this account has no rights.")
    return Fault(f"{url} failed (HTTP {answer.status}) while it was asked for the login's tokens.")


def _profile(http: Http, url: str, tokens: Mapping[str, Any]) -> Profile:
    token = api.read_as(url, lambda: api.read_text(tokens, "access_token"))
    refresh = api.read_as(url, lambda: api.read_text(tokens, "refresh_token"))
    data = api.Api(http, url, api.GivenToken(token)).ask(_CALLER)
    email = api.read_as(url, lambda: api.read_text(data["me"], "email"))
    return Profile(url, token, refresh, email)
