"""Verify the shop's access tokens in another service, without an API call."""

from typing import Any
from urllib.parse import urljoin

import jwt


class TokenVerifier:
    """Verifies access tokens with the shop's key set, fetched once and cached."""

    def __init__(self, api_url: str) -> None:
        self._issuer = api_url  # such as https://shop.example.com/graphql/
        self._keys = jwt.PyJWKClient(urljoin(api_url, "/.well-known/jwks.json"))

    def verify(self, token: str) -> dict[str, Any]:
        """Return the claims; raise ``jwt.PyJWTError`` if the token isn't valid."""
        key = self._keys.get_signing_key_from_jwt(token)
        claims = jwt.decode(token, key, algorithms=["RS256"], issuer=self._issuer)
        if claims["type"] != "access":
            message = f"Expected an access token, got {claims['type']}"
            raise jwt.InvalidTokenError(message)
        return claims
