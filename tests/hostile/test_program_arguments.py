"""Passwords in the arguments of programs, which every account of the machine can see."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.adapters.database.backups import PostgresqlBackups
from app.domain.values.installation import BackupFailed
from app.ports.database import BackupFacts, BackupLock

FACTS = BackupFacts("1.0", "0001", "postgresql", datetime(2026, 1, 1, tzinfo=UTC), "")


@pytest.mark.parametrize(
    "url",
    ["postgresql://shop:geh:eim@db/shop", "postgresql://shop@db/shop?password=geh:eim"],
    ids=["before the host", "as a parameter"],
)
def test_backup_passes_the_password_in_a_file(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pg_dump"
    program.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$@" > {tmp_path}/arguments
cat "$(printf %s "$*" | sed 's/.*passfile=//; s/ .*//; s/%2F/\\//g')" > {tmp_path}/password
exit 1
"""
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(BackupFailed, match="pg_dump failed"):
        PostgresqlBackups(url).write(tmp_path / "file", FACTS, BackupLock("passphrase"))
    arguments = (tmp_path / "arguments").read_text()
    assert "postgresql://shop@db/shop?passfile=" in arguments
    assert "eim" not in arguments
    assert (tmp_path / "password").read_text() == "*:*:*:*:geh\\:eim\n"
