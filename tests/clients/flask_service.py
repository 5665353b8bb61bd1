"""A Flask service that lets the shop's callers in."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import Flask, Response, abort, g, request
from latchkey_verifier import Forbidden, InvalidToken, Unavailable, Verifier, bearer

P = ParamSpec("P")
R = TypeVar("R")


def requires(verifier: Verifier, *permissions: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a view be called with these permissions; ``g.caller`` is who is calling."""

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                g.caller = verifier.check(bearer(request.headers), require=permissions)
            except InvalidToken:
                abort(Response(status=401, headers={"WWW-Authenticate": "Bearer"}))
            except Forbidden:
                abort(403)
            except Unavailable as away:
                abort(Response(status=503, headers={"Retry-After": str(away.retry_after)}))
            return view(*args, **kwargs)

        return guarded

    return decorate


def create_service(verifier: Verifier) -> Flask:
    """Return the service."""
    app = Flask(__name__)

    @app.get("/orders")
    @requires(verifier, "MANAGE_ORDERS")
    def orders() -> dict[str, str]:
        return {"asked by": g.caller.email}

    return app
