"""A real HTTP client that can reach this machine and checks its use."""

from dataclasses import dataclass, field
from ipaddress import ip_network

from app.adapters.deferred import deferred
from app.adapters.http.guarded_http import GuardedHttp
from app.ports import Database, Http
from app.ports.http import HttpRequest, HttpResponse

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@dataclass(slots=True)
class WatchedHttp:
    """Records calls and refuses them inside a transaction."""

    database: Database
    calls: list[HttpRequest] = field(default_factory=list)
    real: Http = field(default_factory=lambda: deferred(lambda: GuardedHttp(LOOPBACK)))
    """Made at the first call: few tests make one, and reading the authorities takes 16 ms."""

    def send(self, request: HttpRequest) -> HttpResponse:
        assert not self.database.in_transaction, "no call to anybody inside a transaction"
        self.calls.append(request)
        return self.real.send(request)
