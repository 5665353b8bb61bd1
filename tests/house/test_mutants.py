"""The mutants of ``make mutations`` fit the code: each line is there, once, with tests."""

from tests.house.sources import ROOT
from tests.mutations.mutants import MUTANTS


def test_each_mutant_changes_one_existing_line() -> None:
    counts = {
        mutant: (ROOT / mutant.file).read_text().count(mutant.original) for mutant in MUTANTS
    }

    assert {
        f"{mutant.file}: {mutant.original}" for mutant, count in counts.items() if count != 1
    } == set()
    assert [mutant.rule for mutant in MUTANTS if mutant.original == mutant.mutated] == []


def test_each_mutant_names_tests_that_exist() -> None:
    named = {path for mutant in MUTANTS for path in mutant.tests.split()}

    assert {path for path in named if not (ROOT / "tests" / path).exists()} == set()
