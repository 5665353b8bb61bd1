"""Create, rotate and revoke the tokens of apps."""

from datetime import timedelta

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice

from app.console.creations import Created, CreatingForm, create_once
from app.console.integrations.apps import DEFAULT_OVERLAP, OVERLAPS, app_or_404, created_token
from app.console.page_layout import done, page, refused_page
from app.console.permissions import Chip, PermissionsField, chips
from app.console.session import actor, now, ports
from app.domain.apps.apps import App
from app.domain.values.errors import Refused
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    revoke_app_token,
    rotate_app_token,
)
from app.web.converters import one_of
from app.web.translation import lazy_text, text

_LIVES = {
    "": lazy_text("Never"),
    "30": lazy_text("In 30 days"),
    "90": lazy_text("In 90 days"),
    "365": lazy_text("In 1 year"),
}

blueprint = Blueprint("app_tokens", __name__, url_prefix="/apps/<key:key>/tokens")


class TokenForm(CreatingForm):
    """A new token; without chosen permissions it has all of its app's."""

    names = {"expiresAt": "life"}  # noqa: RUF012
    name = StringField(lazy_text("Name"))
    life = SelectField(
        lazy_text("Expires"), choices=[SelectChoice(*life) for life in _LIVES.items()]
    )
    permissions = PermissionsField(lazy_text("Scope"))


@blueprint.route("/new", methods=["GET", "POST"])
def make(key: int) -> BaseResponse:
    """Create a token and show it once."""
    app = app_or_404(key)
    form = TokenForm()
    if form.validate_on_submit():
        try:
            return create_once(form, lambda: _create(key, form))
        except Refused as refused:
            form.refuse(refused)
    show = refused_page if form.is_submitted() else page
    return show("apps/new_token.html", app=app, form=form, chips=_chips(app, form))


@blueprint.post("/<key:token_id>/rotate")
def rotate(key: int, token_id: int) -> BaseResponse:
    """Replace a token; the old one stays valid during the overlap."""
    hours = int(request.form.get("overlap", DEFAULT_OVERLAP, type=one_of(OVERLAPS)))
    return create_once(CreatingForm(), lambda: _rotate(token_id, timedelta(hours=hours)))


@blueprint.post("/<key:token_id>/revoke")
def revoke(key: int, token_id: int) -> BaseResponse:
    """Revoke a token; it is rejected from the next request on."""
    token = revoke_app_token(ports(), actor(), token_id)
    revoked = text("Token …{last_four} was revoked.", last_four=token.last_four)
    return done(revoked, "console.apps.show", key=key)


def _create(key: int, form: TokenForm) -> Created:
    days = int(form.life.data or 0)
    options = TokenOptions(
        name=(form.name.data or "").strip(),
        expires_at=now() + timedelta(days=days) if days else None,
        permissions=form.permissions.chosen or None,
    )
    new = create_app_token(ports(), actor(), key, options)
    return created_token(text("The token was created."), new)


def _rotate(token_id: int, overlap: timedelta) -> Created:
    new = rotate_app_token(ports(), actor(), token_id, overlap)
    return created_token(text("The token was rotated."), new)


def _chips(app: App, form: TokenForm) -> list[Chip]:
    held = chips(actor(), form.permissions.chosen)
    return [chip for chip in held if chip.permission in app.permissions]
