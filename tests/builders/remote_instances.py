"""Access to other instances in tests: on this machine only, with a private folder."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.adapters.http.guarded_http import GuardedHttp
from app.adapters.keys.signing_keys import DetachedSignatures
from app.adapters.system import FileProfiles, SystemClock
from app.ports import Clock, Http
from app.remote.device_login import begin_device_login, finish_device_login
from app.remote.instance import connect_by_profile, connect_by_token, sign_in_app, sign_in_person
from app.web.installation import RemoteAccess
from tests.fakes.strict_http import LOOPBACK


class SameRandomness:
    """Randomness that repeats, so that two runs can be compared."""

    def token(self, length: int) -> str:
        return "r" * length

    def secret(self, size: int) -> bytes:
        return bytes(range(size))


def make_remote_access(
    folder: Path,
    *,
    token: str = "",
    http: Http | None = None,
    clock: Clock | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> RemoteAccess:
    """Connect with logins saved in ``folder``; ``token`` is that of the environment.

    ``pause`` is called between polls of a login by a code.
    """
    client = http or GuardedHttp(LOOPBACK)
    profiles = FileProfiles(folder)
    return RemoteAccess(
        http=client,
        clock=clock or SystemClock(),
        randomness=SameRandomness(),
        signatures=DetachedSignatures(),
        profiles=profiles,
        connect_by_token=partial(connect_by_token, client),
        connect_by_profile=partial(connect_by_profile, client, profiles),
        sign_in_person=partial(sign_in_person, client),
        begin_device_login=partial(begin_device_login, client),
        finish_device_login=partial(finish_device_login, client, pause=pause),
        sign_in_app=partial(sign_in_app, client),
        token=token,
    )
