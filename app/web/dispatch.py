"""Some addresses answer before Flask has opened a request: its context costs more than they do."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
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
    ``aliases`` lead requests with a path and method to another path.
    """

    def __init__(
        self,
        application: Application,
        mounted: Mapping[str, Application],
        *,
        is_page: Callable[[dict[str, Any]], bool],
        aliases: Mapping[tuple[str, str], str] = MappingProxyType({}),
    ) -> None:
        self._application = application
        self._mounted = dict(mounted)
        self._is_page = is_page
        self._aliases = aliases

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        mounted = self._mounted.get(path)
        if mounted is None:
            path = self._aliases.get((path, environ["REQUEST_METHOD"]), path)
            environ["PATH_INFO"] = path
            mounted = self._mounted.get(path)
        if mounted is None or self._is_page(environ):
            return self._application(environ, start_response)
        return mounted(environ, start_response)
