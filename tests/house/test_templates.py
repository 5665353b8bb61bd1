"""Templates can be read by people: short lines, and no logic but a loop and an if."""

import re
from collections.abc import Iterator
from functools import cache

from jinja2 import Environment, nodes

from tests.fixtures.cases import cases
from tests.house.sources import ROOT

FOLDER = ROOT / "app" / "templates"
MAX_COLUMNS = 119
LOGIC = (nodes.Concat, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.Mod, nodes.Dict)
ATTRIBUTE = re.compile(r'[a-z0-9 ="-]+')


def test_templates_have_no_long_lines() -> None:
    long = [
        f"{path.relative_to(FOLDER)}:{number}"
        for path in sorted(FOLDER.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > MAX_COLUMNS
    ]
    assert long == []


def test_templates_have_only_loops_and_ifs() -> None:
    found = [
        f"{path.relative_to(FOLDER)}:{node.lineno}"
        for path in sorted(FOLDER.rglob("*.html"))
        for node in logic_in(path.read_text())
    ]
    assert found == []


@cases(
    "template",
    [
        '{{ name ~ "." }}',
        "{{ 1000 * seconds }}",
        '{{ {"ok": "Active"}[state] }}',
        '{{ "a" if one else ("b" if two else "c") }}',
        '{{ "is" if count == 1 else "are" }}',
        '{% set label = "Open" if open else "Closed" %}',
        '{{ names|map(attribute="label")|sort|join(", ") }}',
    ],
)
def test_logic_is_found(template: str) -> None:
    assert list(logic_in(template))


@cases(
    "template",
    [
        "{% for app in apps if app.is_active %}{{ app.name }}{% endfor %}",
        "{% if asked and not wrong %}{{ asked.title }}{% elif wrong %}{{ wrong }}{% endif %}",
        '{{ text("{count:,} app", "{count:,} apps", count=found.apps) }}',
        '<input{{ " checked" if chosen }}>',
        '{{ name or "Unnamed" }}',
        '<button aria-pressed="{{ "true" if on else "false" }}">',
    ],
)
def test_loop_and_if_are_allowed(template: str) -> None:
    assert not list(logic_in(template))


def logic_in(source: str) -> Iterator[nodes.Node]:
    """Yield what belongs into Python: arithmetic, pasted text, choices of words, long chains."""
    tree = _environment().parse(source)
    yield from tree.find_all(LOGIC)
    for choice in tree.find_all(nodes.CondExpr):
        if not _is_attribute(choice):
            yield choice
    for chain in tree.find_all(nodes.Filter):
        if isinstance(chain.node, nodes.Filter) and isinstance(chain.node.node, nodes.Filter):
            yield chain


@cache
def _environment() -> Environment:
    environment = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    environment.install_null_translations(newstyle=True)  # type: ignore[attr-defined]
    return environment


def _is_attribute(choice: nodes.CondExpr) -> bool:
    """Return whether an attribute or the name of a class is chosen by a simple test."""
    sides = [choice.expr1] if choice.expr2 is None else [choice.expr1, choice.expr2]
    words = [side.value for side in sides if isinstance(side, nodes.Const)]
    is_simple = not isinstance(choice.test, nodes.Compare)
    return (
        is_simple
        and len(words) == len(sides)
        and all(ATTRIBUTE.fullmatch(str(word)) for word in words)
    )


def test_templates_have_plurals_in_trans_blocks() -> None:
    """Of ``text`` in a template only the first sentence is found for the catalogues."""
    plural = re.compile(r'\btext\(\s*"[^"]*",\s*"')
    assert plural.search('text("{count} app",\n"{count} apps", count=1)')
    found = [
        path.name for path in sorted(FOLDER.rglob("*.html")) if plural.search(path.read_text())
    ]
    assert found == []
