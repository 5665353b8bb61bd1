"""Tables fit the terminal that they are shown on."""

from collections.abc import Sequence

import pytest

from app.commands.terminal.output import Heading, print_fields, print_table

HEADINGS = (
    Heading("Id"),
    Heading("Email", keeps_width=True),
    Heading("Groups"),
    Heading("Last login"),
)
ROWS = (
    ("1", "ann@example.com", "Shop managers", "2026-11-21 03:45 UTC"),
    ("2", "bob@example.com", "", ""),
)

IDS = (Heading("Id", keeps_width=True), Heading("Target", keeps_width=True))
WITH_IDS = (("V2ViaG9vazoxMjM0", "https://a.example/hook"), ("V2ViaG9vazoxMjM1", ""))


class Terminal:
    """A terminal of any width, and what is shown on it."""

    def __init__(self, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._captured = captured
        self.left_out: tuple[str, ...] = ()

    def show(
        self,
        width: int,
        rows: Sequence[Sequence[str]] = ROWS,
        headings: Sequence[Heading] = HEADINGS,
    ) -> list[str]:
        self._patch.setenv("COLUMNS", str(width))
        self.left_out = print_table(headings, rows)
        lines = self._captured.readouterr().out.splitlines()
        assert all(len(line) <= width for line in lines)
        return [line.rstrip() for line in lines]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(monkeypatch, capsys)


def test_with_room_for_all_each_row_is_a_line(terminal: Terminal) -> None:
    head, _, first, second = terminal.show(80)
    assert head == "Id  Email            Groups         Last login"
    assert first == "1   ann@example.com  Shop managers  2026-11-21 03:45 UTC"
    assert second == "2   bob@example.com"
    assert terminal.left_out == ()


def test_with_less_room_lines_are_broken_between_words(terminal: Terminal) -> None:
    shown = terminal.show(45)
    assert shown[2] == "1   ann@example.com  Shop       2026-11-21"
    assert shown[3] == "                     managers   03:45 UTC"
    assert terminal.left_out == ()


def test_with_little_room_the_last_columns_go_and_are_named(terminal: Terminal) -> None:
    first, rest, second = terminal.show(32)[2:]
    assert (first, rest) == ("1   ann@example.com  Shop", "                     managers")
    assert second == "2   bob@example.com"
    assert terminal.left_out == ("Last login",)


def test_too_narrow_table_is_printed_as_blocks(terminal: Terminal) -> None:
    lines = terminal.show(28, headings=IDS, rows=WITH_IDS)
    assert lines == [
        "Id      V2ViaG9vazoxMjM0",
        "Target  https://a.example/ho",
        "        ok",
        "",
        "Id      V2ViaG9vazoxMjM1",
        "Target",
    ]
    assert terminal.left_out == ()


def test_address_is_broken_before_that(terminal: Terminal) -> None:
    head, _, first, second, _ = terminal.show(38, headings=IDS, rows=WITH_IDS)
    assert head == "Id                Target"
    assert first == "V2ViaG9vazoxMjM0  https://a.example/h"
    assert second == "                  ook"


def test_column_of_nothing_takes_no_room(terminal: Terminal) -> None:
    assert terminal.show(80, ROWS[1:])[0] == "Id  Email"
    assert terminal.left_out == ()


def test_wide_letters_take_two_places(terminal: Terminal) -> None:
    rows = (("1", "用户@例子.广告", "管理", ""), ("2", "ann@example.com", "x", ""))
    first, second = terminal.show(80, rows)[2:]
    assert first == "1   用户@例子.广告   管理"
    assert second == "2   ann@example.com  x"


def test_facts_stand_behind_their_titles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_fields([("Name", "Corner shop"), ("Password login mode", "ENABLED")])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["Name                 Corner shop", "Password login mode  ENABLED"]
