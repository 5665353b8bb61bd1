"""No command fails over a number, key or date that makes no sense."""

from collections import Counter
from collections.abc import Iterator

import click
import pytest

from app.commands.terminal.exit_codes import Exit
from app.ports import Ports
from docs.commands import Entry, entries
from tests.commands.shell import run
from tests.console.populated_shop import populate
from tests.fixtures.one_of_each import InTurn

NUMBERS = (str(2**63), str(2**200), "-1", "0", "\u0663", "1e9", "5" * 5000, "9999-12-31", "")
TEXTS = (str(2**63), "9999-12-31", "a\udcff")
STARTS_OR_WAITS = {"serve", "worker", "db", "demo", "login", "listen", "doctor", "completion"}
PLAUSIBLE = {"email": "customer@example.com", "app": "Labels", "webhook": "1", "name": "New"}

pytestmark = [
    pytest.mark.first,
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def _commands() -> Iterator[Entry]:
    for entry in entries():
        if not isinstance(entry.command, click.Group) and not STARTS_OR_WAITS & {*entry.path}:
            yield entry


def _is_number(one: click.Parameter) -> bool:
    kinds = (click.IntRange, click.FloatRange, click.DateTime)
    return isinstance(one.type, kinds) or one.type in (click.INT, click.FLOAT)


def _is_text(one: click.Parameter) -> bool:
    is_flag = isinstance(one, click.Option) and (one.is_flag or one.count)
    return not is_flag and not isinstance(one.type, (click.Choice, click.File, click.Path))


def _calls(path: tuple[str, ...], command: click.Command, in_turn: InTurn) -> Iterator[list[str]]:
    """The command with one absurd value after the other, the rest plausible."""
    for wrong in filter(_is_text, command.params):
        for value in in_turn(NUMBERS, 3) if _is_number(wrong) else in_turn(TEXTS):
            options, arguments = list(path), ["--"]
            for param in command.params:
                text = value if param is wrong else PLAUSIBLE.get(param.name or "", "1")
                if isinstance(param, click.Argument):
                    arguments.append(text)
                elif param is wrong or param.required:
                    options += [max(param.opts, key=len), text]
            yield options + arguments


def test_no_argument_causes_an_internal_error(ports: Ports, in_turn: InTurn) -> None:
    populate(ports)
    faults, codes = [], Counter[int]()
    for entry in _commands():
        for words in _calls(entry.path, entry.command, in_turn):
            try:
                codes[run(ports, *words, stdin="").exit_code] += 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
                faults.append(f"{words}: {error!r}"[:300])
    assert faults == []
    assert codes.keys() <= {*Exit}
    assert codes[Exit.USAGE] > 50
    assert codes[Exit.DONE] > 10


def test_status_code_that_exists_is_accepted(ports: Ports) -> None:
    populate(ports)
    assert run(ports, "webhook", "deliveries", "--code", "200").exit_code == Exit.DONE
    assert run(ports, "webhook", "deliveries", "--code", "2000").exit_code == Exit.USAGE
