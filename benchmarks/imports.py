"""How long the import of a million people takes, and its memory, on both databases."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from app.adapters.database.migrations import upgrade
from tests.imports.platform import PlatformDatabase, platform_database
from tests.servers.run import server_url, shared_directory

PEOPLE = 1_000_000
GOAL = 600.0
"""Seconds that the import of a million people may take on two cores."""

_STAFF_EVERY, _GROUPS = 100, 50
_HASH = (
    "pbkdf2_sha256$1000000$abcdefghijklmnopqrstuv$'||encode(sha256(n::text::bytea),'base64')||'"
)
_FILL = f"""
INSERT INTO django_content_type (id, app_label, model) VALUES (1, 'account', 'user');
INSERT INTO permission_permission (id, name, content_type_id, codename)
  VALUES (1, '', 1, 'manage_users'), (2, '', 1, 'manage_orders'), (3, '', 1, 'manage_products');
INSERT INTO account_group (id, name, restricted_access_to_channels)
  SELECT n, 'Group ' || n, false FROM generate_series(1, {_GROUPS}) n;
INSERT INTO account_group_permissions (id, group_id, permission_id)
  SELECT n, n, n % 3 + 1 FROM generate_series(1, {_GROUPS}) n;
INSERT INTO account_user (id, email, password, first_name, last_name, is_staff, is_active,
  is_superuser, is_confirmed, date_joined, updated_at, last_login, metadata, private_metadata,
  jwt_token_key, language_code, search_document, uuid, number_of_orders, note)
  SELECT n, 'Person' || n || '@crowd' || n % 5000 || '.example', '{_HASH}',
  'First' || n % 4999, 'Last' || n % 9973, n % {_STAFF_EVERY} = 0, n % 50 <> 1, false, true,
  now() - n * interval '1 minute', now(), now(), '{{"size": "m"}}', '{{}}', '', 'en', '',
  gen_random_uuid(), 0, ''
  FROM generate_series(1, {{people}}) n;
INSERT INTO account_user_groups (id, user_id, group_id)
  SELECT n, n * {_STAFF_EVERY}, n % {_GROUPS} + 1
  FROM generate_series(1, {{people}} / {_STAFF_EVERY}) n;
CREATE INDEX ON account_user_groups (user_id);
CREATE INDEX ON account_user_user_permissions (user_id);
CREATE INDEX ON account_group_permissions (group_id);
ANALYZE;
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run took; ``memory`` is the most that it held, in MiB."""

    seconds: float
    processor: float
    memory: float


def main() -> None:
    """Import a million people into each database, twice: the second run finds them unchanged."""
    slowest = max(each.seconds for each in measure(PEOPLE))
    sys.stdout.write(f"goal {GOAL:.0f} s: {'met' if slowest < GOAL else 'MISSED'}\n")
    sys.exit(slowest >= GOAL)


def measure(people: int) -> list[Measured]:
    """Import ``people`` people; print and return what each run took."""
    measured = []
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        with platform_database(server, "platform_bench") as source:
            with psycopg.connect(source.url) as connection:
                connection.execute(_FILL.replace("{people}", str(people)).encode())
            for kind in ("sqlite", "postgresql"):
                with empty_database(server, kind) as url:
                    for which in ("first", "second"):
                        found = _import(source, url)
                        sys.stdout.write(
                            f"{kind:10} {people:,} people, {which} run: {found.seconds:.0f} s "
                            f"({found.processor:.0f} s of a core), {found.memory:.0f} MiB\n"
                        )
                        sys.stdout.flush()
                        measured.append(found)
    return measured


@contextmanager
def empty_database(server: str, kind: str) -> Iterator[str]:
    """Yield the URL of a new database of ``kind``; ``server`` is PostgreSQL's."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/shop.sqlite3"
            upgrade(url)
            yield url
        return
    name = sql.Identifier("import_bench")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(name))
        url = server.replace("/postgres?", "/import_bench?")
        try:
            upgrade(url)
            yield url
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def _import(source: PlatformDatabase, target: str) -> Measured:
    environment = {
        "DATABASE_URL": target,
        "SECRET_KEY": "a key of the benchmark alone, long enough",
        "PLATFORM_DATABASE_URL": source.url,
    }
    program = Path(sys.executable).with_name("flask")
    root = Path(__file__).parents[1]
    started = time.perf_counter()
    process = subprocess.Popen(
        [program, "import", "platform", "--json"],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"the import ended with {status}")
    seconds = time.perf_counter() - started
    processor = usage.ru_utime + usage.ru_stime
    return Measured(seconds, processor, usage.ru_maxrss / 1024)
