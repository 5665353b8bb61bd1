"""The signing keys: the ring, how long each key is valid, and rotating it."""

from datetime import timedelta

from flask import flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import export_items
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, full_url, go, page
from app.console.security.keys_page import COLUMNS, make_keys_page, rotated_message
from app.console.session import actor, now, ports
from app.domain.values.errors import Refused
from app.services.keys.ring import list_keys
from app.services.keys.rotation import rotate_keys
from app.web.translation import problem_text

blueprint = PageGroup(
    "keys",
    __name__,
    Entry("Signing keys", "key", "rotate jwks public", Heading.SECURITY, needs=list_keys),
    url_prefix="/keys",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the keys, newest first; ``ask`` opens the confirmation of a rotation.

    There are only a few keys, so the list has no filter, sorting or pages.
    """
    moment = now()
    lifetime = timedelta(seconds=ports().configuration.jwt_ttl_refresh)
    return page(
        "keys/index.html",
        keys=make_keys_page(
            list_keys(ports(), actor()),
            moment,
            valid_until=moment + lifetime,
            asks_rotation=request.args.get("ask") == "rotate",
        ),
        key_set_url=full_url("wellknown.key_set"),
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export the keys."""
    return export_items("signing-keys", COLUMNS, list_keys(ports(), actor()))


@blueprint.post("/rotate")
def rotate() -> BaseResponse:
    """Let the next key sign from now on."""
    try:
        ring = rotate_keys(ports(), actor())
    except Refused as refused:
        flash(" ".join(problem_text(problem) for problem in refused.problems), "bad")
        return go("console.keys.index")
    return done(rotated_message(ring), "console.keys.index")
