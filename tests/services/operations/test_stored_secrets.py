"""Changing SECRET_KEY: former keys read what they encrypted until it is encrypted anew."""

import ast
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import JSON, Column, create_engine, insert, select
from typing_extensions import override

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.adapters.keys.signing_keys import RsaKeyStore
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR
from app.domain.values.installation import CheckResult, CheckState, KeyUnreadable
from app.ports import Ports, ProcessCache
from app.services.keys import ring
from app.services.operations import stored_secrets
from app.services.operations.health_checks import require_ready, run_checks
from app.services.operations.stored_secrets import (
    SECRET_COLUMNS,
    SecretColumn,
    count_secrets,
    reseal_secrets,
)
from app.services.webhooks.stored_webhooks import encrypted_headers
from tests.fakes.clock import FakeClock
from tests.fakes.keys import SECRET, ReadyKeyStore
from tests.fixtures.ports import fake_ports
from tests.house.sources import ROOT

NEW = "the new secret key of this installation"
ROWS = 3
ENCRYPTING = {
    "app/adapters/keys/signing_keys.py": {"private_key"},
    "app/services/accounts/authenticator_apps.py": {"secret", "pending_secret"},
    "app/services/submissions.py": {"encrypted_answer", "encrypted_secret"},
    "app/services/imports/export_writing.py": {"client_secret", "secret"},
    "app/services/imports/providers.py": {"client_secret"},
    "app/services/outbox/publisher.py": {"payload", "sealed"},
    "app/services/sign_in/email_codes.py": {"sealed"},
    "app/services/sign_in/sessions.py": {"provider_refresh_token"},
    "app/services/single_sign_on/sign_in.py": {"sealed"},
    "app/services/single_sign_on/provider_settings.py": {"client_secret"},
    "app/services/webhooks/stored_webhooks.py": {"secret", "old_secret"},
}
"""The modules that encrypt, and the columns that they fill."""


def with_keys(ports: Ports, secret_key: str, *former: str) -> Ports:
    """Return the ports of a process that was started with these keys."""
    return replace(
        ports,
        clock=SystemClock(),
        encryption=AesEncryption(secret_key, former),
        keys=RsaKeyStore(secret_key, "", former),
        cache=ProcessCache(),
    )


def sample(column: Column[Any], number: int) -> object:
    kind = column.type.python_type
    if kind in (str, int):
        return f"{column.name}{number}"[-32:] if kind is str else 1000 + number
    if isinstance(column.type, JSON):
        return {}
    return False if kind is bool else SystemClock().now() + timedelta(days=1)


def rows_with_a_secret(ports: Ports, column: SecretColumn) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number in range(ROWS):
        # A webhook has two secrets, each in rows of its own.
        place = 10 * SECRET_COLUMNS.index(column) + number
        row = {
            part.name: sample(part, place)
            for part in column.column.class_.__table__.columns
            if not part.nullable and part.server_default is None
        }
        purpose = column.purposes(str(row.get("token", row.get("user_id"))))[
            number % len(column.purposes(""))
        ]
        secret = ports.encryption.encrypt(purpose, f"secret {number}")
        row |= {column.column.key: column.prefix + secret}
        if column.column.class_ is models.Webhook:
            row["custom_headers"] = encrypted_headers(ports, {"X-Key": f"header {number}"})
        rows.append(row)
    return rows


@pytest.fixture
def first(sqlite_url: str, clock: FakeClock) -> Ports:
    """Return ports of a shop with secrets in every column, encrypted with the first key."""
    made = with_keys(fake_ports(sqlite_url, clock), SECRET)
    ring(replace(made, keys=ReadyKeyStore()))
    engine = create_engine(sqlite_url)  # without foreign keys
    with engine.begin() as connection:
        for column in SECRET_COLUMNS:
            if column.column.class_ is not models.SigningKey:
                table = column.column.class_.__table__
                connection.execute(insert(table), rows_with_a_secret(made, column))
    engine.dispose()
    return made


def stored(ports: Ports) -> list[object]:
    with ports.database.reading() as session:
        columns = (*(column.column for column in SECRET_COLUMNS), models.Webhook.custom_headers)
        return [session.scalars(select(column)).all() for column in columns]


def finding(ports: Ports) -> CheckResult:
    [found] = [row for row in run_checks(ports, OPERATOR) if row.subject == "stored secrets"]
    return found


def test_every_module_that_encrypts_is_covered() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        if path.name != "encryption.py"
        for text in [path.read_text()]
        if "encryption.encrypt(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("encryption.encrypt")
    }
    assert found == set(ENCRYPTING)
    columns = {column.column.key for column in SECRET_COLUMNS}
    assert columns == {name for names in ENCRYPTING.values() for name in names}


def test_former_keys_read_until_everything_is_encrypted_anew(first: Ports) -> None:
    both = with_keys(first, NEW, SECRET)
    require_ready(both, OPERATOR)
    outdated = finding(both)
    assert (outdated.state, outdated.remedy) == (CheckState.WARNING, "Run `flask keys reseal`.")
    assert f"webhook secrets: {ROWS}" in outdated.message

    counts = reseal_secrets(both, OPERATOR)
    assert all(count.checked == count.resealed > 0 == count.unreadable for count in counts)
    assert finding(both).state is CheckState.FINE
    assert "Remove SECRET_KEY_FALLBACKS" in finding(both).remedy

    alone = with_keys(first, NEW)
    require_ready(alone, OPERATOR)
    assert not any(count.resealed or count.unreadable for count in count_secrets(alone, OPERATOR))
    with pytest.raises(KeyUnreadable):
        require_ready(with_keys(first, SECRET), OPERATOR)


def test_secrets_without_their_key_are_reported_and_kept(first: Ports) -> None:
    alone, before = with_keys(first, NEW), stored(first)
    with pytest.raises(KeyUnreadable, match="SECRET_KEY_FALLBACKS"):
        require_ready(alone, OPERATOR)
    lost = finding(alone)
    assert lost.state is CheckState.FAILED
    assert f"webhook secrets: {ROWS}" in lost.message
    assert all(count.unreadable for count in reseal_secrets(alone, OPERATOR))
    assert stored(first) == before


@pytest.mark.first
def test_reseal_continues_after_an_interruption(
    first: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_secrets, "_BATCH", 2)
    both = with_keys(first, NEW, SECRET)

    class Interrupted(AesEncryption):
        left = 12

        @override
        def reseal(self, purpose: str, encrypted: str) -> str | None:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().reseal(purpose, encrypted)

    with pytest.raises(KeyboardInterrupt):
        reseal_secrets(replace(both, encryption=Interrupted(NEW, [SECRET])), OPERATOR)
    waiting = sum(count.resealed for count in count_secrets(both, OPERATOR))
    total = sum(count.checked for count in count_secrets(both, OPERATOR))
    assert 0 < waiting < total
    assert sum(count.resealed for count in reseal_secrets(both, OPERATOR)) == waiting
    require_ready(with_keys(first, NEW), OPERATOR)


def test_keys_are_encrypted_anew_on_each_database(ports: Ports) -> None:
    ring(replace(with_keys(ports, SECRET), keys=ReadyKeyStore()))
    counts = reseal_secrets(with_keys(ports, NEW, SECRET), OPERATOR)
    assert [(count.name, count.resealed) for count in counts if count.checked] == [
        ("signing keys", 2)
    ]
    require_ready(with_keys(ports, NEW), OPERATOR)
