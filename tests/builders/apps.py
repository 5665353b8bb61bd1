"""Apps and their tokens."""

from base64 import b64encode
from hashlib import pbkdf2_hmac

from sqlalchemy import update

from app import models
from app.domain.apps.apps import (
    TOKEN_RANDOM_LENGTH,
    App,
    AppType,
    last_four,
    make_app_token,
    token_digest,
)
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.app_lists import show_app
from app.services.apps.extensions import extension_token_signer


def make_app(
    ports: Ports, name: str = "an app", *permissions: Permission, is_active: bool = True
) -> tuple[int, str]:
    """Store an app with one token; returns its key and the token."""
    token = make_app_token(ports.randomness.token(TOKEN_RANDOM_LENGTH))
    now = ports.clock.now()
    with ports.database.transaction() as session:
        app = models.App(name=name, is_active=is_active, created_at=now)
        session.add(app)
        session.flush()
        session.add_all(
            models.AppPermission(app_id=app.id, permission=permission.value)
            for permission in permissions
        )
        session.add(
            models.AppToken(
                app_id=app.id,
                digest=token_digest(token),
                last_four=last_four(token),
                created_at=now,
            )
        )
        return app.id, token


def link_client(ports: Ports, app_id: int, provider_id: int, client_id: str = "sync") -> int:
    """Link a client of that provider to the app; return the link's key."""
    with ports.database.transaction() as session:
        link = models.AppClient(
            app_id=app_id,
            provider_id=provider_id,
            issuer="https://login.invalid",
            client_id=client_id,
            subject=client_id,
            created_at=ports.clock.now(),
        )
        session.add(link)
        session.flush()
        return link.id


def make_extension_app(
    ports: Ports, name: str = "an extension", *permissions: Permission, **values: object
) -> App:
    """Store an app with a page in the dashboard; ``values`` are by the names of its columns."""
    app_id, _ = make_app(ports, name, *permissions)
    change_app(ports, app_id, type=AppType.THIRDPARTY.value, **values)
    return app_as_stored(ports, app_id)


def extension_token(ports: Ports, actor: Actor, app: App) -> str | None:
    """Return the token with which the app's page acts for ``actor``."""
    return extension_token_signer(ports, actor)(app)


def change_app(ports: Ports, app_id: int, **values: object) -> None:
    """Write ``values`` into an app's row, by the names of its columns."""
    with ports.database.transaction() as session:
        session.execute(update(models.App).where(models.App.id == app_id).values(**values))


def app_as_stored(ports: Ports, app_id: int) -> App:
    """Return an existing app."""
    found = show_app(ports, OPERATOR, app_id)
    assert found is not None
    return found


def import_token(ports: Ports, app_id: int, token: str, token_hash: str | None = None) -> int:
    """Store a token of an app as an import does, with its hash; returns the token's key."""
    token_hash = token_hash or ports.passwords.hash(token)
    with ports.database.transaction() as session:
        stored = models.AppToken(
            app_id=app_id,
            digest="imported-",
            last_four=last_four(token),
            created_at=ports.clock.now(),
            imported_hash=token_hash,
        )
        session.add(stored)
        session.flush()
        stored.digest = f"imported-{stored.id}"
        return stored.id


def django_hash(token: str, iterations: int = 1_000_000) -> str:
    """Hash a token as Django does by default."""
    salt = "aTruePinchOfSalt"
    digest = pbkdf2_hmac("sha256", token.encode(), salt.encode(), iterations)
    return f"pbkdf2_sha256${iterations}${salt}${b64encode(digest).decode()}"
