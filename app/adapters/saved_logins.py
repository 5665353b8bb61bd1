"""Saved logins in a file that only its owner can read."""

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from app.adapters.private_files import make_private_folder
from app.domain.values.installation import Fault
from app.ports.instance import Profile

_OWNER_READS = 0o600


class FileProfiles:
    """Keeps them in ``profiles.json`` of ``folder``, which is made when the first is saved."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "profiles.json"

    def every(self) -> tuple[Profile, ...]:
        try:
            text = self._file.read_text()
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise self._unusable() from error
        try:
            return tuple(Profile(**entry) for entry in json.loads(text))
        except (TypeError, ValueError):
            raise self._unusable() from None

    def find(self, url: str) -> Profile | None:
        return next((profile for profile in self.every() if profile.url == url), None)

    def check(self) -> None:
        self._write(self.every())

    def save(self, profile: Profile) -> None:
        others = (saved for saved in self.every() if saved.url != profile.url)
        self._write(sorted((*others, profile), key=lambda saved: saved.url))

    def forget(self, url: str) -> bool:
        profiles = self.every()
        left = [profile for profile in profiles if profile.url != url]
        if len(left) == len(profiles):
            return False
        self._write(left)
        return True

    def _write(self, profiles: Iterable[Profile]) -> None:
        # Written beside it and moved, so that nobody ever reads half of it; made with its mode,
        # so that there is no moment in which others could open it.
        fresh = self._file.with_name(f".profiles-{os.getpid()}.json")
        text = json.dumps([asdict(profile) for profile in profiles], indent=2)
        try:
            make_private_folder(self._file.parent)
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()
            opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_READS)
            with os.fdopen(opened, "w") as file:
                file.write(text)
            fresh.replace(self._file)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Fault(f"Can't write {self._file}: {reason}.") from None

    def _unusable(self) -> Fault:
        return Fault(f"Can't read {self._file}. Delete it and sign in again with: flask login URL")
