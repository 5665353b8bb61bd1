"""Error pages: missing permissions and who grants them, conflicts, refusals, unknown URLs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, redirect, request, url_for
from flask_wtf.csrf import CSRFError
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, NotFound, Unauthorized
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import clock_element, html_text, permission_label, time_element
from app.console.frame.forms import CHOICE, CONTINUED, EditConflict, EditedThing, EditForm
from app.console.frame.page_layout import form_path, own_path, page, wants_part
from app.console.frame.reauthentication import ask_for_form
from app.console.frame.session import actor, is_signed_in, now, ports
from app.console.frame.submissions import kept_name, without_secrets
from app.domain.authorization.permissions import known_permissions
from app.domain.values.errors import (
    PermissionDenied,
    ProofRequired,
    Refused,
    Stale,
    TokenRejected,
    TooManyRequests,
)
from app.services.audit.entries import LastChange, last_change, list_entries
from app.services.authorization.register import can_call
from app.services.identity.permission_holders import PermissionGranter, list_permission_granters
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
    console.register_error_handler(PermissionDenied, show_denied)
    console.register_error_handler(ProofRequired, lambda proof: ask_for_form(proof.act))
    console.register_error_handler(EditConflict, show_conflict)
    console.register_error_handler(Stale, show_contended)
    console.register_error_handler(Refused, show_refused)
    console.register_error_handler(TokenRejected, lambda _: to_sign_in())
    console.register_error_handler(Unauthorized, lambda _: to_sign_in())
    console.register_error_handler(CSRFError, show_stale)
    console.register_error_handler(TooManyRequests, lambda limited: show_http(page_of(limited)))
    console.register_error_handler(HTTPException, show_http)


_MOST_RUNS = 3
_OWN_FIELDS = ("loaded", CONTINUED)


def run_again_if_stale(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``view``, which runs again if what it read was changed before it was saved.

    It then reads what is stored now, and so decides anew whether there is a conflict.
    """

    @wraps(view)
    def again(**arguments: Any) -> Any:
        for _ in range(_MOST_RUNS - 1):
            try:
                return view(**arguments)
            except Stale:
                continue
        return view(**arguments)

    return again


def show_contended(_stale: Stale) -> BaseResponse:
    """Show that others change the same thing all the time."""
    message = text("Others are changing this right now. Nothing was saved. Try again.")
    return _stop(HTTPStatus.CONFLICT, text("The change wasn't saved"), [message])


def show_conflict(conflict: EditConflict) -> BaseResponse:
    """Show what two people changed differently, for the one who saves last to choose."""
    form, thing = conflict.form, conflict.thing
    found = last_change(ports(), actor(), thing.subject_type, str(thing.subject_id))
    if found is not None and form.opened_at is not None and found.at < form.opened_at:
        found = None
    saved_by, others = text("Saved version"), text("Other saved changes")
    if found is not None and not found.is_own:
        saved_by = text("Saved by {person}", person=found.actor_name)
        others = text("{person}'s other changes", person=found.actor_name)
    return page(
        "conflict.html",
        HTTPStatus.CONFLICT,
        form=form,
        thing=thing,
        happened=_conflict_sentence(form, thing, found),
        saved_by=saved_by,
        others=others,
        entry=None if found is None or not can_call(actor(), list_entries) else found.entry,
        action=request.full_path.rstrip("?"),
        hidden=_carried_along(form),
        choice=CHOICE,
    )


def _conflict_sentence(form: EditForm, thing: EditedThing, found: LastChange | None) -> str:
    if thing.reverted_at is not None:
        made = clock_element(thing.reverted_at, now())
        return html_text("{name} was changed after {moment}.", name=thing.name, moment=made)
    values: dict[str, object] = {"name": thing.name}
    if form.opened_at is not None:
        values["opened"] = clock_element(form.opened_at, now())
    if found is not None:
        values |= {"person": found.actor_name, "moment": time_element(found.at, now())}
    if form.opened_at is None:
        return html_text("This form doesn't say what it showed when you opened it.")
    if found is None:
        return html_text("{name} was changed after you opened it {opened}.", **values)
    if found.is_own:
        return html_text(
            "You changed {name} in another window {moment}, after you opened it here {opened}.",
            **values,
        )
    return html_text("{person} changed {name} {moment}, after you opened it {opened}.", **values)


def _carried_along(form: EditForm) -> Iterator[tuple[str, str]]:
    """Yield the fields that send ``form`` again with what was merged into it, without secrets."""
    left = {*form.edited, *(kept_name(name) for name in form.private & form.untouched)}
    for name, value in without_secrets():
        if name not in left and name not in _OWN_FIELDS and not name.startswith(CHOICE):
            yield name, value
    yield "loaded", str(form.loaded.data)
    for name in sorted(form.edited - form.private):
        yield from ((name, value) for value in form.sent_values(name))


def to_sign_in() -> BaseResponse:
    """Redirect to sign-in, which leads back to the requested page."""
    if wants_part():
        return Response(text("Sign in again."), HTTPStatus.UNAUTHORIZED)
    is_page = request.method == "GET"
    next_path = own_path(request.full_path.rstrip("?")) if is_page else form_path()
    return redirect(url_for("console.sign_in.index", next=next_path), HTTPStatus.SEE_OTHER)


def show_denied(denied: PermissionDenied) -> BaseResponse:
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
