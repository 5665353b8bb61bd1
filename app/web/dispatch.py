"""Some addresses answer before Flask has opened a request: its context costs more than they do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

StartResponse = Callable[..., Any]


class Application(Protocol):
    """A WSGI application."""

    def __call__(
        self, environ: dict[str, Any], start_response: StartResponse, /
    ) -> Iterable[bytes]: ...


class Dispatch:
    """Hand requests for exactly one of ``mounted``'s paths to the application mounted there.

    What ``is_page`` says is a page stays with Flask: pages are slower, and limited in number.
    """

    def __init__(
        self,
        application: Application,
        mounted: Mapping[str, Application],
        *,
        is_page: Callable[[dict[str, Any]], bool],
    ) -> None:
        self._application = application
        self._mounted = dict(mounted)
        self._is_page = is_page

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        mounted = self._mounted.get(environ["PATH_INFO"])
        if mounted is None or self._is_page(environ):
            return self._application(environ, start_response)
        return mounted(environ, start_response)
