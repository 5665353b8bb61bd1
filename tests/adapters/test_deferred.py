"""Adapters that are imported and made on first use."""

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier

import pytest

from app.adapters.deferred import deferred, imported_when_used


class Counter:
    made = 0

    def __init__(self) -> None:
        Counter.made += 1

    def own(self) -> "Counter":
        return self

    def __call__(self, number: int) -> int:
        return number + 1


def test_threads_that_come_at_once_get_one_adapter() -> None:
    before = Counter.made
    counter = deferred(Counter)
    assert Counter.made == before
    together = Barrier(8, timeout=30)

    def ask(_: int) -> Counter:
        together.wait()
        return counter.own()

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))
    assert len(found) == 1
    assert Counter.made == before + 1


def test_deferred_function_can_be_called() -> None:
    assert deferred(Counter)(2) == 3


def test_adapter_that_could_not_be_made_is_made_when_asked_again() -> None:
    failures = [ValueError("no key")]

    def make() -> Counter:
        if failures:
            raise failures.pop()
        return Counter()

    counter = deferred(make)
    with pytest.raises(ValueError, match="no key"):
        counter.own()
    assert counter.own() is counter.own()


def test_module_runs_once_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tmp_path / "ran"
    source = f"with open({str(ran)!r}, 'a') as file:\n    file.write('once')\nanswer = 42.0\n"
    (tmp_path / "heavy_adapter.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with imported_when_used():
        module = import_module("heavy_adapter")
    assert not ran.exists()
    number = deferred(lambda: module.answer)
    together = Barrier(8, timeout=30)

    def ask(_: int) -> bool:
        together.wait()
        return bool(number.is_integer())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(8)))
    assert ran.read_text() == "once"
    del sys.modules["heavy_adapter"]


def test_other_imports_stay_as_they_were() -> None:
    before = list(sys.meta_path)
    with pytest.raises(ModuleNotFoundError), imported_when_used():
        import_module("no_such_adapter")
    assert sys.meta_path == before
