"""Apps and their tokens."""

from app.domain.app_tokens import RANDOM_LENGTH, digest_of, last_four, make_app_token
from app.domain.permissions import Permission
from app.models import AppPermissionRecord, AppRecord, AppTokenRecord
from app.ports import Ports


def make_app(
    ports: Ports, name: str = "an app", *permissions: Permission, is_active: bool = True
) -> tuple[int, str]:
    """Store an app with one token; returns its key and the token."""
    token = make_app_token(ports.randomness.token(RANDOM_LENGTH))
    now = ports.clock.now()
    with ports.database.transaction() as session:
        app = AppRecord(name=name, is_active=is_active, created_at=now)
        session.add(app)
        session.flush()
        session.add_all(
            AppPermissionRecord(app_id=app.id, permission=permission.value)
            for permission in permissions
        )
        session.add(
            AppTokenRecord(
                app_id=app.id,
                digest=digest_of(token),
                last_four=last_four(token),
                created_at=now,
            )
        )
        return app.id, token
