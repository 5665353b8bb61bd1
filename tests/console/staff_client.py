"""Somebody at the console: a client that keeps its cookie, and reads pages as people do."""

import html
import re
from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.ports import Ports
from tests.builders.people import PASSWORD

_TAG = re.compile(r"<[^>]+>")
_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
_DARK = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it came."""

    response: TestResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def html(self) -> str:
        return self.response.get_data(as_text=True)

    @property
    def text(self) -> str:
        """What people read: without tags, blanks as one."""
        bare = _TAG.sub(" ", _DARK.sub(" ", self.html.replace("<wbr>", "")))
        return " ".join(html.unescape(bare).split())

    @property
    def title(self) -> str:
        found = re.search(r"<title>(.*?)</title>", self.html, re.DOTALL)
        return " ".join(html.unescape(found[1]).split()) if found else ""

    @property
    def leads_to(self) -> str:
        """The path of a redirection."""
        return self.response.headers.get("Location", "")


@dataclass(frozen=True, slots=True)
class ConsoleClient:
    """A browser at the console of one installation."""

    client: FlaskClient
    ports: Ports

    def open(self, path: str) -> Page:
        """Fetch a page, without following where it leads."""
        return Page(self.client.get(path))

    def send(self, path: str, data: dict[str, Any] | None = None, *, seen_at: str = "") -> Page:
        """Send a form with the token that the page ``seen_at`` gave (``path`` itself if empty)."""
        shown = self.open(seen_at or path).html
        found = _CSRF.search(shown)
        token = {} if found is None else {"csrf_token": html.unescape(found[1])}
        return Page(self.client.post(path, data={**token, **(data or {})}))

    def follow(self, page: Page) -> Page:
        """Go where a redirection leads."""
        return self.open(page.leads_to)

    def sign_in(self, email: str, password: str = PASSWORD) -> Page:
        """Come in by password."""
        return self.send("/console/sign-in", {"email": email, "password": password})
