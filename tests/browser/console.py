"""A shop whose console runs, somebody signed in to it, and what a page does behind the scenes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import requests
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import WORKER, SessionOrigin
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from tests.console.staff_client import ConsoleClient
from tests.fixtures.flask_app import served

PROVIDER = "Northlight ID"
ADMIN = "admin@example.com"
COOKIE = "latchkey"
_SECONDS = 180


@dataclass(frozen=True, slots=True)
class RunningShop:
    """A shop that is served at ``url``, without a slash at its end."""

    url: str
    ports: Ports
    app: Flask

    def sign_in(
        self, context: BrowserContext, email: str, origin: SessionOrigin = SessionOrigin.PASSWORD
    ) -> None:
        """Give the browser the cookie of a session of that origin."""
        client = self.app.test_client()
        ConsoleClient(client, self.ports).enter(email)
        if origin is SessionOrigin.OIDC:
            with client.session_transaction("/console/") as kept:
                kept["origin"], kept["provider"] = origin.value, PROVIDER
                token = kept["_user_id"]
            with self.ports.database.transaction() as session:
                stored = session.query(models.Session).filter_by(token=token).one()
                stored.origin = origin.value
        cookie = client.get_cookie(COOKIE)
        assert cookie is not None
        context.add_cookies([{"name": COOKIE, "value": cookie.value, "url": self.url}])


@contextmanager
def running(ports: Ports, settings: Settings | None = None) -> Iterator[RunningShop]:
    """Serve a shop until the end of the block."""
    with served(create_app(ports, settings or Settings())) as server:
        yield RunningShop(server.url(), ports, server.app)


def close_pages(browser: Browser) -> None:
    """Close every page, before its shop ends: some ask for news again and again."""
    for context in browser.contexts:
        context.close()


class Watch:
    """What pages asked other hosts for, and what the browser complained about."""

    def __init__(self, page: Page, *hosts: str) -> None:
        self.complaints: list[str] = []
        self._own = (*hosts, "data:", "blob:", "about:")
        page.on("request", self._note_request)
        page.on("console", self._note_message)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))

    def take(self) -> list[str]:
        """The complaints since they were last taken."""
        taken, self.complaints = self.complaints, []
        return taken

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(self._own):
            self.complaints.append(f"asked for {request.url}")

    def _note_message(self, message: ConsoleMessage) -> None:
        # A page that was refused (403, 422) is one: the browser's note of its status is none.
        told_status = "the server responded with a status of 4" in message.text
        # axe asks each frame; a sandboxed one has no origin, and the headless shell says so.
        asked_frame = message.text.startswith("Failed to execute 'postMessage'")
        if message.type in ("error", "warning") and not (told_status or asked_frame):
            self.complaints.append(message.text)


def ask(shop: RunningShop, query: str, token: str = "", **variables: object) -> Any:
    """What the API answers, as any client would ask it; the status if that is no 200."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"query": query, "variables": variables}
    answer = requests.post(f"{shop.url}/graphql/", json=body, headers=headers, timeout=_SECONDS)
    return answer.json()["data"] if answer.status_code == HTTPStatus.OK else answer.status_code


def work(shop: RunningShop) -> None:
    """Send whatever is due, as the worker does."""
    for batch in lease_due_deliveries(shop.ports, WORKER):
        send_deliveries(shop.ports, WORKER, batch)
