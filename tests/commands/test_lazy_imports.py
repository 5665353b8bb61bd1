"""Commands are imported when they are called, without garbage collections meanwhile."""

import gc
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.commands.terminal.command import LazyGroup

_MODULE = """
import gc

import click

collected = gc.isenabled()


@click.command()
def command():
    click.echo(f"{collected} {gc.isenabled()}")
"""


def test_command_is_imported_without_collections_and_runs_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_by_this_test.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    group = LazyGroup("group", lazy_subcommands={"one": "imported_by_this_test:command"})
    assert CliRunner().invoke(group, ["one"]).output == "False True\n"


def test_failed_import_leaves_collections_on() -> None:
    group = LazyGroup("group", lazy_subcommands={"one": "no_such_module:command"})
    failed = CliRunner().invoke(group, ["one"])
    assert isinstance(failed.exception, ModuleNotFoundError)
    assert gc.isenabled()
