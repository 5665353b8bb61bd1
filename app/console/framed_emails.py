"""Emails in a frame of a page, without scripts or anything from elsewhere."""

import re
from base64 import b64encode

from flask import make_response
from werkzeug.wrappers import Response as BaseResponse

from app.console.page_layout import HEADERS
from app.domain.mails.logo import CONTENT_ID, Logo

_FRAMING = "; ".join((dict(HEADERS)["Content-Security-Policy"], "frame-src 'self'"))
_FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_DARK_RULE = re.compile(r"@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)")
_SCHEMES = re.compile(r"(color-scheme(?:\"\s+content=\"|\s*:\s*))light dark")


def with_appearance(html: str, *, is_dark: bool) -> str:
    """Return the HTML as a mail program with that appearance shows it, whatever the browser's."""
    rule = "@media all" if is_dark else "@media not all"
    scheme = "dark" if is_dark else "light"
    return _SCHEMES.sub(rf"\g<1>{scheme}", _DARK_RULE.sub(rule, html))


def with_frame(response: BaseResponse) -> BaseResponse:
    """Let a page show the frame."""
    response.headers["Content-Security-Policy"] = _FRAMING
    return response


def framed_email(html: str, logo: Logo | None) -> BaseResponse:
    """Return the frame's content: the HTML of an email, with the logo that it has attached."""
    if logo is not None:
        picture = b64encode(logo.data).decode()
        html = html.replace(f"cid:{CONTENT_ID}", f"data:image/png;base64,{picture}")
    response = make_response(html)
    response.headers["Content-Security-Policy"] = _FRAMED
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response
