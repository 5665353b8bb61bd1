"""The migration that encrypts custom headers of webhooks."""

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from app.adapters.database import migrations
from app.adapters.keys.encryption import AesEncryption
from app.domain.keys import WEBHOOK_HEADER
from tests.adapters.test_migrations import migrate

pytestmark = pytest.mark.first

BEFORE = "0055_email_spellings"
HEADERS = '{"Authorization": "Bearer sesame", "X-Region": "eu"}'


def test_upgrade_encrypts_headers_of_webhooks(empty_database_url: str) -> None:
    url = make_url(empty_database_url)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url, poolclass=NullPool)
    encryption = AesEncryption("a secret key")
    migrate(engine, BEFORE)
    with engine.begin() as connection:
        for number, headers in ((1, HEADERS), (2, "{}")):
            connection.execute(
                text("INSERT INTO apps (id, name, created_at) VALUES (:id, 'a', :at)"),
                {"id": number, "at": "2026-03-01 12:00:00"},
            )
            connection.execute(
                text(
                    "INSERT INTO webhooks (id, app_id, target_url, custom_headers, created_at)"
                    " VALUES (:id, :id, 'https://a.example', :headers, :at)"
                ),
                {"id": number, "headers": headers, "at": "2026-03-01 12:00:00"},
            )

    migrations.upgrade(empty_database_url, encrypt=encryption.encrypt)

    with engine.begin() as connection:
        query = text("SELECT CAST(custom_headers AS TEXT) FROM webhooks ORDER BY id")
        stored, empty = connection.scalars(query)
    assert "sesame" not in stored
    assert empty == "{}"
    assert AesEncryption("a secret key").decrypt(WEBHOOK_HEADER, _value(stored)) == "Bearer sesame"


def _value(stored: str) -> str:
    name, _, rest = stored.partition('"Authorization": {"encrypted": "')
    assert rest, name
    return rest.partition('"')[0]
