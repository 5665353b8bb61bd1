"""The priority of password hashes in processes of the tests."""

from app.adapters.keys import passwords

lower_priority = passwords._lower_priority  # noqa: SLF001 - as installations have it


def keep_priority(niceness: int) -> None:
    """Leave a thread that hashes passwords at its priority.

    Tests keep every processor busy: at a low priority a hash of 60 ms takes seconds, and is given
    up after eight.
    """
