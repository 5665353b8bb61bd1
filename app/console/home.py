"""Home: what the shop's doors look like now, and what wants a look first."""

from flask import Blueprint
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import page

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def index() -> BaseResponse:
    """The first page."""
    return page("home.html")
