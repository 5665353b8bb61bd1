"""Logins on other instances, kept between commands."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Profile:
    """A saved login at ``url``.

    An app's token lasts; a person's is renewed by ``refresh_token``. ``email`` is empty for an
    app.
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
        """Return the login for that URL, if any."""

    def check(self) -> None:
        """Find out beforehand whether one can be kept."""

    def save(self, profile: Profile) -> None:
        """Save a login, readable by its owner only, replacing an earlier one."""

    def forget(self, url: str) -> bool:
        """Remove the one for that address; whether there was one."""
