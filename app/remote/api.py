"""Requests to an instance: the document and token sent, and its data or the error it means."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from app.domain.oauth import COMMAND_LINE, REFRESH_PREFIX
from app.domain.values.errors import (
    PermissionDenied,
    Problem,
    Refused,
    TokenFault,
    TokenRejected,
    TrafficClosed,
)
from app.domain.values.installation import Fault, Unreachable
from app.ports.http import CallFailed, CallFault, Http, HttpRequest, HttpResponse
from app.ports.instance import Profile, Profiles


class Credential(Protocol):
    """What authenticates requests."""

    @property
    def token(self) -> str:
        """The token to send."""

    @property
    def refresh_token(self) -> str:
        """The refresh token; empty if there is none."""

    def renewal(self) -> AbstractContextManager[bool]:
        """Keep others from renewing meanwhile; false if one has just done so."""

    def renewed(self, token: str, refresh_token: str) -> None:
        """Go on with these."""


class GivenToken:
    """A token given by the user; an expired one can't be refreshed."""

    refresh_token = ""

    def __init__(self, token: str) -> None:
        self.token = token

    def renewal(self) -> AbstractContextManager[bool]:
        raise RuntimeError("The login can't be renewed.")

    def renewed(self, token: str, refresh_token: str) -> None:
        raise RuntimeError("The login can't be renewed.")


class SavedLogin:
    """A login that `flask login` kept; what is renewed is kept in its place.

    If it was forgotten meanwhile, or someone else signed in, only this command goes on with it.
    """

    def __init__(self, profiles: Profiles, profile: Profile) -> None:
        self._profiles = profiles
        self._profile = profile

    @property
    def token(self) -> str:
        return self._profile.token

    @property
    def refresh_token(self) -> str:
        return self._profile.refresh_token

    @contextmanager
    def renewal(self) -> Iterator[bool]:
        # A refresh token that works once would end the login if two commands sent it.
        with self._profiles.locked():
            saved = self._profiles.find(self._profile.url)
            if saved is None or saved == self._profile or saved.email != self._profile.email:
                yield True
            else:
                self._profile = saved
                yield False

    def renewed(self, token: str, refresh_token: str) -> None:
        before = self._profile
        self._profile = replace(before, token=token, refresh_token=refresh_token)
        self._profiles.replace(before, self._profile)


Read = TypeVar("Read")

_HIDDEN = frozenset(("secretKey", "customHeaders", "payload", "response", "requestHeaders"))
"""Fields of webhooks and deliveries that people don't see without all of the app's permissions."""

_DENYING = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_UNAVAILABLE = (HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600))
"""The instance, or a proxy before it, is temporarily unavailable."""

_REDIRECTS = range(300, 400)
_FAULTS = {fault.value: fault for fault in TokenFault}
_MAX_MESSAGES = 3


def read_data(url: str, response: HttpResponse) -> Mapping[str, Any]:
    """The data in an answer of ``url``.

    Raises what its errors mean: ``TrafficClosed``, ``TokenRejected``, ``PermissionDenied``,
    ``Refused``; ``Unreachable`` for what is no answer of such an API; ``Fault`` where it does not
    understand what it was asked, or failed at it.
    """
    body = _body(url, response)
    errors = body.get("errors")
    if isinstance(errors, list) and not all(map(_hides_a_field, errors)):
        raise _error(url, response, errors)
    data = body.get("data")
    if not isinstance(data, dict):
        raise _not_an_api_error(url, response)
    return data


def _hides_a_field(error: object) -> bool:
    """Whether ``error`` is that the caller can't see one field of what was read, which is null.

    Above such a field there are at least what was asked for and one of its objects.
    """
    exception = _extensions(error).get("exception")
    path = error.get("path") if isinstance(error, dict) else None
    is_denied = isinstance(exception, dict) and exception.get("code") == "PermissionDenied"
    return is_denied and isinstance(path, list) and path[-1] in _HIDDEN


def read_as(url: str, read: Callable[[], Read]) -> Read:
    """What ``read`` makes of an answer of ``url``; raises ``Fault`` when it has another shape."""
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        message = f"Unexpected response from {url}. It may be running another version."
        raise Fault(message) from None


def read_payload(url: str, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What the mutation ``name`` returned; raises ``Refused`` with its errors."""

    def read() -> tuple[Mapping[str, Any], list[Problem]]:
        payload: Mapping[str, Any] = data[name]
        return payload, [_problem(error) for error in payload["errors"]]

    payload, problems = read_as(url, read)
    if problems:
        raise Refused(*problems)
    return payload


def read_text(payload: Mapping[str, Any], name: str) -> str:
    """The text in the member ``name``; raises ``TypeError`` for anything else there."""
    text = payload[name]
    if not isinstance(text, str):
        raise TypeError(name)
    return text


def _problem(error: Mapping[str, Any]) -> Problem:
    field = error.get("field")
    return Problem(
        str(error["code"]), str(error.get("message") or ""), None if field is None else str(field)
    )


def _body(url: str, response: HttpResponse) -> Mapping[str, Any]:
    if response.status in _REDIRECTS:
        where = response.headers.get("location", "elsewhere")[:200]
        raise Unreachable(url, f"it redirects to {where}. Use the URL of the API itself.")
    return read_object(response)


def _not_an_api_error(url: str, response: HttpResponse) -> Exception:
    if response.status in _DENYING:
        message = (
            f"{url} responded with HTTP {response.status}: a proxy in front of it refuses access."
        )
        return PermissionDenied(message=message)
    if response.status in _UNAVAILABLE:
        return Unreachable(
            url, f"it responded with HTTP {response.status}: it has a problem. Try again later."
        )
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    what = {"text/html": "a web page", "application/json": "other JSON"}.get(kind, "something")
    hint = "Check that this is the URL of a GraphQL API. It usually ends with /graphql/."
    return Unreachable(
        url, f"it responded with {what} that isn't GraphQL (HTTP {response.status}). {hint}"
    )


def _error(url: str, response: HttpResponse, errors: Sequence[object]) -> Exception:
    """Return the exception for the first of ``errors``."""
    messages = [_message(error) for error in errors[:_MAX_MESSAGES]]
    extensions = _extensions(errors[0])
    exception = extensions.get("exception")
    code = exception.get("code") if isinstance(exception, dict) else extensions.get("code")
    if code == TrafficClosed.CODE:
        # Signing in is impossible, too: without a valid token the storefront is closed.
        return TrafficClosed(
            f"{url} is closed to all but staff and apps that bring a token which is good. "
            f"Bring an app's: flask login {url} --app-token"
        )
    if isinstance(code, str) and code in _FAULTS:
        fault = _FAULTS[code]
        what = "has expired there" if fault is TokenFault.EXPIRED else "is not accepted there"
        return TokenRejected(fault, f"{url}: the token {what}. {_sign_in_hint(url)}")
    if code == "PermissionDenied" or response.status in _DENYING:
        return PermissionDenied(message=messages[0])
    if code == "GraphQLError" and response.status == HTTPStatus.OK:
        return Refused(*(Problem("GRAPHQL_ERROR", message) for message in messages))
    what = f"failed (HTTP {response.status})"
    if response.status == HTTPStatus.BAD_REQUEST:
        what = "does not support this request; it may be another version"
    return Fault(f"{url} {what}: {' '.join(messages)}")


def _sign_in_hint(url: str) -> str:
    return f"Sign in with: flask login {url}, or use another token."


def _message(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else None
    return message[:500] if isinstance(message, str) else "an error without a message"


def _extensions(error: object) -> Mapping[str, Any]:
    extensions = error.get("extensions") if isinstance(error, dict) else None
    return extensions if isinstance(extensions, dict) else {}


TIMEOUT_SECONDS = 30.0
"""Seconds that an instance has for its whole answer."""

API_PATH = "/graphql/"
"""Where the API is; endpoints of the OpenID provider are beside it."""

_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
_NO_RESPONSE = "no response. Check the URL and that the instance is running."
_MAX_BYTES = 32 * 1024 * 1024
_REFRESH = """
mutation Refresh($refreshToken: String) {
  tokenRefresh(refreshToken: $refreshToken) {
    token refreshToken errors { field message code }
  }
}
"""


class LoginEnded(PermissionDenied):
    """The saved login is no longer valid."""


def _login_ended(url: str) -> LoginEnded:
    message = f"The session at {url} has expired. Sign in again with: flask login {url}"
    return LoginEnded(message=message)


def renew_grant(http: Http, url: str, refresh_token: str) -> tuple[str, str]:
    """Return the next access and refresh token of a login that began with a code.

    Raises ``LoginEnded`` if it can't be renewed, ``Unreachable`` if there is no answer.
    """
    endpoint = f"{url.removesuffix(API_PATH)}/oauth/token"
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    try:
        answer = post_form(http, endpoint, client_id=COMMAND_LINE, **form)
    except CallFailed as failed:
        raise _unreachable(endpoint, failed) from None
    tokens = read_object(answer)
    if answer.status == HTTPStatus.OK:
        names = ("access_token", "refresh_token")
        access, refresh = read_as(url, lambda: [read_text(tokens, name) for name in names])
        return access, refresh
    if tokens.get("error") in ("invalid_grant", "invalid_client"):
        raise _login_ended(url)
    raise Unreachable(endpoint, f"it responded with HTTP {answer.status}. Try again later.")


def _unreachable(url: str, failed: CallFailed) -> Unreachable:
    is_unreachable = failed.fault is CallFault.UNREACHABLE
    return Unreachable(url, _NO_RESPONSE if is_unreachable else str(failed))


def post_form(http: Http, url: str, **form: str) -> HttpResponse:
    """Send a form to an endpoint of an instance's OpenID provider."""
    body = urlencode(form).encode()
    return http.send(HttpRequest(url, "POST", _FORM, body, timeout=TIMEOUT_SECONDS))


def read_object(response: HttpResponse) -> Mapping[str, Any]:
    """Return the JSON object in a response; empty for anything else."""
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


class Api:
    """The API at ``url``, called with ``credential``."""

    def __init__(
        self, http: Http, url: str, credential: Credential, *, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.url = url
        self._http = http
        self._credential = credential
        self._timeout = timeout

    def ask(self, document: str, **variables: object) -> Mapping[str, Any]:
        """The data that ``document`` asks for; raises as ``read_data`` does.

        An access token that has expired is renewed once, where there is something to renew it by.
        """
        try:
            return self._ask(document, variables, self._credential.token)
        except TokenRejected as rejected:
            if rejected.fault is not TokenFault.EXPIRED or not self._credential.refresh_token:
                raise
        self._renew()
        return self._ask(document, variables, self._credential.token)

    def change(self, name: str, document: str, **variables: object) -> Mapping[str, Any]:
        """Run a mutation and return its payload ``name``; can raise ``Refused``, too."""
        return read_payload(self.url, self.ask(document, **variables), name)

    def get(self, url: str) -> HttpResponse:
        """Fetch a public resource at another URL of the instance."""
        return self._send(HttpRequest(url, timeout=self._timeout))

    def _ask(self, document: str, variables: Mapping[str, object], token: str) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            headers["Authorization-Bearer"] = _sendable(token)
        body = json.dumps({"query": document, "variables": variables}).encode()
        request = HttpRequest(
            self.url, "POST", headers, body, timeout=self._timeout, max_size=_MAX_BYTES
        )
        return dict(read_data(self.url, self._send(request)))

    def _send(self, request: HttpRequest) -> HttpResponse:
        try:
            return self._http.send(request)
        except CallFailed as failed:
            raise _unreachable(request.url, failed) from None

    def _renew(self) -> None:
        with self._credential.renewal() as is_due:
            if not is_due:
                return
            refresh_token = self._credential.refresh_token
            if refresh_token.startswith(REFRESH_PREFIX):
                self._credential.renewed(*renew_grant(self._http, self.url, refresh_token))
            else:
                self._renew_session()

    def _renew_session(self) -> None:
        variables = {"refreshToken": self._credential.refresh_token}
        try:
            payload = read_payload(self.url, self._ask(_REFRESH, variables, ""), "tokenRefresh")
        except Refused:
            raise _login_ended(self.url) from None
        # Where refresh tokens are single-use, the response has the next one.
        fresh = payload.get("refreshToken") or self._credential.refresh_token
        self._credential.renewed(read_as(self.url, lambda: read_text(payload, "token")), fresh)


def _sendable(token: str) -> str:
    """``token``; for what no header can hold ``PermissionDenied``, which does not repeat it."""
    if token.isascii() and token.isprintable():
        return token
    raise PermissionDenied(
        message="Invalid token: it contains line breaks or non-ASCII characters."
    )
