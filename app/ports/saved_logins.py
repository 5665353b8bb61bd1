"""Logins on other instances, kept between commands."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Profile:
    """How to come in at ``url``.

    As an app its token lasts; a person's is renewed by ``refresh_token``. ``email`` is empty for
    an app.
    """

    url: str
    token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    email: str = ""


class Profiles(Protocol):
    """Raises ``Fault`` when what is kept cannot be read or written."""

    def every(self) -> tuple[Profile, ...]:
        """All of them, by their addresses."""

    def find(self, url: str) -> Profile | None:
        """The one for that address, if there is one."""

    def check(self) -> None:
        """Find out beforehand whether one can be kept."""

    def save(self, profile: Profile) -> None:
        """Keep it, for nobody but its owner to read, in the place of an earlier one."""

    def forget(self, url: str) -> bool:
        """Remove the one for that address; whether there was one."""
