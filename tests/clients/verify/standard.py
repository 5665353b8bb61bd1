"""Verify webhooks with a secret by the headers of Standard Webhooks."""

from standardwebhooks import Webhook


def verify_standard_webhook(body: bytes, headers: dict[str, str], secret: str) -> None:
    """Raise ``WebhookVerificationError`` unless ID, time and body were signed with the secret.

    Requests older than five minutes are refused too.
    """
    Webhook(secret).verify(body, headers)
