"""A bounded lane: so many at once, so many waiting, in order of arrival."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from app.ports.bounded_lane import Lane

WAIT = 30.0


def test_turns_are_bounded() -> None:
    lane = Lane(calls=2, waiting=0)
    assert lane.enter(WAIT)
    assert lane.enter(WAIT)
    assert not lane.enter(WAIT)
    lane.leave()
    assert lane.enter(WAIT)


def test_queue_is_bounded() -> None:
    lane = Lane(calls=1, waiting=1)
    assert lane.enter(0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lane.enter, WAIT)
        _until_occupied(lane, 2)
        assert not lane.enter(WAIT)
        lane.leave()
        assert waiting.result(WAIT)
    assert lane.occupied == 1


def test_turns_go_in_order_of_arrival() -> None:
    lane = Lane(calls=1, waiting=None)
    assert lane.enter(0)
    order: list[int] = []

    def take(number: int) -> None:
        with lane.turn(WAIT) as got:
            assert got
            order.append(number)

    with ThreadPoolExecutor(3) as pool:
        for number in range(3):
            pool.submit(take, number)
            _until_occupied(lane, number + 2)
        lane.leave()
    assert order == [0, 1, 2]


def test_who_gave_up_waiting_gets_no_turn() -> None:
    lane = Lane(calls=1, waiting=1)
    assert lane.enter(0)
    assert not lane.enter(0.01)
    lane.leave()
    assert lane.occupied == 0
    assert lane.enter(0)


def test_who_waits_in_a_queue_that_stalls_gives_up() -> None:
    lane = Lane(calls=1, waiting=None)
    assert lane.enter(0)
    assert not lane.enter(0.01, WAIT)
    assert lane.occupied == 1


def _until_occupied(lane: Lane, count: int) -> None:
    changed = Event()
    for _ in range(3000):
        if lane.occupied == count:
            return
        changed.wait(0.01)
    raise TimeoutError
