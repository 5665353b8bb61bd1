"""``python -m benchmarks.scale``: its parts, the day's curve, its client, and how it is judged."""

import asyncio
import ssl
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.scale import processes
from benchmarks.scale.__main__ import PARTS, main
from benchmarks.scale.client import Client, Refused, data_of
from benchmarks.scale.curve import HOURS, MINUTES, PEAK, Day
from benchmarks.scale.minutes import (
    Ending,
    Minute,
    Queue,
    Tally,
    growth,
    line,
    misses,
    percentile,
    summary,
)
from benchmarks.scale.people import Session, Sessions
from benchmarks.scale.processes import Measured
from tests.servers.certificates import certificate_for

PEAK_HOUR = 20
MEMORY = {"web": 300.0, "worker": 100.0}
CORES = {"web": 0.5, "worker": 0.25}
GOOD = Minute(
    hour=PEAK_HOUR,
    seconds=60.0,
    tally=Tally(
        Counter({"refresh": 6000, "change": 1200}),
        {"refresh": [4.0, 5.0, 30.0], "change": [9.0]},
        [1.0, 2.0],
    ),
    queue=Queue(events=1, deliveries=5, oldest=0.25),
    memory=MEMORY,
    processor=CORES,
    others=0.125,
)
DELIVERED = Ending(expected=500, delivered=500, arrived=501, seconds=0.5)


def test_help_names_each_part_with_what_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for name in PARTS:
        assert f"\n  {name} " in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "invalid choice: 'nothing'"),
        (["day", "--minutes", "0"], "must be at least 1"),
        (["day", "--minutes", "soon"], "--minutes"),
        (["rows", "--rows", "100500"], "must be a multiple of 1,000 above 10,000"),
        (["rows", "--rows", "10000"], "must be a multiple of 1,000 above 10,000"),
        (["rows", "--rows", "many"], "--rows"),
    ],
)
def test_mistakes_are_refused_before_anything_is_started(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_day_has_24_hours_in_72_minutes_with_its_peak_in_the_evening() -> None:
    assert (len(HOURS), MINUTES) == (24, 72)
    assert max(range(24), key=lambda hour: HOURS[hour]) == PEAK_HOUR
    assert max(share for share, _ in HOURS) == 1.0


@pytest.mark.parametrize("minutes", [1, 3, MINUTES])
def test_hours_follow_each_other_until_the_end_of_the_day(minutes: int) -> None:
    day = Day(minutes)
    hours = list(day.hours())
    assert hours[0][0] == 0.0
    assert [begins for begins, _, _ in hours[1:]] == [ends for _, ends, _ in hours[:-1]]
    assert hours[-1][1] == pytest.approx(minutes * 60)
    assert [day.hour((begins + ends) / 2) for begins, ends, _ in hours] == list(range(24))
    assert day.hour(day.seconds + 1) == 23


def test_each_hour_gets_its_share_of_the_peak() -> None:
    day = Day()
    due = list(day.due(PEAK["refresh"], Random(7)))  # noqa: S311 - the same each time
    assert due == sorted(due)
    assert due[0] > 0.0
    assert due[-1] < day.seconds
    for begins, ends, share in day.hours():
        expected = PEAK["refresh"] * share * (ends - begins)
        counted = sum(begins <= moment < ends for moment in due)
        # Five standard deviations of a Poisson distribution.
        assert abs(counted - expected) < 5 * expected**0.5


def test_sessions_are_refreshed_in_turn_and_recent_ones_are_read() -> None:
    sessions = Sessions(Random(7))  # noqa: S311 - the same each time
    for number in range(1000):
        sessions.add(Session(f"refresh {number}", f"access {number}"))
    first = sessions.take()
    assert first.refresh == "refresh 0"
    sessions.add(first)
    assert sessions.take().refresh == "refresh 1"
    read = {sessions.recent().access for _ in range(2000)}
    assert read == {"access 0", *(f"access {number}" for number in range(801, 1000))}


def test_percentiles() -> None:
    assert percentile([], 0.5) == 0.0
    assert percentile(list(range(100, 0, -1)), 0.99) == 100
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0


def test_line_of_a_minute_has_rates_times_queue_memory_and_cores() -> None:
    shown = line(7, GOOD)
    assert shown.startswith("  7 20h ")
    for part in (
        "refresh 100.0/0.1 5 30 |",
        "sign-in 0.0/0.0 0 0 |",
        "late 2 | failed 0 | events 1 deliveries 5 oldest 0.2 s",
        "MiB web 300 worker 100 | cores web 0.50 worker 0.25 sum 0.75 others 0.12\n",
    ):
        assert part in shown


def test_good_day_misses_no_goal() -> None:
    day = [replace(GOOD, hour=hour) for hour in range(24)]
    assert misses(day, DELIVERED) == []
    shown = summary(day, DELIVERED)
    assert "MISSED" not in shown
    assert "- the day, 24 minutes: " in shown
    assert "- its busiest hour, 1 minutes: " in shown
    assert "- 500 of 500 deliveries made, 501 arrived; the last 0.5 s after the day" in shown
    assert "change 24 (0.0 a second, p50 and p99 9 9 ms)" in shown


@pytest.mark.parametrize(
    ("minute", "ending", "goal"),
    [
        (
            replace(GOOD, tally=Tally(failures=["me: Refused('503')"])),
            DELIVERED,
            "every request is answered",
        ),
        (replace(GOOD, queue=Queue(0, 900, 10.1)), DELIVERED, "the queue doesn't grow"),
        (GOOD, replace(DELIVERED, delivered=499), "every delivery is made"),
        (GOOD, replace(DELIVERED, delivered=501), "every delivery is made"),
        (GOOD, replace(DELIVERED, arrived=499), "every delivery is made"),
    ],
)
def test_missed_goals_are_named(minute: Minute, ending: Ending, goal: str) -> None:
    day = [GOOD, minute, GOOD]
    assert misses(day, ending) == [goal]
    assert f"MISSED: {goal}\n" in summary(day, ending)


def test_failures_are_shown() -> None:
    failing = replace(GOOD, tally=Tally(failures=["me: Refused('503')"] * 3))
    assert summary([failing], DELIVERED).count("- failed: me: Refused('503')\n") == 1


def test_growing_memory_is_missed_in_a_long_day_only() -> None:
    def growing(minutes: int) -> list[Minute]:
        return [replace(GOOD, memory={**MEMORY, "web": 300.0 + 0.2 * n}) for n in range(minutes)]

    assert growth(growing(10)) == {}
    # From minute 36 to minute 58, with 259,200 requests in the second half.
    assert growth(growing(72))["web"] == pytest.approx(0.2 * 22)
    assert misses(growing(72), DELIVERED) == []
    faster = [replace(GOOD, memory={**MEMORY, "worker": 100.0 + n}) for n in range(72)]
    assert misses(faster, DELIVERED) == ["the memory of worker"]


def test_memory_of_password_hashes_is_no_growth() -> None:
    hashing = replace(GOOD, memory={**MEMORY, "web": 346.0})
    assert growth([*[GOOD] * 58, *[hashing] * 13, GOOD])["web"] == 0.0
    assert growth([*[GOOD] * 58, *[hashing] * 14])["web"] == 46.0


@pytest.mark.parametrize(
    "answer",
    [
        {"errors": [{"message": "no"}], "data": None},
        {"data": {"tokenRefresh": {"token": None, "errors": [{"code": "INVALID"}]}}},
    ],
)
def test_answers_with_errors_are_refused(answer: dict[str, object]) -> None:
    with pytest.raises(Refused):
        data_of(answer)


def test_answers_without_errors_give_their_data() -> None:
    data = {"me": None, "tokenRefresh": {"token": "a", "errors": []}}
    assert data_of({"data": data}) == data


def test_client_keeps_connections_and_asks_as_another_one_when_told(tmp_path: Path) -> None:
    peers = _ask_server(tmp_path, b"200 OK", [False, False, True, False])
    assert len(peers) == 4
    assert peers[0] == peers[1] == peers[3]
    addresses = {address for address, _ in peers}
    assert len(addresses) == 2
    assert "127.0.0.1" not in addresses


def test_client_refuses_other_statuses(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="503"):
        _ask_server(tmp_path, b"503 Service Unavailable", [False])


def _ask_server(folder: Path, status: bytes, requests: list[bool]) -> list[tuple[str, int]]:
    """Send ``requests`` from a thread: in this one, a browser's event loop can be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _ask(folder, status, requests)).result(180)


async def _ask(folder: Path, status: bytes, requests: list[bool]) -> list[tuple[str, int]]:
    """Send ``requests``, each on a new connection or not; return from where they came."""
    authority, chain = certificate_for(folder, "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    peers: list[tuple[str, int]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next(
                int(text.split(b":")[1])
                for text in head.split(b"\r\n")
                if text.startswith(b"Content-Length")
            )
            await reader.readexactly(length)
            peers.append(writer.get_extra_info("peername"))
            body = b'{"data": {"me": null}}'
            writer.write(
                b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
            )
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls) as server:
        client = Client(server.sockets[0].getsockname()[1], authority)
        for is_new in requests:
            assert await client.ask("{ me { id } }", is_new=is_new) == {"me": None}
        client.close()
    return peers


def rows_of(*rates: float, cores: float = 1.0) -> list[Measured]:
    taken = {"web": cores * 0.75, "client": cores * 0.25}
    return [
        Measured(processes, rate, 8.0, 20.0, taken, 0.0)
        for processes, rate in zip((1, 2, 4), rates, strict=True)
    ]


def test_line_of_processes_has_the_rate_of_each_and_the_time_of_a_request() -> None:
    one = Measured(2, 1500.0, 8.0, 20.5, {"web": 1.2, "nginx": 0.3}, 0.05)
    shown = processes.line("`me`", one)
    assert shown == (
        "2 web `me`: 1,500 a second, 750 a process, p50 8.0 ms, p99 20.5 ms; ms of processor time"
        " a request: web 0.80, nginx 0.20; cores 1.50, others 0.05\n"
    )
    assert "MISSED: 3 other answers" in processes.line("`me`", replace(one, unexpected=3))


def test_verdict_says_where_the_rate_no_longer_grows_and_what_the_cores_did() -> None:
    assert processes.verdict("`me`", rows_of(500, 950, 1810), 2) == (
        "- `me`: 1.90 times with 2, 3.62 times with 4: linear\n"
    )
    assert processes.verdict("`me`", rows_of(500, 950, 1000, cores=1.95), 2) == (
        "- `me`: 1.90 times with 2, 2.00 times with 4: not linear from 4 on,"
        " all 2 cores are busy: web 1.46, client 0.49\n"
    )
    idle = processes.verdict("`me`", rows_of(500, 600, 700), 2)
    assert "not linear from 2 on, the cores aren't all busy: web 0.75, client 0.25\n" in idle
