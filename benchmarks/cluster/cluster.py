"""Two hosts, what they share, and a shop with people, an app and a webhook."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import anonymous
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.ports import Ports
from benchmarks.cluster.hosts import PORTS, Host
from benchmarks.cluster.network import Network, open_network
from benchmarks.cluster.receiver import Receiver, running_receiver
from benchmarks.cluster.services import Database, Valkey, running_database, running_valkey
from benchmarks.deployment.compose import Service, read_services
from benchmarks.deployment.load import Api
from benchmarks.deployment.stack import free_port, start_nginx
from tests.builders.apps import make_app
from tests.builders.people import make_user, sign_in
from tests.builders.webhooks import make_webhook
from tests.servers.certificates import certificate_for
from tests.servers.run import ROOT

_DAY = "86400"
_QUERY = "subscription { event { ... on CustomerCreated { user { email } } } }"


@dataclass(frozen=True, slots=True)
class Cluster:
    """``api`` sends requests of a superuser through nginx; ``app`` is the key of an app."""

    network: Network
    database: Database
    valkey: Valkey
    receiver: Receiver
    hosts: tuple[Host, ...]
    ports: Ports
    api: Api
    app: int

    @property
    def is_ready(self) -> bool:
        return all(host.is_ready for host in self.hosts)

    def sign_in(self, user: int) -> str:
        """Return an access token of a new session."""
        return self._tokens(user)[0]

    def _tokens(self, user: int) -> tuple[str, str]:
        caller = anonymous(address="203.0.113.7", issuer=f"{self.api.url}/graphql/")
        pair = sign_in(self.ports, user, caller=caller)
        return pair.access, pair.refresh

    def sign_in_api(self) -> None:
        staff = make_user(self.ports, "staff@example.com", password=None, is_superuser=True)
        self.api.token, self.api.refresh_token = self._tokens(staff)


@contextmanager
def running_cluster(run: Path) -> Iterator[Cluster]:
    """Start PostgreSQL, Valkey, the hosts and nginx, in this order."""
    with ExitStack() as ends:
        network = ends.enter_context(open_network(("a", "b")))
        center = network.center.address
        https = free_port()
        url = f"https://localhost:{https}"
        private = run / "secrets"
        private.mkdir(mode=0o700)
        services = read_services({"PUBLIC_URL": url}, private)
        database = ends.enter_context(running_database(run, center, free_port()))
        with psycopg.connect(database.maintenance_url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE latchkey TEMPLATE template0")
        upgrade(database.own_url)
        valkey = ends.enter_context(
            running_valkey(run, services["valkey"], private, center, free_port())
        )
        receiver = ends.enter_context(running_receiver(center))
        authority, chain = certificate_for(run, "localhost")
        given = _settings(services["web"], run, center, database, valkey)
        ports = connect(
            Settings(
                database_url=database.own_url,
                secret_key=given["SECRET_KEY"],
                public_url=url,
                jwt_ttl_access=int(_DAY),
            )
        )
        ends.callback(ports.database.close)
        app, _ = make_app(ports, "Receiver", Permission.MANAGE_USERS)
        make_webhook(ports, app, EventType.CUSTOMER_CREATED, target_url=receiver.url, query=_QUERY)
        hosts = tuple(Host(place, run, dict(given)) for place in network.hosts)
        for host in hosts:
            ends.callback(host.stop)
            host.start()
        addresses = [f"{place.address}:{port}" for place in network.hosts for port in PORTS]
        start_nginx(run, addresses, chain, https, ends)
        cluster = Cluster(
            network, database, valkey, receiver, hosts, ports, Api(url, authority), app
        )
        cluster.sign_in_api()
        yield cluster


def _settings(
    web: Service, run: Path, center: str, database: Database, valkey: Valkey
) -> dict[str, str]:
    """Return the settings of ``deploy/compose.yaml``, with what differs here."""
    kept = {
        name: text
        for name, text in web.environment.items()
        if not name.endswith("_FILE") and not name.startswith("OPERATIONS_")
    }
    return {
        **kept,
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "FLASK_APP": str(ROOT / "wsgi.py"),
        "DATABASE_URL": database.own_url,
        "REDIS_URL": valkey.url(center, valkey.port),
        "SECRET_KEY": secrets.token_urlsafe(48),
        "MAIL_URL": f"file:{run / 'mails.txt'}",
        "TRUSTED_PROXIES": f"{center}/32",
        "OUTGOING_ALLOWED_NETWORKS": f"{center}/32",
        "JWT_TTL_ACCESS": _DAY,
        # Tens of thousands of requests: their log would be the load.
        "ACCESS_LOG": "false",
        "LOG_LEVEL": "WARNING",
    }
