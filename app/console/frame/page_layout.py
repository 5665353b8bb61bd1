"""The layout of every page: navigation, signed-in user, messages, and choosing the theme."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from http import HTTPStatus
from typing import Any

from flask import (
    Response,
    current_app,
    flash,
    get_flashed_messages,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask_wtf import FlaskForm
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import navigation, session
from app.console.frame.assets import asset_url, has_font
from app.console.frame.formatting import (
    clock_element,
    exact,
    html_text,
    method_words,
    relative,
    time_element,
)
from app.console.frame.parts import Pill
from app.console.frame.saved_filters import FilterChips, make_filter_chips
from app.domain.accounts.languages import shipped_tag
from app.domain.inspector import MAX_PASTED
from app.domain.mails.mail_log import STATUS_LABELS, MailEntry, MailStatus
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.urls.web_urls import parse_web_url, resolved_path
from app.domain.values.errors import Refused
from app.domain.values.text import Sentence, translatable
from app.services.authorization.register import can_call
from app.services.console.saved_filters import Badges, show_badges
from app.services.shop.settings import Closing, update_shop
from app.web.caller import base_url
from app.web.translation import (
    ASKED_LANGUAGE,
    language_links,
    page_direction,
    page_language,
    reasons_text,
    text,
)

BEGUN = "begun"
"""The state of a message about something that goes on."""

THEMES = ("auto", "light", "dark")
_YEAR = 365 * 24 * 3600
_THEME, _LANGUAGE = "theme", "language"
_PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = (
    ("Content-Security-Policy", _PAGE_POLICY),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
"""Return the headers of console pages, in addition to those of every response."""


def page(template: str, status: HTTPStatus = HTTPStatus.OK, /, **values: object) -> Response:
    """``templates/console/<template>`` with ``values``, inside the frame."""
    return make_response(render_template(f"console/{template}", **values), status)


def refused_page(template: str, /, **values: object) -> Response:
    """A form that was refused, again, with what is wrong with it."""
    return page(template, HTTPStatus.UNPROCESSABLE_ENTITY, **values)


def form_page(template: str, form: FlaskForm, /, **values: object) -> Response:
    """Return a page with ``form``: as it is first shown, or refused with what is wrong."""
    show = refused_page if form.is_submitted() else page
    return show(template, form=form, **values)


def redirect_with_message(
    message: str, state: str, endpoint: str, /, **values: Any
) -> BaseResponse:
    """Redirect, and show ``message`` (of the state ok, info, warn or bad) on the page there."""
    flash(message, state)
    return redirect_to(endpoint, **values)


def redirect_with_success(message: str, endpoint: str, /, **values: Any) -> BaseResponse:
    """Redirect after a change, and show ``message`` on the page that follows."""
    return redirect_with_message(message, "ok", endpoint, **values)


def redirect_with_progress(message: str, endpoint: str, /, **values: Any) -> BaseResponse:
    """Redirect after something began; a refresh of the page replaces ``message`` once it ends."""
    return redirect_with_message(message, BEGUN, endpoint, **values)


def redirect_with_error(refused: Refused, endpoint: str, /, **values: Any) -> BaseResponse:
    """Redirect after a change was refused, and show why on the page that follows."""
    message = text("{reasons} Nothing was changed.", reasons=reasons_text(refused))
    return redirect_with_message(message, "bad", endpoint, **values)


def mail_message(sent: Sentence, written: Sentence, /, **values: object) -> str:
    """Say what became of an email: ``sent``, or ``written`` to a file without a mail server."""
    return text(sent if session.ports().configuration.sends_mail else written, **values)


_MAIL_STATES = {
    MailStatus.QUEUED: "info",
    MailStatus.WAITING: "info",
    MailStatus.SENT: "ok",
    MailStatus.SENT_BY_APP: "ok",
    MailStatus.DEFERRED: "warn",
    MailStatus.FAILED: "bad",
}
WRITTEN = translatable("Written to a file")


def mail_pill(mail: MailEntry) -> Pill:
    label = STATUS_LABELS[mail.status]
    if mail.status is MailStatus.SENT:
        return Pill("ok", mail_message(label, WRITTEN))
    return Pill(_MAIL_STATES[mail.status], text(label))


def redirect_to(endpoint: str, /, **values: Any) -> BaseResponse:
    """Redirect after a form, to be fetched with GET."""
    return redirect(url_for(endpoint, **values), HTTPStatus.SEE_OTHER)


def wants_part() -> bool:
    """Whether script asks, which needs what is inside the page alone."""
    return request.headers.get("X-Requested-With") == "fetch" or session.is_refresh()


@dataclass(frozen=True, slots=True)
class Message:
    """What the page says about the act before it; ``role`` is the element's."""

    state: str
    words: str

    @property
    def role(self) -> str:
        return "alert" if self.state == "bad" else "status"

    @property
    def has_begun(self) -> bool:
        """Whether it tells of something that goes on, so that a refresh says how it ended."""
        return self.state == BEGUN


def flashed_messages() -> Sequence[Message]:
    """Return the messages for this page; a refresh leaves them to the next."""
    if session.is_refresh():
        return ()
    return [Message(*flashed) for flashed in get_flashed_messages(with_categories=True)]


def theme() -> str:
    chosen = request.cookies.get(session.cookie_name(_THEME), "auto")
    return chosen if chosen in THEMES else "auto"


def keep_theme(answer: BaseResponse, chosen: str) -> None:
    session.keep_in_browser(answer, _THEME, chosen, _YEAR)


def chosen_language() -> str:
    """Return the language that was chosen in this browser; empty without one."""
    asked = request.args.get(ASKED_LANGUAGE, "")
    return shipped_tag(asked) or shipped_tag(
        request.cookies.get(session.cookie_name(_LANGUAGE), "")
    )


def keep_language(answer: BaseResponse) -> None:
    """Remember the language of whoever is signed in, or what was asked for, in this browser.

    So a page before signing in, or after signing out, has the language of those before it. After
    an outage no one is looked up: a second question to the database would fail too.
    """
    if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return
    asked = shipped_tag(request.args.get(ASKED_LANGUAGE, ""))
    tag = page_language() if session.is_signed_in() else asked
    if tag and request.cookies.get(session.cookie_name(_LANGUAGE)) != tag:
        session.keep_in_browser(answer, _LANGUAGE, tag, _YEAR)


def frame_values() -> dict[str, Any]:
    """What the frame's templates need, for every page."""
    values: dict[str, object] = {
        "theme": theme(),
        "page_language": page_language,
        "page_direction": page_direction,
        "language_links": language_links,
        "csrf_token": generate_csrf,
        "ago": lambda moment: relative(moment, session.now()),
        "exact": exact,
        "asset_url": cache(asset_url),  # most icons of a page are in one file
        "has_font": has_font,
        "flashed_messages": flashed_messages,
        "return_to": own_path(request.full_path.rstrip("?")),
        "is_development": session.ports().configuration.development,
        "is_open": current_app.view_functions.__contains__,
        "longest_search": MAX_PASTED,
    }
    if session.is_signed_in():
        by = session.signed_in_by()
        user = session.caller().user
        shown_list = navigation.list_of(request.endpoint or "")
        found = Badges()
        if user.is_staff:
            found = show_badges(session.ports(), session.caller().actor, shown_list)
        full_name = text("{first} {last}", first=user.first_name, last=user.last_name).strip()
        values |= {
            "me": session.caller(),
            "signed_in_by": by,
            "sign_in_method": by.provider
            or method_words(by.origin, by_passkey=session.is_by_passkey()),
            "session_summary": _session_summary(user.email, by),
            "session_end": text(
                "The session ends after {count} minute of inactivity.",
                "The session ends after {count} minutes of inactivity.",
                count=session.IDLE // timedelta(minutes=1),
            ),
            "person_name": full_name or user.email,
            "playground_url": "/graphql/",
            "badges": _badges(found),
            "filter_chips": _filter_chips(found, shown_list) if shown_list else None,
            "is_current_place": _is_current,
            "is_current_group": lambda group: any(map(_is_current, group.places)),
            "place_groups": navigation.place_groups(session.caller().actor),
            "can_open": partial(navigation.can_open, session.caller().actor),
            "shop_name": session.caller().shop.name,
            "banner": banner_text(session.caller().shop.switches, found.closing, session.now()),
            "can_change_access": can_call(session.caller().actor, update_shop),
        }
    return values


def _session_summary(email: str, by: session.SignedInBy) -> str:
    values = {
        "email": Markup("<b>{}</b>").format(email),
        "since": time_element(datetime.fromtimestamp(by.since, UTC), session.now()),
        "provider": by.provider,
    }
    if by.provider:
        return html_text("Signed in as {email} with {provider} (SSO), {since}.", **values)
    if session.is_by_passkey():
        return html_text("Signed in as {email} with a passkey, {since}.", **values)
    return html_text("Signed in as {email} with a password, {since}.", **values)


def banner_text(switches: Switches, closing: Closing | None, moment: datetime) -> Markup:
    """Return what every page says while a switch is off its default; empty if none is."""
    sentences = []
    if not switches.allow_storefront_traffic:
        sentences.append(
            html_text(
                Markup("<b>The storefront is closed.</b> Customers and visitors get a 401 error.")
            )
        )
    if closing is not None and closing.note:
        sentences.append(html_text("Note: “{note}”.", note=closing.note))
    if closing is not None and closing.opens_at is not None:
        opens = clock_element(closing.opens_at, moment)
        sentences.append(html_text("Opens {moment}.", moment=opens))
    if switches.password_login_mode is PasswordLoginMode.CUSTOMERS_ONLY:
        sentences.append(html_text(Markup("<b>Password login is limited to customers.</b>")))
    if switches.password_login_mode is PasswordLoginMode.DISABLED:
        sentences.append(html_text(Markup("<b>Password login is off.</b>")))
    return Markup(" ").join(sentences)


def _is_current(place: navigation.Entry) -> bool:
    group = place.endpoint.rpartition(".")[0]
    if (request.endpoint or "").startswith(f"{group}."):
        return True
    if place.area and place.area == navigation.area_of(request.endpoint or ""):
        return True
    below = request.path.startswith(url_for(place.endpoint))
    return below and place.endpoint != "console.home.index"


def _badges(found: Badges) -> dict[str, dict[str, object]]:
    """Return the badges of items that need attention, by page."""
    badges = {
        "console.webhooks.index": (found.webhooks, "bad", text("failing or disabled")),
        "console.throttle.index": (found.blocked_ips, "warn", text("blocked")),
    }
    return {
        place: {"count": count, "state": state, "words": words}
        for place, (count, state, words) in badges.items()
        if count
    }


def server_url() -> str:
    """Return this server's URL: as configured, or in development as it was reached."""
    return session.ports().configuration.public_url or base_url(request.environ)


def _filter_chips(found: Badges, list_name: str) -> FilterChips | None:
    url = url_for(request.endpoint or "")
    return make_filter_chips(found.saved_filters, list_name, url, request.args)


def full_url(endpoint: str, **values: str) -> str:
    return f"{server_url()}{url_for(endpoint, **values)}"  # type: ignore[arg-type]


def set_password_url() -> str:
    """Return the full URL of the page that emails of the console lead to."""
    return full_url("console.passwords.follow")


def form_path() -> str:
    """Return the page of the console that the form of this request was on."""
    came_from = parse_web_url(request.referrer or "")
    return own_path(came_from.rest if came_from else None)


def own_path(next_path: str | None) -> str:
    """Return the console's page at ``next_path`` as browsers read it, or Home's path."""
    path = resolved_path(next_path or "") or ""
    root = url_for("console.home.index")
    if not path.startswith(root) or path.startswith(f"{root}sign-in"):
        return root
    return path


blueprint = navigation.PageGroup(
    "preferences",
    __name__,
    navigation.Entry("Keyboard shortcuts", "keyboard", "keys help", view="keyboard"),
)


@blueprint.post("/theme")
def set_theme() -> BaseResponse:
    """Light, dark, or as the system has it."""
    chosen = request.form.get("theme", "auto")
    answer = redirect(own_path(request.form.get("next")), HTTPStatus.SEE_OTHER)
    if chosen in THEMES:
        keep_theme(answer, chosen)
    return answer


@blueprint.get("/keyboard")
def keyboard() -> BaseResponse:
    """The keys, as a page; script shows it as a dialog."""
    return page("keyboard.html")
