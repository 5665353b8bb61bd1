"""The file that ``flask export`` writes: JSON Lines, one object per line, each with a ``type``.

The first line has the type ``export`` and describes the file; the last has the type ``end`` and
the number of lines between them, so that a file that was cut off is noticed.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

FORMAT = 1
HEADER = "export"
END = "end"
WITHHELD = "withheld"
"""The field that names the secrets of a row that an export without secrets leaves out."""

_SECRET_WORDS = re.compile(
    r"auth|token|secret|key|password|credential|signature|cookie", re.IGNORECASE
)


class Section(StrEnum):
    """What can be exported by itself; the order is that of the file."""

    SETTINGS = "settings"
    SSO = "sso"
    PEOPLE = "people"
    STAFF = "staff"
    APPS = "apps"
    WEBHOOKS = "webhooks"


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first line: which version wrote the file, when, and what is in it."""

    version: str
    created_at: datetime
    sections: tuple[Section, ...]
    with_secrets: bool

    def as_line(self) -> str:
        """Return the line."""
        return line_of(
            HEADER,
            {
                "format": FORMAT,
                "version": self.version,
                "created_at": self.created_at,
                "sections": list(self.sections),
                "secrets": self.with_secrets,
            },
        )


def line_of(type_: str, fields: Mapping[str, object]) -> str:
    """Return a line of the file; the keys of nested objects are sorted, so that rows compare."""
    values = {name: plain(value) for name, value in fields.items()}
    return json.dumps({"type": type_, **values}, ensure_ascii=False, separators=(",", ":"))


def is_secret_header(name: str) -> bool:
    """Whether the value of a custom header of a webhook is probably a credential."""
    return _SECRET_WORDS.search(name) is not None


def without_secret_headers(
    headers: Mapping[str, object],
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return ``headers`` without those that look like credentials, and the names of those."""
    withheld = tuple(sorted(name for name in headers if is_secret_header(name)))
    return {name: headers[name] for name in headers if name not in withheld}, withheld


def plain(value: object) -> object:
    """Return ``value`` as JSON has it: times in UTC, bytes in Base64, keys sorted."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
