"""Password hashes in processes of the tests: with less memory, and at normal priority."""

from app.adapters.keys import passwords

KIBIBYTES = 64
"""For a hash; one of an installation takes 60 ms, most of them for its 46 MiB."""

lower_priority = passwords._lower_priority  # noqa: SLF001 - as installations have it


def keep_priority(niceness: int) -> None:
    """Leave a thread that hashes passwords at its priority.

    Tests keep every processor busy: at a low priority a hash of 60 ms takes seconds, and is given
    up after eight.
    """
