"""The token sent with a request, and how a saved login refreshes it."""

from dataclasses import replace
from typing import Protocol

from app.ports.instance import Profile, Profiles


class Credential(Protocol):
    """What authenticates requests."""

    @property
    def token(self) -> str:
        """The token to send."""

    @property
    def refresh_token(self) -> str:
        """The refresh token; empty if there is none."""

    def renewed(self, token: str, refresh_token: str) -> None:
        """Go on with these."""


class GivenToken:
    """A token given by the user; an expired one can't be refreshed."""

    refresh_token = ""

    def __init__(self, token: str) -> None:
        self.token = token

    def renewed(self, token: str, refresh_token: str) -> None:
        raise RuntimeError("The login can't be renewed.")


class SavedLogin:
    """A login that `flask login` kept; what is renewed is kept in its place."""

    def __init__(self, profiles: Profiles, profile: Profile) -> None:
        self._profiles = profiles
        self._profile = profile

    @property
    def token(self) -> str:
        return self._profile.token

    @property
    def refresh_token(self) -> str:
        return self._profile.refresh_token

    def renewed(self, token: str, refresh_token: str) -> None:
        self._profile = replace(self._profile, token=token, refresh_token=refresh_token)
        self._profiles.save(self._profile)
