"""One document sent to an instance, and what came of it."""

import json
from collections.abc import Mapping
from typing import Any

from app.domain.values.errors import PermissionDenied, Refused, TokenFault, TokenRejected
from app.domain.values.installation import Unreachable
from app.ports.http import CallFailed, CallFault, Http, HttpRequest, HttpResponse
from app.remote.credentials import Credential, GivenToken
from app.remote.responses import read_as, read_data, read_payload, read_text

TIMEOUT_SECONDS = 30.0
"""Seconds that an instance has for its whole answer."""

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
            is_unreachable = failed.fault is CallFault.UNREACHABLE
            raise Unreachable(
                request.url, _NO_RESPONSE if is_unreachable else str(failed)
            ) from None

    def _renew(self) -> None:
        variables = {"refreshToken": self._credential.refresh_token}
        try:
            payload = read_payload(self.url, self._ask(_REFRESH, variables, ""), "tokenRefresh")
        except Refused:
            message = (
                f"The session at {self.url} has expired. Sign in again with: flask "
                f"login {self.url}"
            )
            raise LoginEnded(message=message) from None
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


def anonymous_api(http: Http, url: str) -> Api:
    """Return the API without a credential, for signing in."""
    return Api(http, url, GivenToken(""))
