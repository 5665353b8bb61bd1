"""Which requests in development can reach this machine itself: the demo provider's alone."""

from app.adapters.http.identity_provider import DemoProviderHttp, OpenIdProvider
from app.ports.http import HttpRequest, HttpResponse
from tests.fixtures.cases import cases

OWN, OTHER = 204, 404


class Answering:
    """Answers every request with one status."""

    def __init__(self, status: int) -> None:
        self._response = HttpResponse(status)

    def send(self, _request: HttpRequest) -> HttpResponse:
        return self._response


@cases(
    ("url", "status"),
    [
        ("http://127.0.0.1:8000/demo-identity-provider/authorize", OWN),
        ("http://localhost:8000/demo-identity-provider/authorize", OWN),
        ("http://127.0.0.1:8000/demo-identity-provider", OTHER),
        ("http://127.0.0.1:8000/demo-identity-providers/authorize", OTHER),
        ("http://127.0.0.1:8000/graphql/", OTHER),
        ("http://10.0.0.1/demo-identity-provider/authorize", OTHER),
        ("http://id.example.com/demo-identity-provider/authorize", OTHER),
    ],
)
def test_only_the_demo_provider_on_this_machine_is_reached(url: str, status: int) -> None:
    http = DemoProviderHttp(Answering(OTHER), Answering(OWN))
    assert OpenIdProvider(http).fetch_status(url) == status
