"""How far a replica is behind, by samples of both servers' positions."""

import pytest

from app.adapters.database.replica import Lag


@pytest.mark.parametrize(
    ("samples", "lag"),
    [
        pytest.param([(0, 100, 100)], 0, id="has everything"),
        pytest.param([(0, 100, 120)], 0, id="repeated more since the primary was asked"),
        pytest.param([(0, 100, 90)], None, id="not known after one sample"),
        pytest.param([(0, 100, 90), (1, 200, 100)], 1, id="repeats with a delay"),
        pytest.param([(0, 100, 100), (1, 100, 100), (2, 100, 100)], 0, id="primary is idle"),
        pytest.param(
            [(0, 100, 100), (1, 200, 100), (2, 200, 100), (3, 200, 100)], 3, id="repeats nothing"
        ),
        pytest.param(
            [(0, 100, 100), (1, 200, 100), (2, 300, 250), (3, 400, 250)], 2, id="falls behind"
        ),
        pytest.param([(0, 100, 100), (1, 200, 100), (2, 300, 300)], 0, id="caught up"),
        pytest.param([(0, 100, 100), (60, 200, 190)], None, id="not known after a pause"),
        pytest.param([(0, 100, 100), (60, 200, 200)], 0, id="caught up after a pause"),
        pytest.param([(s, 200 + s, 100) for s in range(6)], None, id="never caught up yet"),
        pytest.param([(s, 200 + s, 100) for s in range(7)], 6, id="never caught up in time"),
    ],
)
def test_lag(samples: list[tuple[int, int, int]], lag: int | None) -> None:
    measured = Lag()
    *_, last = [measured.measure(moment, written, had) for moment, written, had in samples]
    assert last == lag
