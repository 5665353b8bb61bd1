"""Verify webhooks without a secret: the shop signs them with a key of its key set."""

import jwt


def verify_with_key_set(body: bytes, headers: dict[str, str], key_set: jwt.PyJWKClient) -> None:
    """Raise ``jwt.PyJWTError`` unless the shop signed ``body``, the bytes as they arrived.

    ``key_set`` is ``jwt.PyJWKClient("https://shop.example.com/.well-known/jwks.json")``; make one
    and keep it, because it caches the keys.
    """
    signature = headers["saleor-signature"]
    key = key_set.get_signing_key(jwt.get_unverified_header(signature)["kid"])
    jwt.PyJWS().decode(signature, key, algorithms=["RS256"], detached_payload=body)
