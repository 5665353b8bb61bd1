"""What stored secrets are encrypted for: a value works for its own purpose alone."""

FORM_ANSWER = "answer to a submitted form"
FORM_FIELDS = "fields of a submitted form"
FORM_SECRET = "secret of a submitted form"
OUTBOX_EVENT = "outbox event"
OUTBOX_MAIL = "outbox mail"
PENDING_SIGN_IN = "sign-in at an identity provider"
PROVIDER_SECRET = "identity provider's client secret"
WEBHOOK_HEADER = "webhook header"
WEBHOOK_PAYLOAD = "webhook payload"
WEBHOOK_SECRET = "webhook secret"


def authenticator_app(user_id: int | str) -> str:
    """Return the purpose of an authenticator app's secret, which works for its user alone."""
    return f"authenticator app of user {user_id}"


def signing_key(kid: str) -> str:
    """Return the purpose of a private key, which can't be stored under another key's name."""
    return f"signing key {kid}"


def refresh_token(session_token: str) -> str:
    """Return the purpose of a provider's refresh token, which works for its own session alone."""
    return f"provider's refresh token of session {session_token}"
