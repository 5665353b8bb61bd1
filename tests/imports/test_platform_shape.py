"""The builder of platform databases fills what a test leaves out."""

import psycopg
import pytest

from tests.imports.platform import PlatformDatabase


@pytest.mark.first
def test_blank_columns_are_filled(platform: PlatformDatabase) -> None:
    platform.add("account_user", id=7, email="ada@example.com", metadata={"a": "b"})
    with psycopg.connect(platform.url) as connection:
        row = connection.execute("SELECT id, email, note, metadata FROM account_user").fetchone()
    assert row == (7, "ada@example.com", None, {"a": "b"})
