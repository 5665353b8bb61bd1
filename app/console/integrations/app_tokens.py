"""Tokens of apps: made (and shown this once), replaced with an overlap, revoked."""

from datetime import timedelta

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice

from app.console.forms import ConsoleForm
from app.console.integrations.apps import OVERLAPS, app_or_404, show_app_page
from app.console.page_layout import done, page, refused_page
from app.console.permissions import Chip, PermissionsField, chips
from app.console.session import actor, now, ports
from app.domain.apps.apps import App
from app.domain.values.errors import Refused
from app.services.apps.app_tokens import (
    WantedToken,
    create_app_token,
    revoke_app_token,
    rotate_app_token,
)
from app.web.converters import one_of

_LIVES = {"": "Never", "30": "In 30 days", "90": "In 90 days", "365": "In a year"}

blueprint = Blueprint("app_tokens", __name__, url_prefix="/apps/<key:key>/tokens")


class TokenForm(ConsoleForm):
    """A new token; without chosen permissions it has all of its app's."""

    names = {"expiresAt": "life"}  # noqa: RUF012
    name = StringField("Name")
    life = SelectField("Ends", choices=[SelectChoice(*life) for life in _LIVES.items()])
    permissions = PermissionsField("Good for")


@blueprint.route("/new", methods=["GET", "POST"])
def make(key: int) -> BaseResponse:
    """Make a token; the answer is the only page that shows it."""
    app = app_or_404(key)
    form = TokenForm()
    if form.validate_on_submit():
        days = int(form.life.data or 0)
        wanted = WantedToken(
            name=(form.name.data or "").strip(),
            expires_at=now() + timedelta(days=days) if days else None,
            permissions=form.permissions.chosen or None,
        )
        try:
            new = create_app_token(ports(), actor(), key, wanted)
        except Refused as refused:
            form.refuse(refused)
        else:
            return show_app_page(app, secret=new.secret, secret_name=new.token.name)
    show = refused_page if form.is_submitted() else page
    return show("apps/new_token.html", app=app, form=form, chips=_chips(app, form))


@blueprint.post("/<key:token_id>/rotate")
def rotate(key: int, token_id: int) -> BaseResponse:
    """Replace a token; the old one stays valid during the overlap."""
    hours = int(request.form.get("overlap", "24", type=one_of(OVERLAPS)))
    new = rotate_app_token(ports(), actor(), token_id, timedelta(hours=hours))
    return show_app_page(app_or_404(key), secret=new.secret, secret_name=new.token.name)


@blueprint.post("/<key:token_id>/revoke")
def revoke(key: int, token_id: int) -> BaseResponse:
    """End a token, at once."""
    token = revoke_app_token(ports(), actor(), token_id)
    told = f"The token ending in {token.last_four} was revoked. It is refused from now on."
    return done(told, "console.apps.show", key=key)


def _chips(app: App, form: TokenForm) -> list[Chip]:
    held = chips(actor(), form.permissions.chosen)
    return [chip for chip in held if chip.permission in app.permissions]
