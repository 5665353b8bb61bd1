"""Every security requirement names the tests that show it, and each of them exists."""

import re

import pytest

from docs.asvs import sections
from tests.house.sources import python_sources

pytestmark = pytest.mark.xdist_group("sources")

SECTIONS = (
    *(
        "Passwords",
        "Second factors",
        "Sessions",
        "Tokens",
        "Sign-in",
        "Single sign-on",
        "OpenID provider",
        "Apps",
        "GraphQL",
    ),
    *("Console", "Outgoing calls", "Secrets", "Audit log", "Supply", "Since the hostile review"),
)

TEST = re.compile(r"^def (test_\w+)\(", re.MULTILINE)

OAUTH_AND_OIDC = {1: 2, 2: 3, 3: 5, 4: 16, 5: 5, 6: 2, 7: 3}
"""How many requirements each section of ASVS 5.0's chapter 10 has."""


@pytest.fixture(scope="module")
def existing() -> set[str]:
    """The id of every test function in the project."""
    return {
        f"{source.path}::{name}"
        for source in python_sources()
        if source.path.startswith("tests/")
        for name in TEST.findall(source.text)
    }


def test_every_named_test_exists(existing: set[str]) -> None:
    named = {test for items in sections().values() for item in items for test in item.tests}
    assert sorted(named - existing) == [], "correct docs/security/asvs.toml, then run `make docs`"


def test_every_requirement_names_tests_or_a_gap() -> None:
    assert tuple(sections()) == SECTIONS
    unshown = [
        item.what
        for items in sections().values()
        for item in items
        if not (item.tests or item.missing)
    ]
    assert unshown == []


def test_chapter_on_oauth_and_oidc_is_complete() -> None:
    named = " ".join(item.reference for items in sections().values() for item in items)
    asked = [
        f"10.{section}.{number}"
        for section, count in OAUTH_AND_OIDC.items()
        for number in range(1, count + 1)
    ]
    assert [one for one in asked if not re.search(rf"\b{re.escape(one)}\b", named)] == []


def test_every_attack_is_listed(existing: set[str]) -> None:
    """A module of tests/hostile that shows no requirement is one that the page has forgotten."""
    named = {test for items in sections().values() for item in items for test in item.tests}
    attacks = {test.partition("::")[0] for test in existing if test.startswith("tests/hostile/")}
    forgotten = attacks - {test.partition("::")[0] for test in named}
    assert sorted(forgotten) == [], "name one of its tests in docs/security/asvs.toml"
