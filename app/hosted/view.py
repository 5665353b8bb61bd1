"""The blueprint of the hosted pages, and the checks before each of them."""

from http import HTTPStatus

from flask import Blueprint, Flask, Response
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.domain.values.errors import TrafficClosed
from app.hosted import account, sign_in
from app.web import hosted_pages
from app.web.errors import show_refusal
from app.web.sessions import answered_once

_FETCHED = ("hosted.sign_in.passkey_options", "hosted.sign_in.factor_options")
"""What script asks for: a new challenge each time."""


def mount_hosted(app: Flask) -> None:
    """Mount the pages below ``/account/``; without the shop's setting each of them is a 404."""
    app.register_blueprint(_make_look())
    app.register_blueprint(make_hosted())
    for endpoint, view in app.view_functions.items():
        if endpoint.startswith("hosted.") and endpoint not in _FETCHED:
            app.view_functions[endpoint] = answered_once(view)


def make_hosted() -> Blueprint:
    hosted = Blueprint("hosted", __name__, url_prefix="/account")
    hosted.before_request(hosted_pages.guard_hosted)
    hosted.after_request(hosted_pages.add_hosted_headers)
    hosted.register_error_handler(CSRFError, hosted_pages.show_stale_form)
    hosted.register_error_handler(TrafficClosed, lambda _: hosted_pages.show_closed())
    hosted.register_error_handler(NotFound, _show_missing)
    for pages in (sign_in.blueprint, account.passwords_blueprint, account.blueprint):
        hosted.register_blueprint(pages)
    # Last, so that an address without a page is refused like every other while closed.
    hosted.add_url_rule("/<path:address>", "unknown_page", _unknown_page)
    return hosted


def _unknown_page(address: str) -> BaseResponse:
    raise NotFound


def _show_missing(error: NotFound) -> BaseResponse:
    """Say in the shop's look that there is no such page; without the pages, as anywhere."""
    if not hosted_pages.hosted_shop().is_on:
        return show_refusal(error)
    return hosted_pages.page("not_found.html", HTTPStatus.NOT_FOUND)


def _make_look() -> Blueprint:
    look = Blueprint("hosted_look", __name__)

    @look.get("/account/look.css")
    def style() -> Response:
        """Return the shop's accent color, also for the page that says that it is closed."""
        shop = hosted_pages.hosted_shop()
        if not shop.is_on:
            raise NotFound
        body = f":root {{ --shop-accent: {shop.accent_color}; }}\n"
        return Response(body, content_type="text/css", headers={"Cache-Control": "no-cache"})

    return look
