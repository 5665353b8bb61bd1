"""The migration that removes unverified identities of trusted accounts."""

import shutil
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from app.adapters.database import engines

pytestmark = pytest.mark.first

BEFORE, AFTER = "0023_unique_keys", "0024_trusted_emails"
ACCOUNTS = {1: (False, False), 2: (True, False), 3: (False, True)}
"""Whether each account is confirmed, and staff; it has a verified and an unverified identity."""


def _upgrade(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(engines.SCRIPTS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _fill(connection: Connection) -> None:
    user = text(
        "INSERT INTO users (id, email, first_name, last_name, is_active, is_superuser,"
        " is_confirmed, is_staff, date_joined, updated_at)"
        " VALUES (:id, :id, '', '', true, false, :confirmed,"
        " :staff, :at, :at)"
    )
    identity = text(
        "INSERT INTO external_identities (id, user_id, issuer, subject, is_verified, created_at)"
        " VALUES (:id, :user, 'i', :id, :verified, :at)"
    )
    session = text(
        "INSERT INTO sessions (token, user_id, origin, created_at, expires_at, identity_id)"
        " VALUES (:id, :user, 'oidc', :at, :at, :id)"
    )
    at = "2026-01-01 00:00:00"
    for key, (confirmed, staff) in ACCOUNTS.items():
        connection.execute(user, {"id": key, "confirmed": confirmed, "staff": staff, "at": at})
        for place, verified in ((key * 10, True), (key * 10 + 1, False)):
            row = {"id": place, "user": key, "verified": verified, "at": at}
            connection.execute(identity, row)
            connection.execute(session, row)


def test_upgrade_removes_unverified_identities_of_trusted_accounts(tmp_path: Path) -> None:
    former = tmp_path / "former.sqlite3"
    with engines.connection_to(f"sqlite:///{former}") as connection:
        _upgrade(connection, BEFORE)
        _fill(connection)
    for by_scopes, left in ((False, [10, 11, 20, 30]), (True, [10, 11, 20, 30, 31])):
        copy = shutil.copy(former, tmp_path / f"{by_scopes}.sqlite3")
        with engines.connection_to(f"sqlite:///{copy}") as connection:
            connection.execute(
                text("UPDATE identity_providers SET use_oauth_scope_permissions = :on"),
                {"on": by_scopes},
            )
            _upgrade(connection, AFTER)
            for query in (
                "SELECT id FROM external_identities ORDER BY id",
                "SELECT identity_id FROM sessions ORDER BY identity_id",
            ):
                assert list(connection.scalars(text(query))) == left, f"{by_scopes=}: {query}"
