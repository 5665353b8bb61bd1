"""The time zones that people can choose: those of the IANA database."""

from functools import cache
from zoneinfo import available_timezones

from app.domain.values.errors import Problem

_AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)
"""Other names are old ones of the same zones."""


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of all zones, by area and city."""
    names = (name for name in available_timezones() if name.partition("/")[0] in _AREAS)
    return tuple(sorted(names))


def time_zone_problem(name: str | None) -> Problem | None:
    """Return why ``name`` can't be a person's time zone, or ``None``; no name is UTC."""
    if name is None or name in time_zones():
        return None
    return Problem("INVALID", "Choose a time zone from the list.", "timeZone")
