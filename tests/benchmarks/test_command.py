"""``python -m benchmarks``: its parts and options."""

import pytest

from benchmarks.__main__ import LONG, TABLE, main


def test_help_names_each_part_with_what_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for name in (*TABLE, *LONG):
        assert f"\n  {name} " in shown
    assert "The table: requests, single_sign_on, deliveries, change_cost, sizes." in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "invalid choice: 'nothing'"),
        (["requests", "--record"], "--record takes the whole table"),
        (["--record", "--busy"], "--record takes the whole table"),
    ],
)
def test_mistakes_are_refused_before_anything_is_measured(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
