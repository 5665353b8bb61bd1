"""Verify webhooks with a secret by the platform's header."""

import hashlib
import hmac


def verify_with_secret(body: bytes, headers: dict[str, str], secret: str) -> None:
    """Raise ``ValueError`` unless ``body`` was signed with the webhook's secret."""
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), headers["saleor-signature"].encode()):
        raise ValueError("The signature doesn't match.")
