"""A customer's browser at the hosted pages: keeps its cookie, sends tokens that it was shown."""

import html
import re
from dataclasses import dataclass
from itertools import count
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from tests.builders.people import PASSWORD
from tests.console.staff_client import Page

_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
_shown = count()
ANN = "ann@example.com"


@dataclass(frozen=True, slots=True)
class Browser:
    """One browser; ``open`` and ``send`` don't follow redirections."""

    client: FlaskClient

    def open(self, path: str, **more: Any) -> Page:
        return Page(self.client.get(path, **more))

    def send(self, path: str, shown_at: str = "", **fields: str) -> Page:
        """Send a form of the page ``shown_at``, by default the form's own page."""
        return Page(self.client.post(path, data=self.fill(shown_at or path, **fields)))

    def send_twice(self, path: str, shown_at: str = "", **fields: str) -> tuple[Page, Page]:
        """Send the form as a double click does: the same again, before the next page is shown."""
        filled = self.fill(shown_at or path, **fields)
        return Page(self.client.post(path, data=filled)), Page(self.client.post(path, data=filled))

    def send_without_answer(self, path: str, shown_at: str = "", **fields: str) -> Page:
        """Send the form twice, and lose the first answer with its cookie."""
        filled, cookies = self.fill(shown_at or path, **fields), self.cookies()
        self.client.post(path, data=filled)
        self.take(cookies)
        return Page(self.client.post(path, data=filled))

    def fill(self, path: str, **fields: str) -> dict[str, str]:
        """Return a form of the page ``path`` as it is sent.

        Tokens that are shown a second apart differ, as people are slow; tests aren't.
        """
        found = _CSRF.search(self.open(path).html)
        token = html.unescape(found[1]) if found else ""
        return {"csrf_token": token, "shown": str(next(_shown)), **fields}

    def sign_in(self, email: str = ANN, password: str = PASSWORD, target: str = "") -> Page:
        """Sign in by password; return the answer to the last form."""
        query = f"?next={target}" if target else ""
        self.send(f"/account/sign-in{query}", email=email, method="password")
        return self.send(f"/account/sign-in/password{query}", password=password)

    def is_signed_in(self) -> bool:
        return self.open("/account/").status == 200

    def take(self, cookies: dict[str, str]) -> None:
        """Take cookies as an answer sets them; the others stay."""
        for name, value in cookies.items():
            self.client.set_cookie(name, value)

    def cookies(self) -> dict[str, str]:
        return {cookie.key: cookie.value for cookie in (self.client._cookies or {}).values()}  # noqa: SLF001


def browser(app: Flask) -> Browser:
    """Return a new browser."""
    return Browser(app.test_client())
