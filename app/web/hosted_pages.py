"""The frame of the hosted pages: who is signed in, the shop's look, headers, language, targets.

The pages of an account and the provider's (consent) share it. Their cookie names a session of the
hosted pages alone; ``flask.session`` holds it and what one step of a sign-in leaves to the next.
"""

import json
from datetime import datetime, timedelta
from http import HTTPStatus
from math import ceil
from typing import Any, cast
from urllib.parse import urlencode

from flask import (
    Response,
    flash,
    g,
    get_flashed_messages,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask_babel import format_datetime
from flask_wtf.csrf import CSRFError, CSRFProtect, generate_csrf
from markupsafe import Markup
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.domain.accounts.languages import ENGLISH, shipped_tag
from app.domain.urls.web_urls import resolved_path
from app.ports import Ports
from app.services import hosted
from app.services.oauth.grants import form_target
from app.web import translation
from app.web.caller import base_url
from app.web.installation import installation
from app.web.request_hooks import record_actor
from app.web.sessions import anonymous_actor, keep_form_answer, page_visitor

HOME = "/account/"
SIGN_IN = "/account/sign-in"
_PROVIDER = ("/oauth/authorize", "/oauth/device")
_NO_TARGETS = ("/account/sign-", "/account/confirm", "/account/new-password", "/account/look.css")
_ANSWERED = "answered"
_REPEATED_FOR = timedelta(minutes=1)
"""For how long the same form, sent again, leads where it led: as long as browsers wait."""

_NEW_EACH_TIME = frozenset({"oauth.consent"})
"""Forms whose answer works once: a code that came again would end the grant of the first."""

_MAX_FORM_SIZE = 64 * 1024
_csrf = CSRFProtect()
_ICONS = {
    "globe": Markup(
        '<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c3 3 3.8 6 3.8 9s-.8 6-3.8 9'
        'c-3-3-3.8-6-3.8-9s.8-6 3.8-9Z"/>'
    ),
    "passkey": Markup(
        '<circle cx="9" cy="7.5" r="4"/><path d="M2 20.5c0-4.3 3-7 7-7 1 0 1.9.15 2.7.45"/>'
        '<circle cx="17.5" cy="12.5" r="3.3"/><path d="M17.5 15.8v6l2-1.7-1-1.3 1-1.3"/>'
    ),
    "lock": Markup(
        '<rect x="5" y="10.5" width="14" height="10" rx="2"/>'
        '<path d="M8 10.5V8a4 4 0 0 1 8 0v2.5"/>'
    ),
    "mail": Markup(
        '<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7 8.5 6 8.5-6"/>'
    ),
    "alert": Markup('<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.2v.1"/>'),
    "clock": Markup('<circle cx="12" cy="12" r="9"/><path d="M12 7v5.3l3.5 2"/>'),
    "screen": Markup(
        '<rect x="4.5" y="5" width="15" height="10.5" rx="1.5"/><path d="M2.5 19h19"/>'
    ),
    "plus": Markup('<path d="M12 5v14M5 12h14"/>'),
    "exchange": Markup('<path d="M4 9h15l-3.5-3.5M20 15H5l3.5 3.5"/>'),
}


def ports() -> Ports:
    return installation().ports


def hosted_person() -> hosted.HostedPerson | None:
    """Return who is signed in by this request's cookie; one statement a request."""
    if "hosted_person" not in g:
        token, user_id = session.get("token", ""), session.get("user", 0)
        g.hosted_person = (
            hosted.find_hosted_person(ports(), page_visitor(), str(token), int(user_id))
            if token
            else None
        )
        if g.hosted_person is not None:
            record_actor(g.hosted_person.actor)
            ports().activity.record_session_use(g.hosted_person.session_id)
    return cast("hosted.HostedPerson | None", g.hosted_person)


def hosted_shop() -> hosted.HostedShop:
    """Return the shop; one statement a request."""
    if "hosted_shop" not in g:
        g.hosted_shop = hosted.show_hosted_shop(ports(), anonymous_actor())
    return cast("hosted.HostedShop", g.hosted_shop)


def begin_hosted(opened: hosted.HostedSession, next_path: str) -> BaseResponse:
    """Sign in with a new cookie, which keeps nothing of the old one, and lead on.

    The session that the browser had before ends.
    """
    before = hosted_person()
    if before is not None:
        hosted.replace_hosted_session(ports(), before.actor, opened)
    language = session.get(translation.ASKED_LANGUAGE)
    session.clear()
    session.update({"token": opened.token, "user": opened.user_id})
    if language:
        session[translation.ASKED_LANGUAGE] = language
    session.permanent = True
    g.pop("hosted_person", None)
    return _redirect_after_form(own_target(next_path))


def end_hosted(leads_to: str) -> BaseResponse:
    """Sign out and lead on: the session ends everywhere, and the cookie is emptied."""
    person = hosted_person()
    if person is not None:
        hosted.sign_out_of_hosted_pages(ports(), person.actor)
    session.clear()
    g.hosted_person = None
    return _redirect_after_form(leads_to)


def _redirect_after_form(location: str) -> BaseResponse:
    """Redirect after the cookie was replaced, and note where this very form has led.

    Its second click comes with the new cookie, which knows nothing of the form's CSRF token.
    """
    if request.method == "POST":
        at = ports().clock.timestamp()
        session[_ANSWERED] = {"form": _form_key(), "at": at, "location": location}
    return redirect(location, HTTPStatus.SEE_OTHER)


def _form_key() -> str:
    """Return a digest of a page's form and fields, keyed: passwords can't be tried on it."""
    sent = json.dumps([request.full_path, *request.form.items(multi=True)])
    return ports().encryption.fingerprint("hosted form", sent)


def own_target(next_path: str | None) -> str:
    """Return where a sign-in leads: the provider's page or an account page, else the account.

    The path is as browsers read it, so that no spelling leads to another host.
    """
    path = resolved_path(next_path or "") or ""
    bare = path.partition("?")[0]
    if bare in _PROVIDER:
        return path
    if path.startswith(HOME) and not path.startswith(_NO_TARGETS):
        return path
    return HOME


def sign_in_url(next_path: str, *, again: bool = False) -> str:
    """Return the sign-in page that leads to ``next_path``; ``again`` asks who is signed in."""
    arguments = {"next": own_target(next_path), **({"again": "1"} if again else {})}
    return f"{SIGN_IN}?{urlencode(arguments)}"


def next_path() -> str:
    """Return the target that this request's URL names."""
    return own_target(request.args.get("next"))


def step(endpoint: str, /, **values: Any) -> str:
    """Return the URL of another step of the sign-in, which leads to the same target."""
    target = next_path()
    more = {} if target == HOME else {"next": target}
    if request.args.get("again"):
        more["again"] = "1"
    return url_for(f"hosted.{endpoint}", **{**more, **values})


def to_step(endpoint: str, /, **values: Any) -> BaseResponse:
    """Redirect to another step after a form."""
    return redirect(step(endpoint, **values), HTTPStatus.SEE_OTHER)


def full_url(endpoint: str, /, **values: Any) -> str:
    """Return the full URL of a hosted page, for emails and identity providers."""
    server = ports().configuration.public_url or base_url(request.environ)
    return f"{server}{url_for(f'hosted.{endpoint}', **values)}"


def guard_hosted() -> BaseResponse | None:
    """Check before every hosted page: on, open, in the language, with a CSRF token.

    While the storefront is closed, no cookie or form is looked at.
    """
    shop = hosted_shop()
    if not shop.is_on:
        raise NotFound
    if not shop.is_open:
        return show_closed()
    request.max_content_length = _MAX_FORM_SIZE
    chosen = shipped_tag(request.args.get(translation.ASKED_LANGUAGE, "").split(" ")[0])
    if chosen and session.get(translation.ASKED_LANGUAGE) != chosen:
        session[translation.ASKED_LANGUAGE] = chosen
    translation.use_language(_language(shop))
    _csrf.protect()
    if next_path().startswith(_PROVIDER):
        allow_form_redirects_to(form_target(ports(), anonymous_actor(), next_path()))
    return None


def _language(shop: hosted.HostedShop) -> str:
    """Return the chosen language, else the person's, the browser's or the shop's."""
    chosen = shipped_tag(str(session.get(translation.ASKED_LANGUAGE, "")))
    person = None if chosen else hosted_person()
    own = "" if person is None else shipped_tag(person.language_code)
    return (
        chosen
        or own
        or translation.browser_language()
        or shipped_tag(shop.default_language)
        or ENGLISH
    )


def show_closed() -> Response:
    """Say that the shop is closed, and when it opens, if that is known."""
    shop = hosted_shop()
    asked = shipped_tag(request.args.get(translation.ASKED_LANGUAGE, ""))
    translation.use_language(
        asked or translation.browser_language() or shipped_tag(shop.default_language) or ENGLISH
    )
    answer = page("closed.html", HTTPStatus.SERVICE_UNAVAILABLE, is_closed=True)
    if shop.opens_at is not None:
        wait = (shop.opens_at - ports().clock.now()).total_seconds()
        answer.headers["Retry-After"] = str(max(1, ceil(wait)))
    return answer


def page(template: str, status: HTTPStatus = HTTPStatus.OK, /, **values: object) -> Response:
    """Return ``templates/hosted/<template>`` with ``values``, in the shop's look."""
    frame = {
        "shop": hosted_shop(),
        "logo_url": _logo_url(hosted_shop()),
        "page_language": translation.page_language(),
        "page_direction": translation.page_direction(),
        "languages": translation.language_links(),
        "csrf_token": generate_csrf,
        "step": step,
        "hosted_time": _time,
        "hosted_icon": _icon,
        "messages": () if values.get("is_closed") else get_flashed_messages(),
        "person": None if values.get("is_closed") else hosted_person(),
    }
    return make_response(render_template(f"hosted/{template}", **(frame | values)), status)


def refused_page(template: str, /, **values: object) -> Response:
    """Return a form that was refused, again, with what is wrong with it."""
    return page(template, HTTPStatus.UNPROCESSABLE_ENTITY, **values)


def redirect_to_account(message: str) -> BaseResponse:
    """Redirect after a change, and show ``message`` on the account's page."""
    flash(message)
    return redirect(url_for("hosted.account.index"), HTTPStatus.SEE_OTHER)


def show_stale_form(_error: CSRFError) -> BaseResponse:
    """Answer a form without a valid CSRF token: it is another browser's, or too old.

    The second click on the form that has just signed the person in or out leads on as the first
    did, and does nothing else. For any other form the page says who is signed in.
    """
    answered = session.get(_ANSWERED)
    if answered is not None and answered["form"] == _form_key():
        passed = ports().clock.timestamp() - float(answered["at"])
        if 0 <= passed <= _REPEATED_FOR.total_seconds():
            return redirect(answered["location"], HTTPStatus.SEE_OTHER)
    return page("stale.html", HTTPStatus.BAD_REQUEST)


def allow_form_redirects_to(origin: str) -> None:
    """Let the forms of this page end at ``origin``, which a redirect URI that was checked has."""
    g.form_origin = origin


def add_hosted_headers(answer: Response) -> Response:
    """Forbid caching and framing; let forms end here, or where the sign-in leads.

    The answer to a form is kept for the same form that is sent again.
    """
    is_repeated = request.endpoint not in _NEW_EACH_TIME
    keep_form_answer(answer, is_repeated=is_repeated, lifetime=_REPEATED_FOR)
    targets = " ".join(filter(None, ("'self'", g.get("form_origin", ""))))
    policy = (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        f"connect-src 'self'; form-action {targets}; base-uri 'none'; frame-ancestors 'none'"
    )
    for name, value in (
        ("Content-Security-Policy", policy),
        ("Cache-Control", "no-store"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Robots-Tag", "noindex"),
    ):
        answer.headers.setdefault(name, value)
    return answer


def _icon(name: str) -> Markup:
    """Return an icon as SVG: the pages load no sprite."""
    return Markup('<svg class="hp-icon" viewBox="0 0 24 24" aria-hidden="true">{}</svg>').format(
        _ICONS[name]
    )


def _time(moment: datetime, css: str = "") -> Markup:
    """Return a moment as people read it, in UTC."""
    shown = f"{format_datetime(moment, translation.text('d MMM yyyy, HH:mm'))} UTC"
    return Markup('<time class="{}" datetime="{}">{}</time>').format(
        css, moment.isoformat(), shown
    )


def _logo_url(shop: hosted.HostedShop) -> str:
    return url_for("media.logo", file=f"{shop.logo}.png") if shop.logo else ""
