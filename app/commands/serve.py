"""``flask serve``: the production server, with the background worker."""

import ctypes
import errno
import mmap
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any

import click
import structlog
from flask import current_app
from granian._granian import ListenerSpec
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer
from typing_extensions import override

from app.commands import processes
from app.commands.terminal.command import standalone
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, Form, Output, output
from app.domain.values.installation import VERSION
from app.services.demo.identity_provider import set_up_demo_provider
from app.services.operations.health_checks import database_capacity, require_ready
from app.services.operations.holds import check_installation
from app.services.outbox.base_url import save_base_url
from app.web.installation import installation, operator
from app.web.parent_process import ServiceManager
from app.web.server import THREADS
from app.web.sessions import CONSOLE

_log = structlog.get_logger("latchkey.service")

EXTENSION = "latchkey.load_server"
"""Where the application keeps what imports the server and returns what makes it."""

_CONNECTIONS = 4096
"""Open connections of one server process; further ones wait."""

_MAX_HEADER_BYTES = 64 * 1024
"""Bytes that are kept of a connection's headers, and of what is read ahead of a body."""

_LOOK_SECONDS = 2.0
_GRACE_SECONDS = 20.0
_PORT_SECONDS = 10.0
_PORT_PAUSE = 0.1
_GRANIAN_IN_OUR_LOG = {"loggers": {"_granian": {"handlers": [], "propagate": True}}}
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - told apart, not listened on


@dataclass(frozen=True, slots=True)
class _Served:
    api: str
    key_set: str
    console: str
    playground: str | None


_COLUMNS: tuple[Column[_Served], ...] = (
    Column("api", "API", lambda served: served.api, short=True),
    Column("keySet", "Key set", lambda served: served.key_set),
    Column("console", "Console", lambda served: served.console),
)
_PLAYGROUND: Column[_Served] = Column("playground", "Playground", lambda served: served.playground)


@standalone(
    "serve",
    examples=[
        ("flask serve", "on http://127.0.0.1:8000, for this machine only"),
        ("flask serve --host 0.0.0.0 --port 80 --workers 8", "for all networks"),
        ("flask serve --no-worker", "if `flask worker` runs elsewhere"),
    ],
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The IP address or host name to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Server processes. Default: number of CPUs, or as many as the database can take.",
)
@click.option("--no-worker", is_flag=True, help="Don't run the background worker.")
@click.option(
    "--drain",
    type=click.IntRange(0, 300),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="Go on serving so long after SIGTERM, while /readyz answers 503.",
)
@processes.with_logged_failures
def command(host: str, port: int, *, workers: int | None, no_worker: bool, drain: int) -> None:
    """Serve the shop and run its background worker.

    Checks settings, database and keys first, and waits up to 10 seconds for a port that is in use.
    Stops on SIGTERM and Ctrl-C: no connection is lost, and open requests are finished. Takes new
    settings on SIGHUP. A worker that crashes is restarted. Tells systemd (Type=notify).
    """
    ports = installation().ports
    require_ready(*operator())
    out = output()
    say = processes.message_writer(out)
    processes.show_holds(say, check_installation(*operator()))
    _wait_for_port(say, host, port)
    save_base_url(*operator(), _address(host, port))
    set_up_demo_provider(*operator())
    count = _server_processes(say, workers, own_worker=not no_worker)
    ports.database.close()  # from here on, the processes below have connections of their own
    service = processes.current_service()
    watch = _Watch(out, service.manager, host, port)
    # Imported before the processes are forked, which then share it.
    make_server = current_app.extensions[EXTENSION]()
    buffered = installation().requests_are_buffered
    serve = partial(_serve, make_server, host, port, count, buffered=buffered)
    server = partial(serve, drain=drain, is_log=processes.writes_json())
    programs = [processes.Program("server", server, reload_signal=signal.SIGHUP)]
    if not no_worker:
        work = partial(current_app.extensions[processes.WORKER], serves_operations=False)
        programs.append(processes.Program("worker", partial(processes.run_until_stopped, work)))
    if installation().operations_port:
        listen = partial(current_app.extensions[processes.OPERATIONS], port_is_required=False)
        run = partial(processes.run_until_stopped, listen)
        programs.append(processes.Program("operations listener", run, is_essential=False))
    grace = drain + _GRACE_SECONDS
    if not processes.run_programs(programs, say, watch.look, service=service, grace=grace):
        click.get_current_context().exit(Exit.FAILED)


def _address(host: str, port: int) -> str:
    """Where the installation is reached that listens there: on every interface, from here."""
    name = "localhost" if host in _EVERYWHERE else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _processors() -> int:
    """Return the number of CPUs that this process can use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _server_processes(say: processes.Say, asked: int | None, *, own_worker: bool) -> int:
    """Return how many server processes to start: those asked for, or one for each CPU.

    Fails when the database can't take as many connections as the processes asked for can open.
    """
    count = asked or _processors()
    capacity = database_capacity(*operator())
    most = count if capacity is None else capacity.processes - own_worker
    if capacity is None or count <= most:
        return count
    wanted = (count + own_worker) * capacity.per_process
    worker = " and a background worker" if own_worker else ""
    message = (
        f"{count} server processes{worker} can open {wanted} database connections "
        f"({capacity.per_process} each), but the database accepts {capacity.accepted}."
    )
    if asked is None and most >= 1:
        say(f"{message} Starting {most}.")
        return most
    raise click.ClickException(
        f"{message} Lower --workers or DATABASE_CONNECTIONS, or raise PostgreSQL's "
        "max_connections."
    )


def _serve(
    make_server: Callable[[Callable[[], bool]], Callable[..., object]],
    host: str,
    port: int,
    workers: int,
    *,
    buffered: bool,
    drain: int,
    is_log: bool,
) -> None:
    """Answer requests in ``workers`` processes until SIGTERM; one that crashes is restarted.

    ``buffered`` is whether a proxy reads whole requests first (``BufferedServer``), ``is_log``
    whether messages are lines of the log.
    """
    stopping = mmap.mmap(-1, 1)  # shared with the processes that are forked
    _Granian(
        "wsgi",
        host,
        port,
        interface=Interfaces.WSGI if buffered else Interfaces.RSGI,
        blocking_threads=THREADS if buffered else None,
        loop=Loops.asyncio,
        workers=workers,
        # HTTP/1 alone: its headers have a deadline from a connection's first byte on.
        http=HTTPModes.http1,
        websockets=False,
        http1_settings=HTTP1Settings(
            header_read_timeout=30_000, max_buffer_size=_MAX_HEADER_BYTES
        ),
        backlog=_CONNECTIONS,
        backpressure=_CONNECTIONS,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_level=LogLevels.error,
        log_dictconfig=_GRANIAN_IN_OUR_LOG if is_log else None,
    ).serve_until_drained(partial(make_server, lambda: bool(stopping[0])), stopping, drain)


class _Granian(MPServer):
    """Granian whose parent process has the listening sockets, one for each worker.

    Connections that a worker hasn't accepted yet outlive it, so that none is lost when it crashes
    or is replaced, and a stop can wait until all are accepted.
    """

    def serve_until_drained(
        self, make_server: Callable[[], Callable[..., object]], stopping: mmap.mmap, seconds: int
    ) -> None:
        """Serve; after SIGTERM set ``stopping``, and go on for ``seconds``."""
        self._stopping, self._drain_seconds = stopping, seconds
        self.serve(target_loader=make_server, wrap_loader=False)

    @override
    def _init_shared_socket(self) -> None:
        super()._init_shared_socket()  # type: ignore[no-untyped-call]
        if sys.platform == "linux":
            spec = ListenerSpec(self.bind_addr, self.bind_port, self.backlog)
            self._holders = [spec.build() for _ in range(self.workers)]

    @override
    def _spawn_worker(self, idx: int, *arguments: Any, **options: Any) -> Any:
        if sys.platform == "linux":
            self._ssp, self._shd = None, self._holders[idx]  # type: ignore[assignment]
        return super()._spawn_worker(idx, *arguments, **options)

    @override
    def shutdown(self, exit_code: int = 0) -> None:
        self._stopping[0] = 1
        time.sleep(self._drain_seconds)
        if sys.platform == "linux":
            self._stop_accepting()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def _stop_accepting(self) -> None:
        listeners = [socket.socket(fileno=os.dup(holder.get_fd())) for holder in self._holders]
        accept_the_last(listeners)
        workers: list[Any] = self.wrks
        for worker in workers:
            worker.terminate()
        # A worker that still accepts would wait for ever at a socket that was shut down.
        deadline = time.monotonic() + _LEAVE_SECONDS
        for worker in workers:
            worker.join(max(deadline - time.monotonic(), 0.0))
        for listener in listeners:
            with suppress(OSError), listener:
                listener.shutdown(socket.SHUT_RDWR)


_NO_NEW_CONNECTIONS = (
    (0x30, 0, 0, 13),  # load the flags of the TCP header
    (0x54, 0, 0, 0x12),  # of which SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # then drop the packet
    (0x06, 0, 0, 0xFFFFFFFF),
)
"""A filter for a listening socket, as bpf(4) describes it."""

_SO_ATTACH_FILTER = 26
_TCP_INFO = 11
_WAITING_AT = 24
"""Where ``struct tcp_info`` has ``tcpi_unacked``: of a listening socket, what isn't accepted."""

_SETTLE_SECONDS = 0.2
_ACCEPT_SECONDS = 5.0
_LEAVE_SECONDS = 0.5


def accept_the_last(listeners: list[socket.socket]) -> None:
    """Wait until all that has connected is accepted, and let no more connect.

    New connections are neither accepted nor refused: the client's system tries again by itself.
    A listening socket that is simply closed resets those that wait to be accepted, with requests
    that the client has already sent.
    """
    codes = b"".join(struct.pack("HBBI", *code) for code in _NO_NEW_CONNECTIONS)
    program = ctypes.create_string_buffer(codes)
    wanted = struct.pack("HxxxxxxP", len(_NO_NEW_CONNECTIONS), ctypes.addressof(program))
    for listener in listeners:
        with suppress(OSError):  # a sandbox without filters still serves those that wait
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, wanted)
    deadline = time.monotonic() + _ACCEPT_SECONDS
    time.sleep(_SETTLE_SECONDS)
    while any(map(_waiting, listeners)) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(_SETTLE_SECONDS)


def _waiting(listener: socket.socket) -> int:
    info = listener.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _WAITING_AT + 4)
    return int.from_bytes(info[_WAITING_AT:], sys.byteorder)


def _wait_for_port(say: processes.Say, host: str, port: int) -> None:
    """Wait while another process holds the port, as those of a killed parent still do.

    Fails now, by name, rather than in a process that falls again and again.
    """
    deadline = time.monotonic() + _PORT_SECONDS
    waiting = False
    while (error := _listening_error(host, port)) is not None:
        if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
            message = f"Can't listen on {host}, port {port}: {error.strerror or error}."
            raise click.ClickException(
                f"{message} Choose another host or port with --host and --port."
            ) from error
        if not waiting:
            waiting = True
            say(f"Port {port} is in use. Waiting up to {_PORT_SECONDS:.0f} s for it.")
        time.sleep(_PORT_PAUSE)


def _listening_error(host: str, port: int) -> OSError | None:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return error
    return None


class _Watch:
    """Looks whether the shop answers; says where it is then, and tells the service manager."""

    def __init__(self, out: Output, manager: ServiceManager, host: str, port: int) -> None:
        self._out = out
        self._manager = manager
        self._address = (host, port)
        self._is_log = out.form is not Form.JSON and processes.writes_json()
        self._is_ready = False

    def look(self) -> None:
        if self._is_ready and not self._manager.wants_sign_of_life:
            return
        if not self._answers():
            return
        if not self._is_ready:
            self._is_ready = True
            self._manager.tell_ready()
            self._say_where()
        if self._manager.wants_sign_of_life:
            self._manager.tell_alive()

    def _say_where(self) -> None:
        host, port = self._address
        display_host = f"[{host}]" if ":" in host else host
        base = installation().ports.configuration.public_url or f"http://{display_host}:{port}"
        api = f"{base}/graphql/"
        served = _Served(
            api=api,
            key_set=f"{base}/.well-known/jwks.json",
            console=f"{base}{CONSOLE}",
            playground=api if installation().playground_enabled else None,
        )
        if self._is_log:
            _log.info("server.started", version=VERSION, host=host, port=port, **asdict(served))
            return
        self._out.say(
            f"Latchkey {VERSION} is serving on {display_host}, port {port}. Press Ctrl-C to stop."
        )
        prints_playground = served.playground or self._out.form is Form.JSON
        self._out.show_item(served, (*_COLUMNS, _PLAYGROUND) if prints_playground else _COLUMNS)

    def _answers(self) -> bool:
        connection = HTTPConnection(*self._address, timeout=_LOOK_SECONDS)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
