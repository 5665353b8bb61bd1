"""How often one address may ask for a page; the API has limits of its own kind."""

from flask import Flask, request
from flask_limiter import Limiter

from app.web.caller import visitor_from
from app.web.installation import installation


def set_up_limits(app: Flask, redis_url: str) -> Limiter:
    """What the views of ``app`` are limited with; nothing is limited that does not ask for it.

    Counts stand in Redis, where all processes see them, or else in each process by itself. A Redis
    that does not answer closes no page: counting goes on in the process.
    """
    return Limiter(
        _address,
        app=app,
        storage_uri=redis_url or "memory://",
        strategy="moving-window",
        in_memory_fallback_enabled=bool(redis_url),
        key_prefix="latchkey",
    )


def _address() -> str:
    return visitor_from(request.environ, installation()).address or "unknown"
