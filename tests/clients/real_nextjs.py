"""Tests of the guide's Next.js storefront in Next.js itself: `make nextjs` installs and runs it.

`make test` doesn't: Next.js takes 350 MB and half a minute.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import jwt
import pytest
import requests

from tests.clients.conftest import CUSTOMER, FOLDER, PASSWORD, Shop
from tests.servers.free_ports import free_port
from tests.servers.provider import node
from tests.servers.sandbox import PATIENCE

PROJECT = FOLDER / "nextjs"
NEXT = PROJECT / "node_modules" / "next" / "dist" / "bin" / "next"
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?')


@pytest.fixture(scope="module")
def storefront(
    _running_brief_shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of the storefront."""
    port = free_port()
    log = tmp_path_factory.mktemp("next") / "next.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [node(), NEXT, "dev", "--port", str(port)],
            cwd=PROJECT,
            env={
                "API_URL": _running_brief_shop.server.issuer,
                "NEXT_TELEMETRY_DISABLED": "1",
                "PATH": str(Path(node()).parent),
            },
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while "Ready" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        yield f"http://localhost:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


class Browser:
    """Sends the page's one form as a browser without JavaScript does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = requests.Session()

    @property
    def page(self) -> str:
        return self._http.get(self._url, timeout=PATIENCE).text

    def send(self, **typed: str) -> str:
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(self.page)}
        parts = {name: (None, value) for name, value in {**hidden, **typed}.items()}
        return self._http.post(self._url, files=parts, timeout=PATIENCE).text

    @property
    def tokens(self) -> list[str]:
        """The tokens in its cookies, the one that expires first at the front."""
        values = [cookie.value or "" for cookie in self._http.cookies]
        return sorted((value for value in values if value.startswith("ey")), key=expiry)


def expiry(token: str) -> int:
    claims = jwt.decode(token, options={"verify_signature": False})
    return int(claims["exp"])


def wait_until_expired(token: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            jwt.decode(token, options={"verify_signature": False, "verify_exp": True})
        except jwt.ExpiredSignatureError:
            return
        time.sleep(0.05)
    pytest.fail("The token doesn't expire")


@pytest.mark.parametrize("path", ["/", "/with-auth-sdk"])
def test_storefront_refreshes_expired_tokens_and_signs_out(storefront: str, path: str) -> None:
    browser = Browser(f"{storefront}{path}")
    assert "Sign in" in browser.page
    assert CUSTOMER in browser.send(email=CUSTOMER, password=PASSWORD)
    wait_until_expired(browser.tokens[0])
    assert CUSTOMER in browser.page
    assert "Sign in" in browser.send()
    assert CUSTOMER not in browser.page
    assert browser.tokens == []
