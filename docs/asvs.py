"""The page of what OWASP ASVS 5.0 asks for, how it is met, and which tests show it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "security" / "asvs.toml"
_PAGE = """\
# Security requirements and their tests

Look up which security requirements are met, how, and the tests that show it.
The numbers are those of the OWASP Application Security Verification Standard
(ASVS) 5.0; RFC 8725 is about JSON Web Tokens, RFC 9700 about OAuth 2.0. Run one test with
`make test ARGS="-k NAME"`.

Printed from `docs/security/asvs.toml` by `make docs`. A test checks that every test named here
exists.

"""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement; ``missing`` says what of it isn't met, and why."""

    what: str
    reference: str
    how: str
    tests: tuple[str, ...]
    missing: str = ""


def sections() -> dict[str, list[Requirement]]:
    """Every requirement, by the section of the page that it is in."""
    read: dict[str, Any] = tomllib.loads(SOURCE.read_text())
    return {
        section["name"]: [
            Requirement(**{**item, "tests": tuple(item["tests"])}) for item in section["item"]
        ]
        for section in read["section"]
    }


def printed_requirements() -> str:
    """The page: what isn't met first, then a table for each section."""
    tables = sections()
    missing = [
        f"- **{one.what}.** {one.missing}"
        for items in tables.values()
        for one in items
        if one.missing
    ]
    pages = [_table(name, items) for name, items in tables.items()]
    return "\n".join([f"{_PAGE}## Not met, or in part\n", *missing, "", *pages])


def _table(name: str, items: list[Requirement]) -> str:
    rows = "".join(
        f"| {one.what} | {one.reference} | {one.how} | {_names(one.tests)} |\n" for one in items
    )
    head = "| Requirement | Reference | How it is met | Tests |\n|---|---|---|---|\n"
    return f"## {name}\n\n{head}{rows}"


def _names(tests: tuple[str, ...]) -> str:
    return "<br>".join(f"`{test}`" for test in tests)
