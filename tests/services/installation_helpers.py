"""Helpers for tests of app installations."""

from dataclasses import dataclass, replace

from sqlalchemy import func, select
from typing_extensions import override

from app import models
from app.domain.apps.apps import Installation
from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.ports import Http, Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.apps.installation_requests import (
    InstallationRequest,
    install_app,
    list_installations,
)
from app.services.apps.installation_worker import install_next_app
from app.services.identity.identify import identify
from tests.builders.people import ISSUER, actor_of, make_staff, visit
from tests.servers.apps import AppServer

GRANTED = frozenset({Permission.MANAGE_PRODUCTS})
EVERYTHING_OF_AN_APP = (
    models.App,
    models.AppPermission,
    models.AppToken,
    models.AppExtension,
    models.Webhook,
    models.WebhookEvent,
)


class Killed(BaseException):
    """Simulates a killed worker: nothing after it runs."""


@dataclass(slots=True)
class WithTimeout(Http):
    """A real HTTP client with another timeout, a short one, for calls to ``path``."""

    real: Http
    path: str
    seconds: float = 0.5

    @override
    def send(self, request: HttpRequest) -> HttpResponse:
        timeout = self.seconds if request.url.endswith(self.path) else request.timeout
        return self.real.send(replace(request, timeout=timeout))


@dataclass(slots=True)
class Dying(Http):
    """The worker is killed before, or after, its call to ``path``."""

    real: Http
    path: str
    after: bool = False

    @override
    def send(self, request: HttpRequest) -> HttpResponse:
        if not request.url.endswith(self.path):
            return self.real.send(request)
        if self.after:
            self.real.send(request)
        raise Killed


def boss(ports: Ports) -> Actor:
    """A staff member who installs apps."""
    manager = make_staff(ports, "boss@example.com", Permission.MANAGE_APPS, *GRANTED)
    return actor_of(ports, manager)


def want(
    ports: Ports, app: AppServer, actor: Actor | None = None, *, activate: bool = True
) -> Installation:
    """Request the installation of ``app``."""
    asker = actor or replace(OPERATOR, issuer=ISSUER)
    request = InstallationRequest("My app", app.manifest_url, GRANTED, activate)
    return install_app(ports, asker, request)


def work(ports: Ports) -> int:
    """Run one round of the worker."""
    return install_next_app(ports, WORKER)


def failed(ports: Ports) -> str:
    """Return why the only installation failed."""
    (installation,) = list_installations(ports, OPERATOR)
    assert installation.status.value == "FAILED"
    return installation.message


def opens(ports: Ports, token: str) -> bool:
    """Return whether ``token`` identifies an app."""
    return identify(ports, visit(token)).actor.is_app


def left_behind(ports: Ports) -> dict[str, int]:
    """Count the rows that belong to apps, by table."""
    with ports.database.reading() as session:
        counts = {
            kind.__tablename__: session.scalar(select(func.count()).select_from(kind)) or 0
            for kind in EVERYTHING_OF_AN_APP
        }
    return {name: count for name, count in counts.items() if count}
