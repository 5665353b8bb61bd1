"""Rows of apps and webhooks in a platform's database."""

import base64
import hashlib
from datetime import UTC, datetime

from tests.imports.platform import PlatformDatabase

CREATED = datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC)
TOKEN = "c4n1LdEkFJZBnwVWQnVpS0mRTfAbcd"
QUERY = "subscription { event { ... on CustomerCreated { user { email } } } }"
_ROUNDS = 10_000


def django_hash(token: str, salt: str = "pepper") -> str:
    """Return Django's PBKDF2 hash of ``token``, with few rounds."""
    digest = hashlib.pbkdf2_hmac("sha256", token.encode(), salt.encode(), _ROUNDS)
    return f"pbkdf2_sha256${_ROUNDS}${salt}${base64.b64encode(digest).decode()}"


def add_permissions(platform: PlatformDatabase, *codenames: str) -> None:
    """Add permissions whose IDs begin with 1."""
    platform.add("django_content_type", id=1, app_label="app", model="app")
    platform.add_many(
        "permission_permission",
        [
            {"id": number, "codename": codename, "content_type_id": 1}
            for number, codename in enumerate(codenames, 1)
        ],
    )


def add_app(platform: PlatformDatabase, key: int, *permissions: int, **values: object) -> None:
    """Add an active app with the permissions of these IDs."""
    row = {
        "name": f"App {key}",
        "type": "local",
        "is_active": True,
        "is_installed": True,
        "created_at": CREATED,
    }
    platform.add("app_app", id=key, **{**row, **values})
    platform.add_many(
        "app_app_permissions", [{"app_id": key, "permission_id": each} for each in permissions]
    )


def add_token(
    platform: PlatformDatabase, key: int, app: int, token: str = TOKEN, **values: object
) -> None:
    """Add a token of an app."""
    row = {"name": "Default", "auth_token": django_hash(token), "token_last_4": token[-4:]}
    platform.add("app_apptoken", id=key, app_id=app, **{**row, **values})


def add_webhook(
    platform: PlatformDatabase, key: int, app: int, *events: str, **values: object
) -> None:
    """Add an active webhook of an app with these events."""
    row = {
        "name": f"Webhook {key}",
        "target_url": f"https://app.example.com/hook/{key}",
        "is_active": True,
    }
    platform.add("webhook_webhook", id=key, app_id=app, **{**row, **values})
    platform.add_many(
        "webhook_webhookevent", [{"webhook_id": key, "event_type": event} for event in events]
    )
