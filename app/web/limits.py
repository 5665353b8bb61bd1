"""How often one address may ask for a page; the API has limits of its own kind."""

from typing import cast

from flask import Flask, request
from flask_limiter import Limiter

from app.web.caller import visitor_from
from app.web.installation import installation


def set_up_limits(app: Flask, redis_url: str) -> Limiter:
    """What views of ``app`` are limited with, by its decorator ``limit``; others cost nothing.

    Counts stand in Redis, where all processes see them, or else in each process by itself. A Redis
    that does not answer closes no page: counting goes on in the process.
    """
    limiter = Limiter(
        _address,
        storage_uri=redis_url or "memory://",
        strategy="moving-window",
        in_memory_fallback_enabled=bool(redis_url),
        key_prefix="latchkey",
    )
    limiter.init_app(cast("Flask", _WithoutHooks(app)))
    return limiter


class _WithoutHooks:
    """An application in which the extension gets to see no request by itself.

    Its hooks cost every request, the key set's too, more than the rest of Flask does; a view that
    has been decorated checks without them.
    """

    def __init__(self, app: Flask) -> None:
        self.config = app.config
        self.extensions = app.extensions

    def before_request(self, _hook: object) -> None:
        """The decorator checks, when its view is called."""

    def after_request(self, _hook: object) -> None:
        """No headers are sent, and nothing is taken off afterwards."""

    def teardown_request(self, _hook: object) -> None:
        """What is remembered of a request goes with it."""


def _address() -> str:
    return visitor_from(request.environ, installation()).address or "unknown"
