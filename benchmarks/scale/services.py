"""Web processes and a worker on PostgreSQL and Valkey behind nginx, as ``deploy/`` starts them."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from benchmarks.cluster.services import running_database, running_valkey
from benchmarks.deployment.compose import Service, read_services
from benchmarks.deployment.stack import free_port, is_ready, start_nginx, wait_until
from benchmarks.neighbours import family_seconds
from benchmarks.servers import family, proportional
from tests.servers.certificates import certificate_for
from tests.servers.run import ROOT

LOOPBACK = "127.0.0.1"

_BIN = Path(sys.executable).parent
_PATIENCE = 60.0


@dataclass(slots=True)
class Services:
    """What runs: ``port`` is nginx's, and ``processes`` are the first ones of each service.

    ``settings`` open the same database as the web processes do.
    """

    port: int
    authority: Path
    settings: Settings
    processes: dict[str, int]

    def memory(self, name: str) -> float:
        """Return the MiB that the processes of a service take together (PSS)."""
        return sum(map(proportional, family(self.processes[name])))

    def processor(self) -> dict[str, float]:
        """Return the seconds of processor time that each service has taken."""
        return {name: family_seconds(process) for name, process in self.processes.items()}


@contextmanager
def running_services(run: Path, web_processes: int) -> Iterator[Services]:
    """Start everything with an empty, migrated database; ``run`` is a folder of its own."""
    with ExitStack() as ends:
        https = free_port()
        private = run / "secrets"
        private.mkdir(mode=0o700)
        services = read_services({"PUBLIC_URL": f"https://localhost:{https}"}, private)
        database = ends.enter_context(running_database(run, LOOPBACK, free_port()))
        upgrade(_create(database.maintenance_url, database.own_url))
        valkey = ends.enter_context(
            running_valkey(run, services["valkey"], private, LOOPBACK, free_port())
        )
        authority, chain = certificate_for(run, "localhost")
        environment = _environment(
            services["web"], run, database.own_url, valkey.url(LOOPBACK, valkey.port)
        )
        web_port = free_port()
        web = _start(run, "web", _web(services["web"], web_port, web_processes), environment)
        ends.callback(_end, web)
        worker = _start(run, "worker", services["worker"].command, environment)
        ends.callback(_end, worker)
        wait_until(lambda: is_ready(web_port), web)
        start_nginx(run, [f"{LOOPBACK}:{web_port}"], chain, https, ends)
        if valkey.process is None:
            raise AssertionError("Valkey has just been started.")
        yield Services(
            https,
            authority,
            _settings(environment),
            {
                "web": web.pid,
                "worker": worker.pid,
                "postgresql": database.server.process.pid,
                "valkey": valkey.process.pid,
                "nginx": int((run / "nginx.pid").read_text()),
            },
        )


def _create(maintenance_url: str, url: str) -> str:
    with psycopg.connect(maintenance_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latchkey TEMPLATE template0")
    return url


def _environment(web: Service, run: Path, database: str, redis: str) -> dict[str, str]:
    """Return the settings of ``deploy/compose.yaml``, with what differs here."""
    kept = {name: text for name, text in web.environment.items() if not name.endswith("_FILE")}
    return {
        **kept,
        "PATH": os.pathsep.join((str(_BIN), os.defpath)),
        "FLASK_APP": str(ROOT / "wsgi.py"),
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "SECRET_KEY": secrets.token_urlsafe(48),
        "MAIL_URL": f"file:{run / 'mails.txt'}",
        # nginx alone: clients have other addresses of the loopback network, one each.
        "TRUSTED_PROXIES": f"{LOOPBACK}/32",
        "OUTGOING_ALLOWED_NETWORKS": f"{LOOPBACK}/32",
        "OPERATIONS_HOST": LOOPBACK,
    }


def _settings(environment: Mapping[str, str]) -> Settings:
    return Settings(
        database_url=environment["DATABASE_URL"],
        secret_key=environment["SECRET_KEY"],
        public_url=environment["PUBLIC_URL"],
    )


def _web(service: Service, port: int, processes: int) -> Sequence[str]:
    command = list(service.command)
    command[command.index("--host") + 1] = LOOPBACK
    command[command.index("--workers") + 1] = str(processes)
    return (*command, "--port", str(port))


def _start(
    run: Path, name: str, command: Sequence[str], environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    with (run / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [_BIN / command[0], *command[1:]],
            env={**environment, "OPERATIONS_PORT": str(free_port())},
            cwd=run,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait(_PATIENCE)
