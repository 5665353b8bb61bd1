"""Rate limits of pages and forms, by Flask-Limiter; those of the API are counted by the services.

Both come from ``domain.rate_limits``, and are counted in the same kind of store.
"""

import logging
from collections.abc import Callable
from functools import partial, wraps
from math import ceil
from typing import Any, NoReturn, cast

from flask import Flask, request
from flask_limiter import Limiter, RequestLimit

from app.domain.sign_in.rate_limits import CONSOLE_FORM, HOSTED_FORM, PAGE_LIMITS, client_of
from app.domain.values.errors import TooManyRequests
from app.services.authorization.rate_limits import limit_rate
from app.web.caller import visitor_from
from app.web.errors import page_of
from app.web.installation import CountStore, installation

_FORMS = {CONSOLE_FORM: ("console.",), HOSTED_FORM: ("hosted.", "oauth.confirm_logout")}
_STATIC = "static"
_UNLIMITED = "1000000000/second"


def set_up_limits(app: Flask, store: CountStore) -> Limiter:
    """Return the limiter of ``app``; ``limit_pages`` decorates the pages that it limits."""
    limiter = Limiter(
        lambda: client_of(_address()),
        storage_uri=store.uri,
        storage_options=cast("dict[str, str | int]", dict(store.options)),
        strategy="fixed-window",
        key_prefix="latchkey",
        on_breach=_refuse,
    )
    limiter.logger.setLevel(logging.WARNING)  # a line for each refused request is a flood, too
    limiter.init_app(app)
    return limiter


def limit_pages(app: Flask, limiter: Limiter) -> None:
    """Limit every page of ``PAGE_LIMITS`` and every form of the console and the hosted pages.

    Call it when all routes are there. A page that takes a form is limited in its sending alone.
    """
    with_forms = {
        rule.endpoint for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())
    }
    app.view_functions[_STATIC] = _static_files(app.view_functions[_STATIC])
    for endpoint, view in app.view_functions.items():
        if endpoint == _STATIC:
            continue
        has_form = endpoint in with_forms
        name = endpoint
        if endpoint not in PAGE_LIMITS:
            name = next((each for each in _FORMS if endpoint.startswith(_FORMS[each])), "")
            if not has_form or not name:
                continue
        limit = limiter.shared_limit(
            partial(_format_limit, name), scope=name, methods=["POST"] if has_form else None
        )
        app.view_functions[endpoint] = cast("Any", limit(view))


def _static_files(view: Callable[..., Any]) -> Callable[..., Any]:
    """Count requests for static files, which Flask-Limiter leaves out; answer with whole files.

    Parts of files (``Range``, which a server can ignore) would be copied before they are sent.
    """

    @wraps(view)
    def limited(**arguments: object) -> Any:
        limit_rate(installation().ports, _STATIC, _address())
        request.environ.pop("HTTP_RANGE", None)
        return view(**arguments)

    return limited


def _format_limit(name: str) -> str:
    """The rates in force for the client of this request, as Flask-Limiter reads them."""
    rates = installation().ports.configuration.rate_limits.rates(name, _address())
    return ";".join(rate.text for rate in rates) or _UNLIMITED


def _address() -> str | None:
    return visitor_from(request.environ, installation()).address


def _refuse(breached: RequestLimit) -> NoReturn:
    wait = ceil(breached.window.reset_time - installation().ports.clock.timestamp())
    raise page_of(TooManyRequests(wait))
