"""What HTTP edges and commands work with: the installation's ports and settings.

A command on another instance has ``RemoteAccess`` instead. ``wiring`` puts both together.
"""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask, current_app

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.sign_in.rate_limits import client_of
from app.domain.values.ip_addresses import parse_address
from app.ports import Ports
from app.ports.http import Http
from app.ports.instance import DeviceLogin, Instance, Profile, Profiles
from app.ports.keys import SignatureCheck
from app.ports.system import Clock, Randomness

EXTENSION = "latchkey"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class CountStore:
    """Where Flask-Limiter counts: a storage of the ``limits`` library, known by its scheme."""

    uri: str
    options: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """``per_client`` connections of one client to a process; 0 for any number.

    ``read_seconds`` is how long a client can leave a response unread. ``exempt`` are networks that
    many clients share, such as reverse proxies: any number of connections come from there.
    """

    per_client: int = 512
    read_seconds: int = 30
    exempt: Sequence[Network] = ()

    def client_of(self, address: str) -> str:
        """Return whose connection comes from ``address``; empty if many clients share it."""
        parsed = parse_address(address)
        is_shared = parsed is None or any(parsed in network for network in self.exempt)
        return "" if is_shared else client_of(address)


NO_CONNECTION_LIMITS = ConnectionLimits(per_client=0, read_seconds=0)


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation as its HTTP edges see it; sizes are in bytes.

    ``settings_files`` are the ``.env`` files that were read for a command, the first above others,
    ``secret_files`` those that settings such as ``SECRET_KEY_FILE`` name.
    ``location`` tells people which installation it is: its URL, and where its database is.
    ``factory`` makes it from the settings; ``.env.example`` explains each name.
    """

    ports: Ports
    trusted_proxies: tuple[Network, ...]
    allowed_graphql_origins: tuple[str, ...]
    dashboard_origin: str
    playground_enabled: bool
    graphql_batch_max: int
    graphql_mutations_max: int
    graphql_entities_max: int
    graphql_tokens_max: int
    graphql_depth_max: int
    graphql_aliases_max: int
    graphql_cost_max: int
    graphql_cost_shown: bool
    graphql_values_max: int
    graphql_body_max: int
    upload_max: int
    log_level: str = "INFO"
    connection_limits: ConnectionLimits = NO_CONNECTION_LIMITS
    requests_are_buffered: bool = False
    settings_files: tuple[Path, ...] = ()
    operations_host: str = ""
    operations_port: int = 0
    secret_files: tuple[Path, ...] = ()
    location: str = ""


def install(app: Flask, installation: Installation) -> None:
    app.extensions[EXTENSION] = lambda: installation


def installation() -> Installation:
    """The installation behind the current application; needs an application context."""
    return installation_of(current_app)


def operator() -> tuple[Ports, Actor]:
    """The first two arguments of the use cases that commands call."""
    return installation().ports, OPERATOR


def installation_of(app: Flask) -> Installation:
    """Return the installation that ``app`` answers from: a command's is connected on first use."""
    connected: Installation = app.extensions[EXTENSION]()
    return connected


REMOTE_EXTENSION = "latchkey.remote_access"


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """What commands need to reach another instance, without a local installation.

    ``token`` is the one in the environment, if set. ``http`` connects to any URL, because the user
    has typed it.
    """

    http: Http
    clock: Clock
    randomness: Randomness
    signatures: SignatureCheck
    profiles: Profiles
    connect_by_token: Callable[[str, str], Instance]
    connect_by_profile: Callable[[Profile], Instance]
    sign_in_person: Callable[[str, str, str, Callable[[], str]], Profile]
    begin_device_login: Callable[[str], DeviceLogin | None]
    finish_device_login: Callable[[DeviceLogin], Profile]
    sign_in_app: Callable[[str, str], Profile]
    token: str = field(default="", repr=False)


def remote_access() -> RemoteAccess:
    """Return the current application's; needs an application context."""
    access: RemoteAccess = current_app.extensions[REMOTE_EXTENSION]()
    return access
