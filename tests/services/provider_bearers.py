"""Callers with a provider's token, and the calls to the provider."""

from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import Identity, identify
from tests.builders.people import visit
from tests.fakes.strict_http import WatchedHttp

EMAIL = "alice@sso.example"


def who(ports: Ports, credential: str) -> Identity:
    return identify(ports, visit(credential))


def fault(ports: Ports, credential: str) -> TokenFault | None:
    return who(ports, credential).actor.fault


def calls(ports: Ports) -> int:
    assert isinstance(ports.http, WatchedHttp)
    return len(ports.http.calls)
