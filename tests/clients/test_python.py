"""A client in Python refreshes expired tokens and verifies tokens by the key set."""

import time

import jwt
import pytest

from tests.clients.api_session import ApiSession
from tests.clients.conftest import CUSTOMER, PASSWORD, Shop
from tests.clients.token_verification import TokenVerifier
from tests.servers.sandbox import PATIENCE


def wait_until_expired(verifier: TokenVerifier, token: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            verifier.verify(token)
        except jwt.ExpiredSignatureError:
            return
        time.sleep(0.05)
    pytest.fail("The token doesn't expire")


def test_session_refreshes_its_expired_token(brief_shop: Shop) -> None:
    session = ApiSession(brief_shop.server.issuer, CUSTOMER, PASSWORD)
    first = session.token
    wait_until_expired(TokenVerifier(brief_shop.server.issuer), first)
    assert session.query("{ me { email } }") == {"me": {"email": CUSTOMER}}
    assert session.token != first


def test_session_says_why_it_was_refused(shop: Shop) -> None:
    with pytest.raises(PermissionError, match="valid credentials"):
        ApiSession(shop.server.issuer, CUSTOMER, "not the password")


def test_verifier_accepts_only_access_tokens_of_the_shop(shop: Shop) -> None:
    session = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD)
    verifier = TokenVerifier(shop.server.issuer)
    assert verifier.verify(session.token)["email"] == CUSTOMER
    with pytest.raises(jwt.InvalidTokenError, match="Expected an access token"):
        verifier.verify(session.refresh_token)
    with pytest.raises(jwt.InvalidSignatureError):
        verifier.verify(f"{session.token[:-6]}AAAAAA")
