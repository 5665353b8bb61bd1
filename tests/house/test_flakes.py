"""``make flakes`` runs the tests that depend on time, and those alone."""

import pytest

from tests.flakes.timed import timed_tests

pytestmark = pytest.mark.xdist_group("sources")


@pytest.mark.first
def test_tests_with_threads_clocks_and_processes_are_chosen() -> None:
    chosen = timed_tests()
    assert 100 < len(chosen) < 600
    assert (
        "tests/adapters/test_deferred.py::test_threads_that_come_at_once_get_one_adapter" in chosen
    )
    assert not [test for test in chosen if test.startswith("tests/house/test_flakes.py")]
    # Those of other files need packages that only a target of their own installs.
    assert [test for test in chosen if "/test_" not in test.partition("::")[0]] == []
