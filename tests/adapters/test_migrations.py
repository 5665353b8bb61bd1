"""The migrations make the tables that the records describe, and take the data along."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, make_url, text
from sqlalchemy.pool import NullPool

from app.adapters.database import migrations
from app.adapters.database.engines import SchemaRevisions, connection_to
from app.adapters.keys.encryption import AesEncryption
from app.domain.keys import WEBHOOK_HEADER
from app.models.record import RETIRED_COLUMNS, complete_metadata
from app.ports.database import UpgradeProgress, UpgradeRows, UpgradeStep

pytestmark = [pytest.mark.first, pytest.mark.both_databases]

MIGRATIONS = "migrations"
ENCRYPTION = AesEncryption("a secret key")
HEADERS = '{"Authorization": "Bearer sesame", "X-Region": "eu"}'
FILLED = (
    *("delivery_attempts", "deliveries", "webhook_words", "webhooks", "app_words", "apps"),
    *("sessions", "external_identities", "addresses", "user_words", "users"),
)
"""Tables with rows of these tests; those that refer to others come first."""

TRUSTED = {1: (False, False), 2: (True, False), 3: (False, True)}
"""Whether each account is confirmed, and staff; it has a verified and an unverified identity."""

DELIVERY_WITH_A_LINK = """
INSERT INTO apps (id, name, created_at) VALUES (1, 'App', '2026-03-01 12:00:00');
INSERT INTO webhooks (id, app_id, name, target_url, custom_headers, created_at)
  VALUES (1, 1, 'Hook', 'https://app.example', '{}', '2026-03-01 12:00:00');
INSERT INTO deliveries
  (id, webhook_id, event, subject_id, message_id, payload, issuer, status, created_at)
  VALUES (1, 1, 'ACCOUNT_CONFIRMATION_REQUESTED', 1, 'm', '', '', 'SUCCESS',
    '2026-03-01 12:00:00')
"""
ANSWER_WITH_A_LINK = text("""
INSERT INTO delivery_attempts
  (id, delivery_id, created_at, duration, status, request_headers, response_status,
    response_headers, response)
  VALUES (:key, 1, '2026-03-01 12:00:00', 1, 'SUCCESS', '{}', 200, '{}', 'link')
""")


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    url = make_url(empty_database_url)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    made = create_engine(url, poolclass=NullPool)
    yield made
    made.dispose()


def migrate(engine: Engine, revision: str) -> None:
    with engine.connect() as connection:
        command.upgrade(configured(connection), revision)
        connection.commit()


def downgrade(engine: Engine, revision: str) -> None:
    """Go back to a revision, without rows of people and apps."""
    with engine.begin() as connection:
        for table in [name for name in FILLED if name in inspect(connection).get_table_names()]:
            connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608
        command.downgrade(configured(connection), revision)


def configured(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.attributes |= {"connection": connection, "encrypt": ENCRYPTION.encrypt}
    return config


def test_migrations_keep_what_is_stored_match_the_models_and_can_be_downgraded(
    empty_database_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One walk up and down, as each takes a second, and a step up again for each change.

    On the way up there are rows of an app, whose answers are changed in batches.
    """
    newest = ScriptDirectory(MIGRATIONS).get_current_head()
    revisions = SchemaRevisions(empty_database_url)
    assert revisions.newest() == newest
    assert revisions.current() is None
    migrate(engine, "0001_main_job")
    assert revisions.current() == "0001_main_job"
    migrate(engine, "0021_delivery_searches")
    add_answers_with_links(engine)
    monkeypatch.setattr(migrations, "BATCH", 10)
    assert_reported(empty_database_url)
    assert revisions.current() == newest
    assert_answers_forgotten(engine)
    assert_tables_match(engine)
    for before, after, change in CHANGES:
        downgrade(engine, before)
        with change(engine):
            migrate(engine, after)
    downgrade(engine, "base")
    with engine.begin() as connection:
        left = set(engine.dialect.get_table_names(connection)) - {"alembic_version"}
    assert left == set()
    if engine.dialect.name == "postgresql":
        # Types, sequences and functions of its own might be left there, and be in the way.
        migrate(engine, "head")


def add_answers_with_links(engine: Engine) -> None:
    with engine.begin() as connection:
        for statement in DELIVERY_WITH_A_LINK.split(";"):
            connection.exec_driver_sql(statement)
        for key in range(1, 26):
            connection.execute(ANSWER_WITH_A_LINK, {"key": key})


def assert_reported(url: str) -> None:
    """An upgrade reports each of its steps, and how far it is with a large table."""
    reported: list[UpgradeProgress] = []
    count = migrations.upgrade(url, reported.append, encrypt=ENCRYPTION.encrypt)
    steps = [progress for progress in reported if isinstance(progress, UpgradeStep)]
    assert [step.number for step in steps] == list(range(1, count + 1))
    rows = [progress for progress in reported if isinstance(progress, UpgradeRows)]
    assert [progress.done for progress in rows] == [10, 20, 25]


def assert_answers_forgotten(engine: Engine) -> None:
    with engine.begin() as connection:
        found = connection.scalars(text("SELECT DISTINCT response FROM delivery_attempts")).all()
    assert [str(answer)[:12] for answer in found] == ["(not stored:"]


def assert_tables_match(engine: Engine) -> None:
    """The tables are those of the models, but for what an older release still needs."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, complete_metadata())
    retired = {
        (difference[2], difference[3].name)
        for difference in differences
        if difference[0] == "remove_column"
    }
    assert len(retired) == len(differences), differences
    assert retired == RETIRED_COLUMNS


def test_new_revision_has_the_style_that_is_checked(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy("pyproject.toml", tmp_path)
    with connection_to(sqlite_url) as connection:
        connection.execute(text("ALTER TABLE shop DROP COLUMN customer_set_password_url"))
        connection.execute(text("DROP TABLE password_guesses"))
    monkeypatch.setattr(migrations, "SCRIPTS", scripts)
    migrations.make_revision(sqlite_url, "Lost column and table", "9999_lost")
    written = scripts / "versions" / "9999_lost.py"
    assert "customer_set_password_url" in written.read_text()
    assert 'op.create_table(\n        "password_guesses"' in written.read_text()
    for check in (["check"], ["format", "--check"]):
        command_line = [sys.executable, "-m", "ruff", *check, "migrations/versions/9999_lost.py"]
        done = subprocess.run(
            command_line, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


@contextmanager
def search_words_of_people(engine: Engine) -> Iterator[None]:
    with engine.begin() as connection:
        for key, is_staff in ((1, False), (2, True)):
            connection.execute(
                text(
                    "INSERT INTO users (id, email, first_name, last_name, is_staff, date_joined,"
                    " updated_at) VALUES (:key, :email, 'Ánna', 'Berg', :is_staff,"
                    " '2026-03-01 12:00:00', '2026-03-01 12:00:00')"
                ),
                {"key": key, "email": f"{key}@example.com", "is_staff": is_staff},
            )
    yield
    with engine.begin() as connection:
        words = connection.execute(
            text("SELECT user_id, word, is_staff FROM user_words ORDER BY user_id, word")
        ).all()
    assert [(key, word, bool(is_staff)) for key, word, is_staff in words] == [
        (1, "1@example.com", False),
        (1, "anna", False),
        (1, "berg", False),
        (1, "example.com", False),
        (2, "2@example.com", True),
        (2, "anna", True),
        (2, "berg", True),
        (2, "example.com", True),
    ]


def add_app_with_webhooks(connection: Connection, *webhooks: tuple[str, str]) -> None:
    """Add an app with webhooks, of which each has its URL and its headers."""
    at = "2026-03-01 12:00:00"
    connection.execute(
        text("INSERT INTO apps (id, name, created_at) VALUES (1, 'Parcelpost Läbels', :at)"),
        {"at": at},
    )
    for key, (url, headers) in enumerate(webhooks, 1):
        connection.execute(
            text(
                "INSERT INTO webhooks (id, app_id, name, target_url, custom_headers, created_at)"
                " VALUES (:key, 1, 'Feed', :url, :headers, :at)"
            ),
            {"key": key, "url": url, "headers": headers, "at": at},
        )


@contextmanager
def search_words_of_apps_and_webhooks(engine: Engine) -> Iterator[None]:
    with engine.begin() as connection:
        urls = ("https://parcels.example/hook", "https://[")
        add_app_with_webhooks(connection, *((url, "{}") for url in urls))
    yield
    with engine.begin() as connection:
        apps = connection.execute(text("SELECT word FROM app_words ORDER BY word")).scalars().all()
        webhooks = connection.execute(
            text("SELECT webhook_id, word FROM webhook_words ORDER BY webhook_id, word")
        ).all()
    assert apps == ["labels", "parcelpost"]
    assert [tuple(row) for row in webhooks] == [
        (1, "example"),
        (1, "feed"),
        (1, "parcels.example"),
        (2, "feed"),
    ]


@contextmanager
def decoded_emails_but_for_twins(engine: Engine) -> Iterator[None]:
    stored = {
        1: "anna@bücher.example",
        2: "anna@xn--bcher-kva.example",
        3: "bob@xn--mnchen-3ya.example",
        4: "xn--bcher-kva@example.com",
    }
    with engine.begin() as connection:
        for key, email in stored.items():
            connection.execute(
                text(
                    "INSERT INTO users (id, email, first_name, last_name, is_staff, date_joined,"
                    " updated_at) VALUES (:key, :email, 'Jo', '', false,"
                    " '2026-03-01 12:00:00', '2026-03-01 12:00:00')"
                ),
                {"key": key, "email": email},
            )
    yield
    with engine.begin() as connection:
        emails = connection.execute(text("SELECT id, email FROM users ORDER BY id")).all()
        words = connection.scalars(text("SELECT word FROM user_words WHERE user_id = 3")).all()
    assert dict(map(tuple, emails)) == stored | {3: "bob@münchen.example"}
    assert set(words) == {"bob@munchen.example", "munchen.example", "jo"}


@contextmanager
def search_words_of_addresses(engine: Engine) -> Iterator[None]:
    with engine.begin() as connection:
        for key in (1, 2, 3):
            connection.execute(
                text(
                    "INSERT INTO users (id, email, first_name, last_name, is_staff, date_joined,"
                    " updated_at) VALUES (:key, :email, 'Jo', '', :is_staff,"
                    " '2026-03-01 12:00:00', '2026-03-01 12:00:00')"
                ),
                {"key": key, "email": f"{key}@example.com", "is_staff": key == 3},
            )
            connection.execute(
                text(
                    "INSERT INTO user_words (user_id, word, is_staff) VALUES (:key, 'jo', false)"
                ),
                {"key": key},
            )
        for key, owner, city in ((1, 2, "Gdańsk"), (2, 2, "Łódź"), (3, 3, "Joburg")):
            connection.execute(
                text(
                    "INSERT INTO addresses (id, user_id, city, country)"
                    " VALUES (:key, :owner, :city, 'PL')"
                ),
                {"key": key, "owner": owner, "city": city},
            )
    scripts = ScriptDirectory(MIGRATIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptDirectory, "from_config", lambda _config: scripts)
        patch.setattr(scripts.get_revision("0057_address_words").module, "AT_ONCE", 1)
        yield
    words = text("SELECT user_id, word, is_staff FROM user_words ORDER BY user_id, word")
    with engine.begin() as connection:
        found = [(key, word, bool(staff)) for key, word, staff in connection.execute(words)]
    assert found == [
        (1, "jo", False),
        *((2, word, False) for word in ("2@example.com", "example.com", "gdansk", "jo")),
        *((2, word, False) for word in ("pl", "poland", "łodz")),
        *((3, word, True) for word in ("3@example.com", "example.com", "joburg")),
        *((3, word, True) for word in ("pl", "poland")),
    ]
    with engine.begin() as connection:
        command.downgrade(configured(connection), "0056_webhook_headers")
        left = [(key, word) for key, word, _ in connection.execute(words)]
    assert left == [
        (1, "jo"),
        *((2, word) for word in ("2@example.com", "example.com", "jo")),
        *((3, word) for word in ("3@example.com", "example.com", "jo")),
    ]


@contextmanager
def unverified_identities_of_trusted_accounts(engine: Engine) -> Iterator[None]:
    """They are removed, with their sessions, but from staff whom a provider's scopes make."""
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE identity_providers SET use_oauth_scope_permissions = true")
        )
        add_accounts_with_identities(connection)
    yield
    assert_identities_left(engine, [10, 11, 20, 30, 31])
    downgrade(engine, "0023_unique_keys")
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE identity_providers SET use_oauth_scope_permissions = false")
        )
        add_accounts_with_identities(connection)
    migrate(engine, "0024_trusted_emails")
    assert_identities_left(engine, [10, 11, 20, 30])


def add_accounts_with_identities(connection: Connection) -> None:
    user = text(
        "INSERT INTO users (id, email, first_name, last_name, is_active, is_superuser,"
        " is_confirmed, is_staff, date_joined, updated_at)"
        " VALUES (:id, :name, '', '', true, false, :confirmed,"
        " :staff, :at, :at)"
    )
    identity = text(
        "INSERT INTO external_identities (id, user_id, issuer, subject, is_verified, created_at)"
        " VALUES (:id, :user, 'i', :name, :verified, :at)"
    )
    session = text(
        "INSERT INTO sessions (token, user_id, origin, created_at, expires_at, identity_id)"
        " VALUES (:name, :user, 'oidc', :at, :at, :id)"
    )
    at = "2026-01-01 00:00:00"
    for key, (confirmed, staff) in TRUSTED.items():
        row = {"id": key, "name": str(key), "confirmed": confirmed, "staff": staff, "at": at}
        connection.execute(user, row)
        for place, verified in ((key * 10, True), (key * 10 + 1, False)):
            row = {"id": place, "name": str(place), "user": key, "verified": verified, "at": at}
            connection.execute(identity, row)
            connection.execute(session, row)


def assert_identities_left(engine: Engine, left: list[int]) -> None:
    with engine.begin() as connection:
        for query in (
            "SELECT id FROM external_identities ORDER BY id",
            "SELECT identity_id FROM sessions ORDER BY identity_id",
        ):
            assert list(connection.scalars(text(query))) == left, query


@contextmanager
def encrypted_headers_of_webhooks(engine: Engine) -> Iterator[None]:
    with engine.begin() as connection:
        url = "https://a.example"
        add_app_with_webhooks(connection, (url, HEADERS), (url, "{}"))
    yield
    with engine.begin() as connection:
        query = text("SELECT CAST(custom_headers AS TEXT) FROM webhooks ORDER BY id")
        stored, empty = connection.scalars(query)
    assert "sesame" not in stored
    assert empty == "{}"
    encrypted = json.loads(stored)["Authorization"]["encrypted"]
    assert ENCRYPTION.decrypt(WEBHOOK_HEADER, encrypted) == "Bearer sesame"


CHANGES = (
    ("0056_webhook_headers", "0057_address_words", search_words_of_addresses),
    ("0055_email_spellings", "0056_webhook_headers", encrypted_headers_of_webhooks),
    ("0054_form_answers", "0055_email_spellings", decoded_emails_but_for_twins),
    ("0023_unique_keys", "0024_trusted_emails", unverified_identities_of_trusted_accounts),
    ("0014_worker_pulse", "0015_words", search_words_of_apps_and_webhooks),
    ("0005_apps", "0006_lists", search_words_of_people),
)
"""Revisions before and after a migration, newest first, and what that does to rows."""
