"""Actions on an account, staff or customer: deactivate, sign out, send a link."""

from collections.abc import Callable

from flask import Blueprint, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.page_layout import (
    redirect_to,
    redirect_with_error,
    redirect_with_success,
    set_password_url,
)
from app.console.frame.reauthentication import ask_before_dialog
from app.console.frame.session import actor, ports
from app.console.lists.files import json_document
from app.console.people.person_page import name_of
from app.domain.accounts.users import User
from app.domain.authorization.actor import holds_all_permissions
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.services.accounts.password_resets import send_reset_link
from app.services.authorization.register import needs_proof
from app.services.imports.exports import export_person
from app.services.oauth.consents import disconnect_program_of_user
from app.services.people import user_status
from app.services.people.customers import delete_customer
from app.services.people.erasure import erase_person
from app.services.people.staff import delete_staff
from app.web.translation import text

_LINK_SENT = translatable("Password reset link sent to {email}.")
_LINK_WRITTEN = translatable(
    "No mail server is set up. The password reset link for {email} was written to a file on the "
    "server."
)

_PROVEN = {"export": export_person, "erase": erase_person}

blueprint = Blueprint("account_actions", __name__, url_prefix="/people")


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Return the page of an account, among the staff or the customers."""
    return redirect_to(_page_of(user_status.show_person(ports(), actor(), key).user), key=key)


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    return _act(
        key,
        translatable("Activated {name}."),
        lambda: user_status.activate_user(ports(), actor(), key),
    )


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    """Deactivate the account and end its sessions."""
    return _act(
        key,
        translatable("Deactivated {name} and ended all their sessions."),
        lambda: user_status.deactivate_user(ports(), actor(), key),
    )


@blueprint.post("/<key:key>/remove")
def remove(key: int) -> BaseResponse:
    """Delete the account and all its data."""
    user = _user(key)
    delete = delete_staff if user.is_staff else delete_customer
    try:
        delete(ports(), actor(), to_global_id("User", key))
    except Refused as refused:
        return _refused(user, refused)
    return redirect_with_success(text("Removed {name}.", name=name_of(user)), _list_of(user))


@blueprint.post("/<key:key>/export")
def export(key: int) -> BaseResponse:
    """Return everything that is stored about the person as a file."""
    user = _user(key)
    try:
        exported = export_person(ports(), actor(), user.email)
    except Refused as refused:
        return _refused(user, refused)
    return json_document(f"person-{key}", exported)


@blueprint.post("/<key:key>/erase")
def erase(key: int) -> BaseResponse:
    """Delete the account, and remove the person from logs, orders, events and deliveries."""
    user = _user(key)
    try:
        erase_person(ports(), actor(), user.email)
    except Refused as refused:
        return _refused(user, refused)
    message = text(
        "Erased {name}. Backups and log files still have their data.", name=name_of(user)
    )
    return redirect_with_success(message, _list_of(user))


@blueprint.post("/<key:key>/sign-out")
def sign_out(key: int) -> BaseResponse:
    user = _user(key)
    try:
        ended = user_status.sign_out_user(ports(), actor(), key)
    except Refused as refused:
        return _refused(user, refused)
    message = text(
        "Ended {count:,} session of {name}.",
        "Ended {count:,} sessions of {name}.",
        count=ended,
        name=name_of(user),
    )
    return redirect_with_success(message, _page_of(user), key=key, view="sessions")


@blueprint.post("/<key:key>/second-factors/reset")
def reset_factors(key: int) -> BaseResponse:
    """Remove the second factors of someone who lost them, and end their sessions."""
    return _act(
        key,
        translatable("Reset the second factors of {name} and ended all their sessions."),
        lambda: user_status.reset_second_factors(ports(), actor(), to_global_id("User", key)),
    )


@blueprint.post("/<key:key>/sessions/<key:session_id>/end")
def end_session(key: int, session_id: int) -> BaseResponse:
    return _act(
        key,
        translatable("Session ended."),
        lambda: user_status.end_user_session(ports(), actor(), key, session_id),
        view="sessions",
    )


@blueprint.post("/<key:key>/programs/<slug:client_id>/disconnect")
def disconnect(key: int, client_id: str) -> BaseResponse:
    """Take back what the person allowed a program."""
    return _act(
        key,
        translatable("Disconnected the program."),
        lambda: disconnect_program_of_user(ports(), actor(), key, client_id),
        view="account",
    )


@blueprint.post("/<key:key>/unblock")
def unblock(key: int) -> BaseResponse:
    return _act(
        key,
        translatable("Unblocked the account of {name}."),
        lambda: user_status.unblock_account(ports(), actor(), key),
    )


@blueprint.post("/<key:key>/link")
def send_link(key: int) -> BaseResponse:
    """Mail them a link to set a password."""
    return _act(
        key,
        _LINK_SENT if ports().configuration.sends_mail else _LINK_WRITTEN,
        lambda: send_reset_link(ports(), actor(), key, redirect_url=set_password_url()),
    )


def proof_before(question_name: str, user: User) -> BaseResponse | None:
    """Ask for the proof that the answer to a dialog needs, before it; ``None`` for none."""
    use_case = _PROVEN.get(question_name)
    if use_case is None or not holds_all_permissions(actor()):
        return None
    act = needs_proof(ports(), actor(), use_case, user.email)
    dialog = url_for(_page_of(user), key=user.id, ask=question_name)
    return ask_before_dialog(act, dialog) if act else None


def _act(
    key: int, message: str, act: Callable[[], object], *, view: str | None = None
) -> BaseResponse:
    """Return to the account's page with ``message`` once ``act`` is done, or with its error.

    ``view`` is the tab of the page, ``None`` for the first.
    """
    user = _user(key)
    try:
        act()
    except Refused as refused:
        return _refused(user, refused)
    sentence = text(message, name=name_of(user), email=user.email)
    return redirect_with_success(sentence, _page_of(user), key=key, view=view)


def _user(key: int) -> User:
    return user_status.show_person(ports(), actor(), key).user


def _page_of(user: User) -> str:
    return "console.staff.show" if user.is_staff else "console.customers.show"


def _list_of(user: User) -> str:
    return "console.staff.index" if user.is_staff else "console.customers.index"


def _refused(user: User, refused: Refused) -> BaseResponse:
    """Return to the account's page with the error; nothing was changed."""
    return redirect_with_error(refused, _page_of(user), key=user.id)
