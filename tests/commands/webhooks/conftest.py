"""Both shops, put back before each test; one of them answers from a thread of the worker."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.composition.factory import create_app
from tests.builders.remote_instances import make_remote_access
from tests.commands.webhooks.paired_shops import (
    Shops,
    connect_shop,
    furnish,
    settings_of,
    token_of,
)
from tests.fixtures.flask_app import served


@pytest.fixture(scope="session")
def _both_shops(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Iterator[Shops]:
    folder = tmp_path_factory.mktemp("shops")
    origin = folder / "origin.sqlite3"
    shutil.copy(_migrated_file, origin)
    first = connect_shop(origin)
    furnish(first)
    token = token_of(first)
    first.database.close()
    files = folder / "here.sqlite3", folder / "there.sqlite3"
    for file in files:
        shutil.copy(origin, file)
    local, remote = map(connect_shop, files)
    with served(create_app(remote, settings_of(files[1]))) as server:
        remote_access = make_remote_access(folder / "config", token=token)
        yield Shops(local, remote, files, origin, server.url("/graphql/"), remote_access)
    local.database.close()
    remote.database.close()


@pytest.fixture
def shops(_both_shops: Shops, tmp_path: Path) -> Shops:
    """Two shops alike, the one there for somebody who may do everything."""
    _both_shops.put_back()
    remote_access = make_remote_access(tmp_path / "config", token=_both_shops.remote_access.token)
    return replace(_both_shops, remote_access=remote_access)
