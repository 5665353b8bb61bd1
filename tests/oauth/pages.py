"""Hosted pages of a test: whoever the test says is signed in there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from flask import Flask, Response, redirect
from werkzeug.wrappers import Response as BaseResponse

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import Actor, SessionOrigin
from app.oauth.endpoints import Consent, HostedPages, make_oauth
from app.oauth.logout import Logout
from app.ports import Ports
from app.services.hosted import sign_out_of_hosted_pages
from tests.builders.oauth import CALLBACK, CHALLENGE, VERIFIER, Registered
from tests.builders.people import actor_of
from tests.fixtures.flask_app import served

BASE = "http://localhost:8000"
HOST = {"Host": "localhost:8000"}


@dataclass
class SignedIn:
    """Someone at the pages; the test can set when they signed in."""

    actor: Actor
    authenticated_at: datetime


@dataclass
class Pages:
    """What the provider asked of the pages, and who is signed in."""

    ports: Ports
    person: SignedIn | None = None
    is_on: bool = True
    consents: list[Consent] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    logouts: list[tuple[Logout, str]] = field(default_factory=list)

    def sign_in(self, user_id: int, origin: SessionOrigin = SessionOrigin.PASSWORD) -> SignedIn:
        self.person = SignedIn(actor_of(self.ports, user_id, origin), self.ports.clock.now())
        return self.person

    def hosted(self) -> HostedPages:
        return HostedPages(
            is_on=lambda: self.is_on,
            person=lambda: self.person,
            sign_in_url=lambda path: f"/account/sign-in?{urlencode({'next': path})}",
            sign_in_again_url=lambda path: f"/account/again?{urlencode({'next': path})}",
            guard=lambda: None,
            finish=lambda response: response,
            consent_page=self._consent,
            error_page=self._error,
            device_page=lambda _person: Response("device"),
            logout_page=self._ask_to_sign_out,
            sign_out=self._sign_out,
        )

    def _consent(self, consent: Consent) -> Response:
        self.consents.append(consent)
        return Response("consent")

    def _ask_to_sign_out(self, logout: Logout, action: str) -> Response:
        self.logouts.append((logout, action))
        return Response("Sign out?")

    def _sign_out(self, redirect_uri: str) -> BaseResponse:
        if self.person is not None:
            sign_out_of_hosted_pages(self.ports, self.person.actor)
            self.person = None
        return redirect(redirect_uri, 303) if redirect_uri else Response("signed out")

    def _error(self, error: str, description: str) -> Response:
        self.errors.append((error, description))
        return Response(error, 400)


def make_app(ports: Ports, pages: Pages) -> Flask:
    """Return the application with the provider on these pages."""
    provider = make_oauth(pages.hosted())
    return create_app(ports, Settings(), lambda app: app.register_blueprint(provider))


@dataclass
class Provider:
    """The provider as a browser and clients see it, over HTTP."""

    origin: str
    pages: Pages

    def authorize(self, client: Registered, **changes: str | None) -> Any:
        """Send the browser to the provider; ``None`` leaves a parameter out."""
        values = authorization(client, **changes)
        return self.get(f"/oauth/authorize?{urlencode(values)}")

    def get(self, path: str, **options: Any) -> Any:
        options["headers"] = HOST | options.get("headers", {})
        return requests.get(f"{self.origin}{path}", allow_redirects=False, timeout=60, **options)

    def post(self, path: str, data: Any = None, auth: Any = None, **headers: str) -> Any:
        return requests.post(
            f"{self.origin}{path}",
            data=data,
            auth=auth,
            headers=HOST | headers,
            allow_redirects=False,
            timeout=60,
        )

    def code(self, client: Registered, **changes: str | None) -> str:
        """Return a code that the client was sent."""
        answer = self.authorize(client, **changes)
        assert answer.status_code == 303, answer.text
        [code] = sent_back(answer)["code"]
        return code

    def exchange(self, client: Registered, code: str, **changes: str) -> Any:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.token(client, form)

    def refresh(self, client: Registered, token: str, **changes: str) -> Any:
        form = {"grant_type": "refresh_token", "refresh_token": token, **changes}
        return self.token(client, form)

    def introspect(self, client: Registered, token: str) -> dict[str, Any]:
        auth = client.id, client.secret
        told: dict[str, Any] = self.post("/oauth/introspect", {"token": token}, auth=auth).json()
        return told

    def token(self, client: Registered, form: dict[str, str]) -> Any:
        if client.secret:
            return self.post("/oauth/token", form, auth=(client.id, client.secret))
        return self.post("/oauth/token", {"client_id": client.id, **form})

    def userinfo(self, token: str) -> Any:
        return self.get("/oauth/userinfo", headers={"Authorization": f"Bearer {token}"})


@contextmanager
def provider_of(ports: Ports) -> Iterator[Provider]:
    """Serve the provider over HTTP."""
    pages = Pages(ports)
    with served(make_app(ports, pages)) as running:
        yield Provider(running.url(), pages)


def authorization(client: Registered, **changes: str | None) -> dict[str, str]:
    """Return the parameters of an authorization request."""
    values: dict[str, str | None] = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": CALLBACK,
        "scope": "openid profile email",
        "state": "of the client",
        "nonce": "of the browser",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def sent_back(answer: Any) -> dict[str, list[str]]:
    """Return the parameters with which the browser is led back to the client."""
    location = answer.headers["Location"]
    assert location.partition("?")[0] == CALLBACK, location
    return parse_qs(urlsplit(location).query)


def next_path(answer: Any) -> str:
    """Return what is shown after the sign-in that the browser is led to."""
    path: str
    [path] = parse_qs(urlsplit(answer.headers["Location"]).query)["next"]
    return path
