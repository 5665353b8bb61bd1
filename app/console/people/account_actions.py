"""Actions on an account, staff or customer: deactivate, sign out, send a link."""

from flask import Blueprint, flash
from werkzeug.wrappers import Response as BaseResponse

from app.console.page_layout import done, go, set_password_address
from app.console.session import actor, ports
from app.domain.accounts.users import User
from app.domain.values.errors import Refused, problem_text
from app.domain.values.ids import to_global_id
from app.services.accounts.reset_links import send_reset_link
from app.services.people.customers import delete_customer
from app.services.people.staff import delete_staff
from app.services.people.user_sessions import end_user_session, show_person
from app.services.people.user_status import activate_user, deactivate_user, sign_out_user

blueprint = Blueprint("account_actions", __name__, url_prefix="/people")


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Return the page of an account, among the staff or the customers."""
    return go(_page_of(show_person(ports(), actor(), key).user), key=key)


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    """Activate the account."""
    user = _user(key)
    try:
        activate_user(ports(), actor(), key)
    except Refused as refused:
        return _refused(user, refused)
    return done(f"{name_of(user)} is active and can sign in again.", _page_of(user), key=key)


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    """Deactivate the account and end its sessions."""
    user = _user(key)
    try:
        deactivate_user(ports(), actor(), key)
    except Refused as refused:
        return _refused(user, refused)
    message = f"{name_of(user)} was deactivated and is signed out everywhere."
    return done(message, _page_of(user), key=key)


@blueprint.post("/<key:key>/remove")
def remove(key: int) -> BaseResponse:
    """Delete the account and all its data."""
    user = _user(key)
    delete = delete_staff if user.is_staff else delete_customer
    try:
        delete(ports(), actor(), to_global_id("User", key))
    except Refused as refused:
        return _refused(user, refused)
    there = "console.staff.index" if user.is_staff else "console.customers.index"
    return done(f"{name_of(user)} was removed.", there)


@blueprint.post("/<key:key>/sign-out")
def sign_out(key: int) -> BaseResponse:
    """End all their sessions."""
    user = _user(key)
    try:
        ended = sign_out_user(ports(), actor(), key)
    except Refused as refused:
        return _refused(user, refused)
    told = "1 session has" if ended == 1 else f"{ended} sessions have"
    message = f"{name_of(user)} was signed out everywhere: {told} ended."
    return done(message, _page_of(user), key=key)


@blueprint.post("/<key:key>/sessions/<key:session_id>/end")
def end_one(key: int, session_id: int) -> BaseResponse:
    """End one session of the account."""
    user = _user(key)
    try:
        end_user_session(ports(), actor(), key, session_id)
    except Refused as refused:
        return _refused(user, refused)
    message = "The session has ended: its tokens are worth nothing any more."
    return done(message, _page_of(user), key=key)


@blueprint.post("/<key:key>/link")
def send_link(key: int) -> BaseResponse:
    """Mail them a link to set a password."""
    user = _user(key)
    try:
        send_reset_link(ports(), actor(), key, redirect_url=set_password_address())
    except Refused as refused:
        return _refused(user, refused)
    message = f"A link to set a password is on its way to {user.email}."
    return done(message, _page_of(user), key=key)


def name_of(user: User) -> str:
    """Return the account's name, or else its email."""
    return f"{user.first_name} {user.last_name}".strip() or user.email


def _user(key: int) -> User:
    return show_person(ports(), actor(), key).user


def _page_of(user: User) -> str:
    return "console.staff.show" if user.is_staff else "console.customers.show"


def _refused(user: User, refused: Refused) -> BaseResponse:
    """Return to the account's page with the error; nothing was changed."""
    reasons = " ".join(problem_text(problem) for problem in refused.problems)
    flash(f"{reasons} Nothing was changed.", "bad")
    return go(_page_of(user), key=user.id)
