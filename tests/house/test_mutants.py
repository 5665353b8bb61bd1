"""The mutants of ``make mutations`` fit the code: each line is there, once, with tests."""

from tests.house.sources import ROOT
from tests.mutations.mutants import MUTANTS


def test_each_mutant_changes_one_existing_line() -> None:
    counts = {one: (ROOT / one.file).read_text().count(one.original) for one in MUTANTS}

    assert {f"{one.file}: {one.original}" for one, count in counts.items() if count != 1} == set()
    assert [one.rule for one in MUTANTS if one.original == one.mutated] == []


def test_each_mutant_names_tests_that_exist() -> None:
    named = {path for one in MUTANTS for path in one.tests.split()}

    assert {path for path in named if not (ROOT / "tests" / path).exists()} == set()
