"""What a command needs on the way to another instance; ``wiring`` puts it together."""

from collections.abc import Callable
from dataclasses import dataclass, field

from flask import current_app

from app.ports.http import Http
from app.ports.instance import Instance, Profile, Profiles
from app.ports.keys import SignatureCheck
from app.ports.system import Clock, Randomness

EXTENSION = "latchkey.remote_access"


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """What commands need to reach another instance, without a local installation.

    ``token`` is the one in the environment, if set. ``http`` connects to any URL, because the user
    has typed it.
    """

    http: Http
    clock: Clock
    randomness: Randomness
    signatures: SignatureCheck
    profiles: Profiles
    connect_by_token: Callable[[str, str], Instance]
    connect_by_profile: Callable[[Profile], Instance]
    sign_in_person: Callable[[str, str, str, Callable[[], str]], Profile]
    sign_in_app: Callable[[str, str], Profile]
    token: str = field(default="", repr=False)


def remote_access() -> RemoteAccess:
    """Return the current application's; needs an application context."""
    access: RemoteAccess = current_app.extensions[EXTENSION]()
    return access
