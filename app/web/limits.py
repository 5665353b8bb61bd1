"""How often one address may ask for a page; the API has limits of its own kind."""

from typing import cast

from flask import Flask, request
from flask_limiter import Limiter

from app.web.caller import visitor_from
from app.web.hooks import WithoutHooks
from app.web.installation import installation


def set_up_limits(app: Flask, redis: object = None) -> Limiter:
    """What views of ``app`` are limited with, by its decorator ``limit``; others cost nothing.

    Counts stand in Redis, where all processes see them, or else in each process by itself. A Redis
    that does not answer closes no page: counting goes on in the process. ``redis`` is a pool of
    connections, not a URL, which ``flask limiter config`` would print with its password.
    """
    options = {} if redis is None else {"connection_pool": redis}
    limiter = Limiter(
        _address,
        storage_uri="redis://" if redis is not None else "memory://",
        storage_options=cast("dict[str, str | int]", options),
        strategy="moving-window",
        in_memory_fallback_enabled=redis is not None,
        key_prefix="latchkey",
    )
    limiter.init_app(cast("Flask", WithoutHooks(app)))
    return limiter


def _address() -> str:
    return visitor_from(request.environ, installation()).address or "unknown"
