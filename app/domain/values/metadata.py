"""Metadata: texts by key that clients keep with a user, an app or an address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import Seen
from app.domain.values.text_rules import is_storable

MAX_KEYS = 200
MAX_KEY_LENGTH = 256
MAX_VALUE_LENGTH = 10_000
MAX_SIZE = 65_536
"""Characters of all keys and values of one object, public or private."""

Metadata = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """An object's metadata: public, and private for those who manage the object."""

    public: Metadata
    private: Metadata


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """Keys to set, keys to delete; ``is_private`` says in which of the two.

    A key whose value isn't as ``seen`` anymore (``None`` without one) makes ``Stale``.
    """

    is_private: bool = False
    values: tuple[tuple[str, str], ...] = ()
    deleted_keys: tuple[str, ...] = ()
    seen: Seen = field(default_factory=dict, compare=False)


def changed_metadata(
    stored: Metadata, change: MetadataChange, field: str = "input"
) -> dict[str, str]:
    """Return ``stored`` after ``change``; of two values for a key, the last one counts.

    Refuses on ``field``: REQUIRED for a blank key; INVALID for a key or value that is too long or
    can't be stored, and when the object would have too much of either. Deleting a key that isn't
    there is fine.
    """
    problems = [problem for pair in change.values for problem in _item_problems(*pair, field)]
    refuse_any(*problems)
    changed = dict(stored) | dict(change.values)
    for key in change.deleted_keys:
        changed.pop(key, None)
    problem = _size_problem(changed, field) if change.values else None
    if problem is not None:
        raise Refused(problem)
    return changed


def metadata_problems(values: Iterable[tuple[str, str]]) -> list[Problem]:
    """Return why a new object can't have these values as its metadata, on ``metadata``."""
    pairs = tuple(values)
    problems = [problem for pair in pairs for problem in _item_problems(*pair, "metadata")]
    size = _size_problem(dict(pairs), "metadata")
    return problems or [problem for problem in (size,) if problem is not None]


def read_metadata(stored: Mapping[str, object]) -> dict[str, str]:
    """Return stored metadata sorted by key; a value that is no text as its text."""
    return {key: str(value) for key, value in sorted(stored.items())}


def to_stored_metadata(
    public: Mapping[str, object], private: Mapping[str, object]
) -> StoredMetadata:
    """Return metadata from the two columns that hold it."""
    return StoredMetadata(read_metadata(public), read_metadata(private))


def _item_problems(key: str, value: str, field: str) -> list[Problem]:
    if not key.strip():
        return [Problem("REQUIRED", "Metadata key can't be empty.", field)]
    if not is_storable(key) or not is_storable(value):
        return [Problem("INVALID", "Metadata contains characters that can't be stored.", field)]
    problems = []
    if len(key) > MAX_KEY_LENGTH:
        message = "Metadata keys can have at most {max_length} characters."
        values = {"max_length": MAX_KEY_LENGTH}
        problems.append(Problem("INVALID", message, field, values=values))
    if len(value) > MAX_VALUE_LENGTH:
        message = "Metadata values can have at most {max_length} characters."
        values = {"max_length": MAX_VALUE_LENGTH}
        problems.append(Problem("INVALID", message, field, values=values))
    return problems


def _size_problem(metadata: Metadata, field: str) -> Problem | None:
    if len(metadata) > MAX_KEYS:
        message = "An object can have at most {max_keys} metadata keys."
        return Problem("INVALID", message, field, values={"max_keys": MAX_KEYS})
    if sum(len(key) + len(value) for key, value in metadata.items()) > MAX_SIZE:
        message = "An object can have at most {max_size} characters of metadata."
        return Problem("INVALID", message, field, values={"max_size": MAX_SIZE})
    return None
