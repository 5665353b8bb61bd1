"""The provider's pages in the frame of the hosted pages: consent, and what a program got wrong."""

from functools import partial
from http import HTTPStatus

from flask import Flask, Response, flash, redirect, request, url_for
from flask_wtf.csrf import CSRFError
from werkzeug.wrappers import Response as BaseResponse

from app.domain.apps.apps import LOGO_SIZES
from app.domain.oauth import MAX_ENTERED_CODE, OAuthClient, client_logo_path, redirect_origin
from app.domain.values.errors import ProofRequired, Refused
from app.oauth.devices import DEVICE_PATH
from app.oauth.endpoints import AUTHORIZE, Consent, HostedPages, Person, device_path, make_oauth
from app.oauth.logout import Logout
from app.services.oauth.devices import (
    DeviceChanged,
    WaitingDevice,
    allow_device,
    deny_device,
    find_waiting_device,
)
from app.services.sign_in.sessions import SecondFactorSkipped
from app.web import hosted_pages
from app.web.translation import problem_text, scope_texts, text


def mount_oauth(app: Flask) -> None:
    """Add the provider's routes to ``app``, with the hosted pages' sign-in."""
    pages = HostedPages(
        is_on=lambda: hosted_pages.hosted_shop().is_on,
        person=hosted_pages.hosted_person,
        sign_in_url=hosted_pages.sign_in_url,
        sign_in_again_url=partial(hosted_pages.sign_in_url, again=True),
        guard=hosted_pages.guard_hosted,
        finish=hosted_pages.add_hosted_headers,
        consent_page=_consent_page,
        error_page=_error_page,
        device_page=_device_page,
        logout_page=_logout_page,
        sign_out=_sign_out,
    )
    blueprint = make_oauth(pages)
    blueprint.register_error_handler(CSRFError, hosted_pages.show_stale_form)
    app.register_blueprint(blueprint)


def _consent_page(consent: Consent) -> Response:
    origin = redirect_origin(consent.redirect_uri)
    hosted_pages.allow_form_redirects_to(origin)
    _, _, query = consent.action.partition("?")
    return hosted_pages.page(
        "consent.html",
        client=consent.client,
        program_logo=_logo_url(consent.client),
        grants=_grants(consent.scopes),
        returns_to=origin.partition("://")[2] or origin,
        action=consent.action,
        proof=consent.proof,
        switch_url=hosted_pages.sign_in_url(f"{AUTHORIZE}?{query}", again=True),
    )


def _logo_url(client: OAuthClient) -> str:
    if not client.logo:
        return ""
    return f"{request.script_root}{client_logo_path(client.logo, LOGO_SIZES[-1])}"


def _grants(scopes: frozenset[str]) -> list[str]:
    return scope_texts(scopes) or [text("Recognize you when you come back")]


def _logout_page(logout: Logout, action: str) -> Response:
    if logout.redirect_uri:
        hosted_pages.allow_form_redirects_to(redirect_origin(logout.redirect_uri))
    return hosted_pages.page("logout.html", client=logout.client, action=action)


def _sign_out(redirect_uri: str) -> BaseResponse:
    answer = hosted_pages.end_hosted(redirect_uri or url_for("hosted.sign_in.index"))
    if not redirect_uri:
        flash(text("You are signed out."))
    return answer


def _error_page(error: str, description: str) -> Response:
    return hosted_pages.page(
        "program_error.html", HTTPStatus.BAD_REQUEST, error=error, description=description
    )


def _device_page(person: Person) -> BaseResponse:
    """Show the form of a device's code, then who asks, and take the decision."""
    code = request.values.get("user_code", "")[:MAX_ENTERED_CODE]
    switch_url = hosted_pages.sign_in_url(device_path(), again=True)
    if request.method == "GET":
        return hosted_pages.page("device.html", code=code, error="", switch_url=switch_url)
    try:
        return _answer_device(person, code)
    except Refused as refused:
        error = " ".join(map(problem_text, refused.problems))
        return hosted_pages.refused_page(
            "device.html", code=code, error=error, switch_url=switch_url
        )
    except (ProofRequired, SecondFactorSkipped):
        return redirect(switch_url, HTTPStatus.SEE_OTHER)


def _answer_device(person: Person, code: str) -> Response:
    decision, proof = request.form.get("decision"), request.form.get("proof", "")
    if decision == "allow":
        try:
            allowed = allow_device(
                hosted_pages.ports(), person.actor, code, proof, person.authenticated_at
            )
        except DeviceChanged as changed:
            return _who_asks(changed.device)
        return hosted_pages.page("device_done.html", device=allowed, is_allowed=True)
    if decision == "deny":
        denied = deny_device(hosted_pages.ports(), person.actor, code, proof)
        return hosted_pages.page("device_done.html", device=denied, is_allowed=False)
    return _who_asks(find_waiting_device(hosted_pages.ports(), person.actor, code))


def _who_asks(device: WaitingDevice) -> Response:
    grants = _grants(device.scopes)
    return hosted_pages.page("device_asks.html", device=device, grants=grants, action=DEVICE_PATH)
