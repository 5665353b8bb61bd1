"""The handshake by which an app gets its token, and may refuse to be installed."""

import json
from dataclasses import dataclass, field, replace

from app.domain.apps.apps import plain_answer, refusal_in
from app.domain.urls.web_urls import host_and_port_of
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.values.text import text
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest, HttpResponse, json_members
from app.services.authorization.register import part

TIMEOUT = 20.0
"""Seconds that an app has for its whole answer; it may call back meanwhile."""

_MAX_SIZE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Handshake:
    """The data sent to an app: its token and the API's URL, exactly as in its tokens' ``iss``."""

    target_url: str
    api_url: str
    token: str = field(repr=False)


class HandshakeRefused(Exception):
    """The app does not want to be installed, or does not answer; the text says why."""


@part
def shake_hands(ports: Ports, handshake: Handshake) -> None:
    """Give an app its token (contract, "Apps"); raises ``HandshakeRefused``.

    Never inside a transaction: app and token must be there for the app to call back with.
    """
    names = ports.configuration.header_names.name_headers(
        {
            "Domain": host_and_port_of(handshake.api_url),
            "Api-Url": handshake.api_url,
            "Schema-Version": SCHEMA_VERSION,
        }
    )
    request = HttpRequest(
        handshake.target_url,
        "POST",
        {"Content-Type": "application/json", **names},
        json.dumps({"auth_token": handshake.token}).encode(),
        timeout=TIMEOUT,
        max_size=_MAX_SIZE,
    )
    try:
        response = ports.http.send(request)
    except CallFailed as failed:
        message = text("The app couldn't be given its token: {reason}", reason=failed)
        raise HandshakeRefused(message) from None
    # The message is stored for others to read; an app could repeat its token in it.
    body = response.body.replace(handshake.token.encode(), "…".encode())
    refusal = _refusal(replace(response, body=body))
    if refusal is not None:
        raise HandshakeRefused(refusal)


def _refusal(response: HttpResponse) -> str | None:
    try:
        members = json_members(replace(response, status=200), "The app")
        answer = ""
    except CallFailed:
        members, answer = {}, plain_answer(response.body.decode(errors="replace"))
    refusal = refusal_in(members, good=response.is_good)
    if refusal == "" and answer:
        message = "The app rejected its token: HTTP {status}. It answered: {answer}"
        return text(message, status=response.status, answer=answer)
    if refusal == "":
        return text("The app rejected its token: HTTP {status}.", status=response.status)
    return refusal
