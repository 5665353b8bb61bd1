"""A name that means something else when it is looked up again leads no installation astray."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.apps.app_lists import show_calling_app
from app.services.apps.installation_requests import InstallationRequest, install_app
from app.services.identity.identify import identify
from tests.builders.people import visit
from tests.fakes.dns_resolver import resolve
from tests.servers.apps import AppServer, app_server
from tests.services.installation_helpers import GRANTED, failed, left_behind, work

LISTED, INTERNAL = "127.0.0.1", "127.0.0.2"


@dataclass(slots=True)
class Answers:
    """What a name resolves to, one look after the other, the last one for ever."""

    left: list[str]
    given: list[str] = field(default_factory=list)

    def next(self) -> str:
        self.given.append(self.left.pop(0) if len(self.left) > 1 else self.left[0])
        return self.given[-1]


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answers]:
    def name(*addresses: str) -> Answers:
        answers = Answers(list(addresses))
        resolve(monkeypatch, answers.next)
        return answers

    return name


def guarded(ports: Ports) -> Ports:
    """As in production, but for the one address that the operator has listed."""
    return replace(ports, http=GuardedHttp((ipaddress.ip_network(LISTED),)))


def want_by_name(ports: Ports, app: AppServer) -> None:
    """Ask for ``app``, which goes by a name instead of its address."""
    base = f"http://app.example:{app.server.url.rpartition(':')[2]}"
    app.manifest |= {"tokenTargetUrl": f"{base}/register", "appUrl": f"{base}/"}
    install_app(ports, OPERATOR, InstallationRequest("My app", f"{base}/manifest", GRANTED))


def test_stable_name_is_resolved_once_per_call(
    ports: Ports, named: Callable[..., Answers]
) -> None:
    answers = named(LISTED)
    with app_server() as app:
        want_by_name(ports, app)
        assert work(guarded(ports)) == 1
    assert answers.given == [LISTED, LISTED]
    [handshake] = app.handshakes
    assert show_calling_app(ports, identify(ports, visit(handshake.token)).actor).name == "My app"


def test_name_rebound_to_a_private_address_gets_no_token(
    ports: Ports, named: Callable[..., Answers]
) -> None:
    answers = named(LISTED, INTERNAL)
    with app_server() as app:
        want_by_name(ports, app)
        assert work(guarded(ports)) == 1
        assert app.handshakes == []
    assert answers.given == [LISTED, INTERNAL]
    assert "is in a private network" in failed(ports)
    assert left_behind(ports) == {}


def test_name_rebound_after_the_check_is_not_called(
    ports: Ports, named: Callable[..., Answers]
) -> None:
    """Whoever looks it up a second time to connect, after the check, would end elsewhere."""
    answers = named(INTERNAL, LISTED)
    with app_server() as app:
        want_by_name(ports, app)
        assert work(guarded(ports)) == 1
        assert app.server.received == []
    assert answers.given == [INTERNAL]
    assert "is in a private network" in failed(ports)
    assert left_behind(ports) == {}
