"""PostgreSQL, Valkey and nginx, which all hosts share."""

import secrets
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.deployment.compose import Service
from benchmarks.deployment.stack import listens, valkey_program, wait_until
from tests.servers import postgresql
from tests.servers.sandbox import Lodging, Server


@dataclass(slots=True)
class Database:
    """A PostgreSQL server that writes to the disk before it answers, as in production."""

    lodging: Lodging
    server: Server
    address: str
    port: int

    def url(self, address: str, port: int, name: str = "latchkey") -> str:
        return f"postgresql://postgres@{address}:{port}/{name}"

    @property
    def own_url(self) -> str:
        return self.url(self.address, self.port)

    @property
    def maintenance_url(self) -> str:
        return self.url(self.address, self.port, "postgres")

    def restart(self, how: signal.Signals) -> None:
        """Stop it with SIGINT (fast) or SIGQUIT (immediate, as a crash), and start it again."""
        self.server.process.send_signal(how)
        self.server.process.wait()
        self.server = postgresql.restart(self.lodging, self.server)


@contextmanager
def running_database(run: Path, address: str, port: int) -> Iterator[Database]:
    with (run / "postgresql.log").open("ab") as log:
        rules = run / "pg_hba.conf"
        rules.write_text("local all all trust\nhost all all samenet trust\n")
        rules.chmod(0o644)
        lodging = replace(Lodging.under(run, "cluster-postgresql"), log=log.fileno())
        settings = {
            "listen_addresses": address,
            "port": str(port),
            "hba_file": str(rules),
            "max_connections": "300",
            "timezone": "Asia/Kathmandu",
        }
        server = postgresql.launch(lodging, settings)
        database = Database(lodging, server, address, port)
        try:
            yield database
        finally:
            database.server.process.send_signal(signal.SIGINT)
            database.server.process.wait()


@dataclass(slots=True)
class Valkey:
    command: Sequence[str]
    folder: Path
    address: str
    port: int
    password: str
    process: subprocess.Popen[bytes] | None = None

    def url(self, address: str, port: int) -> str:
        return f"redis://:{self.password}@{address}:{port}/0"

    def start(self) -> None:
        with (self.folder / "valkey.log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        wait_until(lambda: listens(self.address, self.port), self.process)

    def kill(self) -> None:
        if self.process is None:
            raise AssertionError("Valkey isn't running.")
        self.process.kill()
        self.process.wait()


@contextmanager
def running_valkey(
    run: Path, service: Service, secrets_folder: Path, address: str, port: int
) -> Iterator[Valkey]:
    """Run Valkey with the settings of ``deploy/compose.yaml``."""
    password = secrets.token_urlsafe()
    rule = f"user default on >{password} ~* &* +@all"
    (secrets_folder / "valkey_acl").write_text(rule)
    place = ("--port", str(port), "--bind", address, "--dir", str(run))
    command = (str(valkey_program()), *service.command[1:], *place)
    valkey = Valkey(command, run, address, port, password)
    valkey.start()
    try:
        yield valkey
    finally:
        valkey.kill()
