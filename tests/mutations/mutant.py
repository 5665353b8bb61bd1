"""A mutant."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule, the line that keeps it, the same line broken, and the tests of the rule.

    ``original`` stands exactly once in ``file`` (``tests/house/test_mutants.py``); ``tests`` are
    paths below ``tests``, with blanks between.
    """

    rule: str
    file: str
    original: str
    mutated: str
    tests: str
