"""What one run of an import is asked for, and what it reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

DEFAULT_RESERVE = 100_000
"""IDs above the source's highest that are kept free for it until the import is finished."""

DEFAULT_BATCH = 2_000
"""Rows that are written in one transaction."""


class ImportKind(StrEnum):
    """Where rows come from."""

    PLATFORM = "PLATFORM"
    FILE = "FILE"


class Part(StrEnum):
    """What ``--only`` can choose."""

    PEOPLE = "people"
    STAFF = "staff"
    APPS = "apps"
    WEBHOOKS = "webhooks"
    SETTINGS = "settings"
    SSO = "sso"


NEEDS: Mapping[Part, Part] = {Part.WEBHOOKS: Part.APPS}
"""The part that another can't be imported without."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run does: ``dry_run`` writes nothing; ``media`` is the source's media folder.

    ``source`` is the name under which the source was imported before, if it is another one now.
    ``allow_removals``: also if most of what was imported is gone from the source.
    """

    parts: frozenset[Part] = frozenset(Part)
    dry_run: bool = False
    batch: int = DEFAULT_BATCH
    reserve: int = DEFAULT_RESERVE
    media: Path | None = None
    source: str = ""
    allow_removals: bool = False


@dataclass(slots=True)
class Counts:
    """How many rows of one kind were read, and what became of them."""

    kind: str
    title: str
    read: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did; its findings went to the caller one by one."""

    source: str
    release: str
    dry_run: bool
    counts: tuple[Counts, ...] = ()
    findings: Mapping[str, int] = field(default_factory=dict)
