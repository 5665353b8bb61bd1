"""Calls every command with random arguments, in this process, on its own shop."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.testing import Result
from flask import Flask
from hypothesis import strategies as st

import cli
from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect, make_installation
from app.domain.authorization.actor import OPERATOR
from app.services.demo.shop import fill_shop
from app.web.installation import install
from benchmarks.fuzz.findings import Attempt, Findings
from benchmarks.fuzz.shop import SECRET
from benchmarks.fuzz.values import encodable, numbers, texts
from docs.commands import entries

_OUT = {
    # They run until Ctrl-C, start processes, write source files, or contact other instances.
    *("serve", "worker", "demo", "login", "db revision", "webhook listen", "webhook events")
}
_OUT_OPTIONS = {"instance", "follow", "token"}
_TIMEOUT_SECONDS = 20


class TooSlow(Exception):
    """A command exceeded the timeout."""


class Commands:
    """``flask …`` with any words behind it; an error that no command foresees is a fault."""

    name = "commands"

    def __init__(self, findings: Findings, folder: Path) -> None:
        self._findings = findings
        self._folder = folder / "shell"
        self._folder.mkdir()
        (self._folder / "file").write_text('{"name": "fuzz"}')
        url = f"sqlite:///{self._folder / 'shop.sqlite3'}"
        upgrade(url)
        settings = Settings(database_url=url, secret_key=SECRET)
        ports = connect(settings)
        fill_shop(ports, OPERATOR, lambda _made: None)
        self._app = Flask("app")
        cli.register(self._app)
        install(self._app, make_installation(ports, settings))
        commands = [
            (entry.path, entry.command)
            for entry in entries()
            if not isinstance(entry.command, click.Group) and " ".join(entry.path) not in _OUT
        ]
        self.strategy = st.tuples(
            st.sampled_from(commands).flatmap(_command_lines), st.one_of(st.just(""), texts)
        )

    def attempt(self, seed: int, example: tuple[list[str], str]) -> None:
        words, typed = example
        attempt = Attempt(self.name, seed, {"words": words, "typed": typed})
        started_at = time.perf_counter()
        try:
            with _below(self._folder), _within(_TIMEOUT_SECONDS):
                result = self._run(words, typed)
        except TooSlow:
            self._findings.fault(attempt, f"flask {words[0]} takes more than {_TIMEOUT_SECONDS} s")
            return
        self._findings.count(
            attempt, time.perf_counter() - started_at, f"flask {' '.join(words)[:100]}"
        )
        error = result.exception
        if error is not None and not isinstance(error, SystemExit):
            kind = f"{type(error).__name__}: {str(error)[:150]}"
            self._findings.fault(attempt, kind, output=result.output[-5_000:])

    def _run(self, words: list[str], typed: str) -> Result:
        runner = self._app.test_cli_runner()
        return runner.invoke(args=words, input=typed.encode(errors="replace"))


def _command_lines(entry: tuple[tuple[str, ...], click.Command]) -> st.SearchStrategy[list[str]]:
    path, command = entry
    parts = [
        _words_of(parameter)
        for parameter in command.params
        if not _OUT_OPTIONS & {parameter.name or ""}
    ]
    return st.tuples(*parts).map(
        lambda given: [*path, *(word.replace("\0", "") for part in given for word in part)]
    )


def _words_of(parameter: click.Parameter) -> st.SearchStrategy[list[str]]:
    """A strategy: no value, or the parameter with one or two values."""
    value = _value_of(parameter.type)
    if isinstance(parameter, click.Argument):
        given = st.lists(value, min_size=1, max_size=3 if parameter.nargs != 1 else 1)
        return st.one_of(given, given, given, st.just([])).map(lambda found: [*found])
    names = st.sampled_from([*parameter.opts, *parameter.secondary_opts])
    if getattr(parameter, "is_flag", False):
        return st.one_of(st.just([]), st.just([]), names.map(lambda name: [name]))
    whole: st.SearchStrategy[list[str]] = st.builds(lambda name, text: [name, text], names, value)
    twice = st.builds(lambda one, other: [*one, *other], whole, whole)
    return st.one_of(st.just([]), st.just([]), whole, twice)


def _value_of(kind: click.ParamType[Any]) -> st.SearchStrategy[str]:
    words = ["-", "@file", "@missing", "@-", "file", "--", "1", "\udcff"]
    odd = st.one_of(encodable, st.sampled_from(words))
    odd = odd.filter(lambda text: not text.startswith(("/", "..")))
    choices: Any = getattr(kind, "choices", None)
    if choices:
        return st.one_of(st.sampled_from([str(one) for one in choices]), odd)
    if "int" in kind.name:
        return st.one_of(numbers.map(str), odd)
    return odd


@contextmanager
def _below(folder: Path) -> Iterator[None]:
    """A folder for whatever a command writes."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
