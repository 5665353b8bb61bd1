"""What a request gets that no view answers, or that a view failed to: a page, or JSON."""

import base64
import hashlib
from http import HTTPStatus

import structlog
from flask import Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException, InternalServerError, ServiceUnavailable
from werkzeug.exceptions import TooManyRequests as TooManyRequestsPage

from app.domain.values.errors import TooManyRequests
from app.domain.values.installation import DatabaseUnavailable
from app.domain.values.text import translatable
from app.web.headers import NOTHING_MAY_RUN
from app.web.installation import installation
from app.web.request_hooks import current_request_id
from app.web.translation import page_direction, page_language, text

MASKED = "Internal Server Error"
UNAVAILABLE = translatable("Service temporarily unavailable")
_FAULT = translatable("Something went wrong on our side.")
UNAVAILABLE_CODE = "SERVICE_UNAVAILABLE"
_JSON = "application/json"
_PAGE = "text/html"
_log = structlog.get_logger(__name__)

WERKZEUG_SENTENCES = (
    translatable("Bad Request"),
    translatable("Forbidden"),
    translatable("Not Found"),
    translatable("Method Not Allowed"),
    translatable("Request Timeout"),
    translatable("Request Entity Too Large"),
    translatable("Too Many Requests"),
    translatable("Internal Server Error"),
    translatable("Service Unavailable"),
    translatable("The browser (or proxy) sent a request that this server could not understand."),
    translatable("The method is not allowed for the requested URL."),
    translatable("The data value transmitted exceeds the capacity limit."),
)
"""What werkzeug says of the errors that people see; other ones stay English."""

STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}"
    "h1{font-size:1.25rem}p{opacity:.8}"
)
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"{NOTHING_MAY_RUN}; style-src 'sha256-{_DIGEST}'"


def register_errors(app: Flask) -> None:
    """Answer refused requests and unexpected faults of ``app`` in the form that was asked for."""
    app.register_error_handler(HTTPException, show_refusal)
    app.register_error_handler(DatabaseUnavailable, show_outage)
    app.register_error_handler(TooManyRequests, lambda limited: show_refusal(page_of(limited)))
    app.register_error_handler(Exception, show_fault)


def page_of(limited: TooManyRequests) -> TooManyRequestsPage:
    """A use case's own limit as an answer with ``Retry-After``."""
    return TooManyRequestsPage(str(limited), retry_after=limited.retry_after)


def error_text(error: HTTPException) -> str:
    """Return what an error page says, in the language of the request."""
    if isinstance(error, TooManyRequestsPage) and isinstance(error.retry_after, int):
        return text(
            "Too many requests. Try again in {count} second.",
            "Too many requests. Try again in {count} seconds.",
            count=error.retry_after,
        )
    return text(str(error.description))


def show_refusal(refusal: HTTPException) -> Response:
    """A client's mistake, with the headers that its status calls for (``Allow``, say)."""
    response = _answer(refusal, str(refusal.description))
    for name, value in refusal.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def show_outage(outage: DatabaseUnavailable) -> Response:
    """The database is away: what helps is to come again. The log has heard of it already."""
    response = _answer(ServiceUnavailable(), UNAVAILABLE, code=UNAVAILABLE_CODE)
    response.headers["Retry-After"] = str(outage.retry_after)
    return response


def show_fault(fault: Exception) -> Response:
    """Answer an internal error with a request ID, by which it is found in the log."""
    request_id = current_request_id(installation().ports)
    _log.error("web.fault", request_id=request_id, path=request.path, exc_info=fault)
    return _answer(InternalServerError(), _FAULT, request_id)


def _answer(
    error: HTTPException, message: str, request_id: str | None = None, code: str | None = None
) -> Response:
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if request.accept_mimetypes.best_match([_JSON, _PAGE]) == _PAGE:
        # Without the context processors of render_template: the console's read the database.
        page = current_app.jinja_env.get_template("error.html").render(
            name=text(error.name),
            message=error_text(error) if message == error.description else text(message),
            request_id=request_id,
            style=STYLE,
            language=page_language(),
            direction=page_direction(),
        )
        return Response(page, status, {"Content-Security-Policy": POLICY}, mimetype=_PAGE)
    if code is not None:
        response = jsonify(errors=[{"message": message, "extensions": {"code": code}}])
    elif request_id is None:
        kind = {"code": error.name.replace(" ", "")}
        response = jsonify(errors=[{"message": message, "extensions": {"exception": kind}}])
    else:
        response = jsonify(errors=[{"message": MASKED, "extensions": {"requestId": request_id}}])
    response.status_code = status
    return response
