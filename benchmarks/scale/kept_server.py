"""A PostgreSQL whose data can be kept from one run to the next."""

import os
import pwd
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import postgresql
from tests.servers.sandbox import Lodging

_NAME = "postgresql"
_SETTINGS = {
    **postgresql.SETTINGS,
    # As a server of this size would have it; the tests' own databases are small.
    "shared_buffers": "2GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "30min",
}


@contextmanager
def running_postgresql(kept: Path | None) -> Iterator[str]:
    """Yield the server's URL; its data are in the folder ``kept``, or deleted at the end."""
    if kept is None:
        with tempfile.TemporaryDirectory() as folder, running_postgresql(Path(folder)) as url:
            yield url
        return
    kept.mkdir(parents=True, exist_ok=True)
    # The server doesn't run as root: its account has to reach its own folder.
    kept.chmod(0o711)
    with (kept / "postgresql.log").open("ab") as log:
        lodging = _lodging(kept, log.fileno())
        is_new = not (lodging.folder / "data").exists()
        server = (postgresql.launch if is_new else postgresql.start)(lodging, _SETTINGS)
        try:
            yield server.url
        finally:
            server.process.send_signal(signal.SIGINT)
            server.process.wait()


def _lodging(kept: Path, log: int) -> Lodging:
    folder = kept / _NAME
    if not folder.exists():
        made = Lodging.under(kept, _NAME)
        return Lodging(made.folder, made.account, log)
    account = pwd.getpwuid(folder.stat().st_uid) if os.geteuid() == 0 else None
    return Lodging(folder, account, log)
