"""Error pages: missing permissions and who grants them, refused requests, unknown URLs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from urllib.parse import quote

from flask import Blueprint, Response, redirect, request, url_for
from flask_wtf.csrf import CSRFError
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, NotFound, Unauthorized
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import html_text, permission_label, time_element
from app.console.frame.page_layout import form_path, own_path, page, wants_part
from app.console.frame.reauthentication import ask_for_form
from app.console.frame.session import actor, is_signed_in, now, ports
from app.domain.authorization.permissions import known_permissions
from app.domain.values.errors import (
    PermissionDenied,
    ProofRequired,
    Refused,
    TokenRejected,
    TooManyRequests,
)
from app.services.people.permission_holders import PermissionGranter, list_permission_granters
from app.web.errors import error_text, page_of
from app.web.translation import problem_text, text


@dataclass(frozen=True, slots=True)
class Granter:
    """A staff member who can grant the permission; ``action`` opens an email to them."""

    name: str
    detail: str
    mail_url: str
    action: str


@dataclass(frozen=True, slots=True)
class DeniedPage:
    """What is missing, and who can grant it."""

    missing: str
    granters: tuple[Granter, ...]


_PERMISSION = Markup("<b>{}</b> (<code>{}</code>)")


def make_denied_page(
    required: Sequence[str],
    granters: Iterable[PermissionGranter],
    now: datetime,
    *,
    needs_all: bool = False,
) -> DeniedPage:
    """Return the page for a caller without one of ``required``, or ``needs_all`` of them."""
    missing = _missing(required, needs_all=needs_all)
    return DeniedPage(missing, make_granters(required, granters, now))


def make_granters(
    required: Sequence[str], granters: Iterable[PermissionGranter], now: datetime
) -> tuple[Granter, ...]:
    """Return who can grant ``required``, as a page shows them."""
    labels = tuple(permission_label(name) for name in required)
    return tuple(_granter(granter, labels, now) for granter in granters)


def _missing(required: Sequence[str], *, needs_all: bool) -> str:
    named = [_PERMISSION.format(permission_label(name), name) for name in required]
    if len(named) == 1:
        return html_text("You need the permission {permission}.", permission=named[0])
    if needs_all:
        return html_text(
            "You need all of these permissions: {permissions}.",
            permissions=Markup(", ").join(named),
        )
    return html_text(
        "You need one of these permissions: {permissions}.", permissions=Markup(", ").join(named)
    )


def _granter(granter: PermissionGranter, labels: Sequence[str], now: datetime) -> Granter:
    subject = text("Latchkey permission: {permissions}", permissions=", ".join(labels))
    return Granter(
        name=granter.name,
        detail=_detail(granter, now),
        mail_url=f"mailto:{quote(granter.email)}?subject={quote(subject)}",
        action=text("Email {name}", name=granter.first_name or granter.name),
    )


def _detail(granter: PermissionGranter, now: datetime) -> str:
    groups = ", ".join(granter.groups)
    if granter.last_used_at is None:
        return groups
    active = time_element(granter.last_used_at, now)
    if not groups:
        return html_text("Active {active}", active=active)
    return html_text("{groups} · active {active}", groups=groups, active=active)


_MISSING = ("NOT_FOUND", "INVALID_ID")


def register_console_errors(console: Blueprint) -> None:
    """Show errors inside the console's layout."""
    console.register_error_handler(PermissionDenied, show_denied)
    console.register_error_handler(ProofRequired, lambda proof: ask_for_form(proof.act))
    console.register_error_handler(Refused, show_refused)
    console.register_error_handler(TokenRejected, lambda _: to_sign_in())
    console.register_error_handler(Unauthorized, lambda _: to_sign_in())
    console.register_error_handler(CSRFError, show_stale)
    console.register_error_handler(TooManyRequests, lambda limited: show_http(page_of(limited)))
    console.register_error_handler(HTTPException, show_http)


def to_sign_in() -> BaseResponse:
    """Redirect to sign-in, which leads back to the requested page."""
    if wants_part():
        return Response(text("Sign in again."), HTTPStatus.UNAUTHORIZED)
    is_page = request.method == "GET"
    next_path = own_path(request.full_path.rstrip("?")) if is_page else form_path()
    return redirect(url_for("console.sign_in.index", next=next_path), HTTPStatus.SEE_OTHER)


def show_denied(denied: PermissionDenied) -> BaseResponse:
    """Show which permission is missing, and who can grant it."""
    if not is_signed_in():
        return to_sign_in()
    missing = denied.required if denied.needs_all else denied.required[:1]
    granters = list_permission_granters(ports(), actor(), known_permissions(missing))
    return page(
        "denied.html",
        HTTPStatus.FORBIDDEN,
        denied=make_denied_page(denied.required, granters, now(), needs_all=denied.needs_all),
        was_sent=request.method == "POST",
        moment=now(),
    )


def show_refused(refused: Refused) -> BaseResponse:
    """Show a refusal that belongs to no form."""
    missing = all(problem.code in _MISSING for problem in refused.problems)
    status = HTTPStatus.NOT_FOUND if missing else HTTPStatus.UNPROCESSABLE_ENTITY
    title = text("Not found") if missing else text("The request was refused")
    messages = [problem_text(problem) for problem in refused.problems]
    return _stop(status, title, messages)


def show_stale(error: CSRFError) -> BaseResponse:
    """Show that a form's CSRF token is invalid; nothing was changed."""
    message = text(
        "It was opened in another session, or its cookie was deleted. Nothing was changed. "
        "Go back, reload the page and try again."
    )
    return _stop(HTTPStatus.BAD_REQUEST, text("This form has expired"), [message])


def show_http(error: HTTPException) -> BaseResponse:
    """Show an HTTP error."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    if isinstance(error, NotFound):
        return _stop(
            status, text("Page not found"), [text("Check the URL, or search for the page.")]
        )
    answer = _stop(status, text(status.phrase), [error_text(error)])
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            answer.headers[name] = value
    return answer


def _stop(status: HTTPStatus, title: str, messages: list[str]) -> Response:
    template = "error.html" if is_signed_in() else "error_signed_out.html"
    return page(template, status, title=title, messages=messages, status_code=status.value)
