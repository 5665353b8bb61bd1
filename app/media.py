"""Pictures: of people, of the shop (its logo), and logos of apps.

``GET /media/avatars/NAME-SIZE.webp``, ``/media/logo/NAME.png``, ``/media/apps/NAME-SIZE.webp`` and
``/media/apps/NAME.png``.
"""

from flask import Blueprint, Response, abort, request

from app.domain.accounts.users import read_avatar_file
from app.domain.apps.apps import read_logo_file as read_app_logo_file
from app.domain.authorization.actor import anonymous
from app.domain.mails.design import read_logo_file
from app.services.accounts.account_details import show_avatar
from app.services.apps.app_lists import show_app_logo
from app.services.shop.settings import show_logo
from app.web.headers import NOTHING_MAY_RUN
from app.web.installation import installation

_HEADERS = {
    # A new picture gets a new name, so this one never changes.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Disposition": "inline",
    "Content-Security-Policy": f"{NOTHING_MAY_RUN}; sandbox",
    # Shown by dashboards and shops of other origins.
    "Cross-Origin-Resource-Policy": "cross-origin",
}

blueprint = Blueprint("media", __name__)


@blueprint.get("/media/avatars/<slug:file>")
def avatar(file: str) -> Response:
    """Serve an image that this application encoded, with its type; 404 for anything else."""
    name = read_avatar_file(file)
    data = None if name is None else show_avatar(installation().ports, anonymous(), *name)
    return _picture(data, file, "image/webp")


@blueprint.get("/media/logo/<slug:file>")
def logo(file: str) -> Response:
    """The shop's logo as we drew it; 404 for one that was replaced."""
    name = read_logo_file(file)
    data = None if name is None else show_logo(installation().ports, anonymous(), name)
    return _picture(data, file, "image/png")


@blueprint.get("/media/apps/<slug:file>")
def app_logo(file: str) -> Response:
    """An app's logo as we drew it; 404 for one that was replaced."""
    name = read_app_logo_file(file)
    data = None if name is None else show_app_logo(installation().ports, anonymous(), *name)
    return _picture(data, file, "image/webp" if file.endswith(".webp") else "image/png")


def _picture(data: bytes | None, file: str, content_type: str) -> Response:
    if data is None:
        abort(404)
    response = Response(data, headers=_HEADERS, content_type=content_type)
    response.set_etag(file)
    response.make_conditional(request)
    return response
