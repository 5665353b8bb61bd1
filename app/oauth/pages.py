"""The provider's pages in the frame of the hosted pages: consent, and what a program got wrong."""

from functools import partial
from http import HTTPStatus

from flask import Flask, Response
from flask_wtf.csrf import CSRFError

from app.domain.authorization.actor import STAFF_SCOPE
from app.domain.authorization.permissions import Permission
from app.domain.oauth import ADDRESS, EMAIL, OFFLINE, PHONE, PROFILE, redirect_origin
from app.oauth.endpoints import AUTHORIZE, Consent, HostedPages, make_oauth
from app.web.hosted_pages import (
    add_hosted_headers,
    guard_hosted,
    hosted_person,
    hosted_shop,
    let_forms_lead_to,
    page,
    show_stale_form,
    sign_in_url,
)
from app.web.translation import text


def mount_oauth(app: Flask) -> None:
    """Add the provider's routes to ``app``, with the hosted pages' sign-in."""
    pages = HostedPages(
        is_on=lambda: hosted_shop().is_on,
        person=hosted_person,
        sign_in_url=sign_in_url,
        sign_in_again_url=partial(sign_in_url, again=True),
        guard=guard_hosted,
        finish=add_hosted_headers,
        consent_page=_consent_page,
        error_page=_error_page,
    )
    blueprint = make_oauth(pages)
    blueprint.register_error_handler(CSRFError, show_stale_form)
    app.register_blueprint(blueprint)


def _consent_page(consent: Consent) -> Response:
    origin = redirect_origin(consent.redirect_uri)
    let_forms_lead_to(origin)
    _, _, query = consent.action.partition("?")
    return page(
        "consent.html",
        client=consent.client,
        grants=_grants(consent.scopes),
        returns_to=origin.partition("://")[2] or origin,
        action=consent.action,
        proof=consent.proof,
        switch_url=sign_in_url(f"{AUTHORIZE}?{query}", again=True),
    )


def _grants(scopes: frozenset[str]) -> list[str]:
    """Return what a program is allowed, in sentences."""
    sentences = {
        PROFILE: text("See your name, language and picture"),
        EMAIL: text("See your email"),
        ADDRESS: text("See your default address"),
        PHONE: text("See your phone number"),
        STAFF_SCOPE: text("See whether you are staff, and your groups"),
        OFFLINE: text("Stay connected when you're away, until you disconnect it"),
    }
    found = [sentence for scope, sentence in sentences.items() if scope in scopes]
    labels = [text(one.label) for one in Permission if one in scopes]
    if labels:
        found.append(text("Use your permissions: {permissions}", permissions=", ".join(labels)))
    return found or [text("Recognize you when you come back")]


def _error_page(error: str, description: str) -> Response:
    return page("program_error.html", HTTPStatus.BAD_REQUEST, error=error, description=description)
