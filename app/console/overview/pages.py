"""The console's blueprint: its pages, and the checks before each of them."""

from http import HTTPStatus
from urllib.parse import quote

from flask import Blueprint, Flask, Response, redirect, request, url_for
from flask_wtf.csrf import CSRFProtect
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.console.account import (
    account,
    device,
    not_me,
    passkeys,
    passwords,
    second_factors,
    sign_in,
    sign_in_code,
)
from app.console.account.second_factors import redirect_to_second_factor
from app.console.frame import assets, metadata, page_layout, saved_filters, session, submissions
from app.console.frame.assets import state_icon
from app.console.frame.errors import register_console_errors, run_again_if_stale, to_sign_in
from app.console.frame.formatting import FILTERS, html_text, use_time_zone
from app.console.frame.forms import field_attributes
from app.console.frame.permissions import by_area, dashed_note
from app.console.frame.reauthentication import proved_first
from app.console.frame.submissions import PROOFS, keep_console_answer
from app.console.integrations import (
    app_installation,
    apps,
    deliveries,
    dry_run,
    events,
    oauth_clients,
    webhook_editing,
    webhooks,
)
from app.console.overview import home, search
from app.console.people import account_actions, customers, mails, staff
from app.console.security import (
    audit,
    inspector,
    keys,
    provider_editing,
    sign_ins,
    single_sign_on,
    throttle,
)
from app.console.shop import (
    access,
    channels,
    company_address,
    emails,
    mail_templates,
    shop_settings,
)
from app.domain.accounts.languages import ENGLISH, shipped_tag
from app.services.console.console_sessions import (
    SessionAccess,
    show_default_language,
    show_sign_in_options,
)
from app.services.console.sign_in_methods import show_own_sign_in_methods
from app.web.sessions import anonymous_actor, answered_once
from app.web.translation import browser_language, person_language, use_language

OPEN = frozenset(
    {
        "console.sign_in.index",
        "console.sign_in.begin",
        "console.sign_in.finish",
        "console.sign_in.passkey_options",
        "console.sign_in.with_passkey",
        "console.sign_in_code.index",
        "console.sign_in_code.use_passkey",
        "console.sign_in_code.passkey_options",
        "console.account.follow",
        "console.not_me.follow",
        "console.not_me.confirm",
        "console.not_me.done",
        "console.passwords.forgotten",
        "console.passwords.follow",
        "console.passwords.choose",
        "console.preferences.set_theme",
    }
)
"""The only pages without a session."""

COUNTED = (
    "console.sign_in.index",
    "console.sign_in.with_passkey",
    "console.sign_in_code.index",
    "console.sign_in_code.use_passkey",
    "console.not_me.confirm",
    "console.passwords.forgotten",
    "console.passwords.choose",
)
"""Those whose forms count or use up something, before anyone is signed in."""

WORTHLESS_TOO = OPEN | {"console.sign_in.leave", "console.preferences.keyboard"}
"""The only pages for staff whose session the login mode rejects."""

_STOPPED = (SessionAccess.NOTHING, SessionAccess.NO_STAFF_RIGHTS)
"""Sessions that the login mode rejects."""

PAGES = (
    home.blueprint,
    metadata.blueprint,
    access.blueprint,
    apps.blueprint,
    webhooks.blueprint,
    deliveries.blueprint,
    events.blueprint,
    dry_run.blueprint,
    oauth_clients.blueprint,
    staff.blueprint,
    customers.blueprint,
    sign_ins.blueprint,
    single_sign_on.blueprint,
    mail_templates.blueprint,
    emails.blueprint,
    mails.blueprint,
    keys.blueprint,
    throttle.blueprint,
    inspector.blueprint,
    audit.blueprint,
    shop_settings.blueprint,
    channels.blueprint,
    company_address.blueprint,
    account.blueprint,
    second_factors.blueprint,
    device.blueprint,
    account_actions.blueprint,
    app_installation.blueprint,
    app_installation.tokens_blueprint,
    app_installation.clients_blueprint,
    submissions.blueprint,
    not_me.blueprint,
    passkeys.blueprint,
    passwords.blueprint,
    page_layout.blueprint,
    provider_editing.blueprint,
    provider_editing.checks_blueprint,
    saved_filters.blueprint,
    search.blueprint,
    second_factors.rule_blueprint,
    sign_in.blueprint,
    sign_in_code.blueprint,
    webhook_editing.blueprint,
)
"""The page groups; first those of the side column, in its order."""

MOVED = {
    "/mails": "console.mails.index",
    "/email-templates": "console.mail_templates.index",
    "/settings/email-preview": "console.emails.look",
}
"""Where pages are now, by the URL that they were below."""

UPLOADS = (
    "console.account.save_picture",
    "console.emails.save_logo",
    "console.oauth_clients.save_logo",
)
"""Pages that take a file; the form of any other is small."""

_MAX_FORM_SIZE = 512 * 1024
"""Bytes; room for the longest subscription query, however many bytes a character takes."""

_csrf = CSRFProtect()


def mount_console(app: Flask) -> None:
    """Mount the console below ``/console/``; other paths have no overhead."""
    app.config.update(WTF_CSRF_CHECK_DEFAULT=False, WTF_CSRF_TIME_LIMIT=None)
    _csrf.init_app(app)
    session.set_up_sessions(app)
    for name, function in {**FILTERS, "by_area": by_area, "dashed_note": dashed_note}.items():
        app.add_template_filter(function, name)
    app.add_template_global(html_text, "text")
    app.add_template_global(assets.asset_url)
    app.add_template_global(state_icon)
    app.add_template_global(field_attributes)
    app.register_blueprint(assets.blueprint)
    app.register_blueprint(make_console())
    for endpoint, view in app.view_functions.items():
        if endpoint.startswith("console."):
            app.view_functions[endpoint] = answered_once(
                proved_first(run_again_if_stale(view)), _counts
            )
    app.add_url_rule("/", "front", lambda: page_layout.redirect_to("console.home.index"))


def make_console() -> Blueprint:
    """The blueprint, with every page group in it."""
    console = Blueprint("console", __name__, url_prefix="/console")
    console.before_request(guard)
    console.after_request(add_headers)
    console.teardown_request(lambda _error: use_time_zone(None))
    console.context_processor(page_layout.frame_values)
    register_console_errors(console)
    console.after_request(keep_console_answer)
    for group in PAGES:
        console.register_blueprint(group)
    for old in MOVED:
        console.add_url_rule(f"{old}/", "moved", moved)
        console.add_url_rule(f"{old}/<path:address>", "moved", moved)
    # Last, so that an address which is none gets its answer in the frame.
    console.add_url_rule("/<path:address>", "unknown_page", unknown_page)
    return console


def moved(address: str = "") -> BaseResponse:
    """Lead a URL that pages had before to where they are now."""
    rule = str(request.url_rule)
    path = next(url_for(new) for old, new in MOVED.items() if rule.startswith(f"/console{old}/"))
    if address:
        path = f"{path.rstrip('/')}/{quote(address)}"
    query = request.query_string.decode("ascii", "replace")
    return redirect(f"{path}?{query}" if query else path, HTTPStatus.MOVED_PERMANENTLY)


def unknown_page(address: str) -> BaseResponse:
    """Raise 404 for a path without a page."""
    raise NotFound


def guard() -> BaseResponse | None:
    """Require a session for every page, and a CSRF token for every change."""
    endpoint = request.endpoint or ""
    use_time_zone(session.caller().user.time_zone if session.is_signed_in() else None)
    use_language(_language())
    if not session.is_signed_in():
        if endpoint not in OPEN:
            return to_sign_in()
    elif session.caller().access in _STOPPED and endpoint not in WORTHLESS_TOO:
        return page_layout.page(
            "session_restricted.html",
            HTTPStatus.FORBIDDEN,
            sign_in_options=show_sign_in_options(session.ports(), session.actor()),
            linked=show_own_sign_in_methods(session.ports(), session.actor()).providers,
            is_by_passkey=session.is_by_passkey(),
            next_path=page_layout.own_path(request.full_path.rstrip("?")),
        )
    else:
        session.record_activity()
    if endpoint not in UPLOADS:
        request.max_content_length = _MAX_FORM_SIZE
    _csrf.protect()
    if not session.is_signed_in():
        return None
    return redirect_to_second_factor(endpoint)


def _counts() -> bool:
    """Whether the form that was sent counts or uses up something."""
    if request.endpoint in COUNTED:
        return True
    proves = session.is_signed_in() and any(name in request.form for name in PROOFS)
    return proves and request.endpoint not in UPLOADS


def _language() -> str:
    """Return the language of the page, as docs/translations.md has it."""
    if not session.is_signed_in():
        return (
            page_layout.chosen_language()
            or browser_language()
            or shipped_tag(show_default_language(session.ports(), anonymous_actor()))
            or ENGLISH
        )
    return person_language(session.caller().user.language_code)


def add_headers(answer: Response) -> Response:
    """Forbid caching and framing of every page, and remember changes and the language."""
    session.remember_change(session.ports(), answer)
    page_layout.keep_language(answer)
    for name, value in page_layout.HEADERS:
        answer.headers.setdefault(name, value)
    return answer
