"""``python -m tests.servers.server_process DIRECTORY NAME``: one server per run."""

import shutil
import signal
import sys
from pathlib import Path

from tests.servers import postgresql, valkey
from tests.servers.run import ALIVE, locked
from tests.servers.sandbox import Lodging

LAUNCHERS = {"postgresql": postgresql.launch, "valkey": valkey.launch}


def keep(run: Path, name: str) -> None:
    """Start the server, print its URL, stop it when ``run`` is over, and clear up after it."""
    with locked(run / f"{name}.keeper"):
        server = LAUNCHERS[name](Lodging.under(run, name))
        try:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            with locked(run / ALIVE):
                pass
        finally:
            # At once, clients or not; on SIGTERM PostgreSQL would wait for its clients to leave.
            server.process.send_signal(signal.SIGINT)
            server.process.wait(180)
            # Whoever began the run does the same, unless it was killed.
            shutil.rmtree(run, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
