"""Some addresses answer before Flask has opened a request: its context costs more than they do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

StartResponse = Callable[..., Any]


class Application(Protocol):
    """A WSGI application."""

    def __call__(
        self, environ: dict[str, Any], start_response: StartResponse, /
    ) -> Iterable[bytes]: ...


_PAGE_METHODS = ("GET", "HEAD")


class Dispatch:
    """Hand requests for exactly one of ``mounted``'s paths to the application mounted there.

    Page requests stay with Flask: they are slower, and limited in number.
    """

    def __init__(self, application: Application, mounted: Mapping[str, Application]) -> None:
        self._application = application
        self._mounted = dict(mounted)

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        answering = self._mounted.get(environ["PATH_INFO"], self._application)
        if environ["REQUEST_METHOD"] in _PAGE_METHODS:
            answering = self._application
        return answering(environ, start_response)
