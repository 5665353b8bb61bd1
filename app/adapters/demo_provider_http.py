"""Calls to identity providers in development, where one of them can be this server itself."""

from urllib.parse import urlsplit

from app.domain.sign_in.tokens import is_loopback_host
from app.domain.single_sign_on.providers import DEMO_PROVIDER_PATH
from app.ports.http import Http, HttpRequest, HttpResponse


class DemoProviderHttp:
    """Sends requests to the demo's identity provider by ``own``, and others by ``http``."""

    def __init__(self, http: Http, own: Http) -> None:
        self._http = http
        self._own = own

    def send(self, request: HttpRequest) -> HttpResponse:
        url = urlsplit(request.url)
        is_below = url.path.startswith(f"{DEMO_PROVIDER_PATH}/")
        is_own = is_below and is_loopback_host(url.hostname or "")
        return (self._own if is_own else self._http).send(request)
