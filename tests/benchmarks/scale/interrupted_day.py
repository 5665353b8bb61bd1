"""A day of three minutes, then of waiting: a program that ``test_day`` interrupts."""

import asyncio
import sys

from benchmarks.scale.day import report
from benchmarks.scale.minutes import Ending, Minute
from tests.benchmarks.test_scale import DELIVERED, GOOD

minutes: list[Minute] = []


async def live() -> None:
    minutes.extend([GOOD] * 3)
    sys.stdout.write("lived\n")
    sys.stdout.flush()
    await asyncio.sleep(60)


def whole_day() -> Ending:
    asyncio.run(live())
    return DELIVERED


if __name__ == "__main__":
    sys.exit(report(minutes, whole_day))
