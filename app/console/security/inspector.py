"""Token inspector: what a pasted token is, whether it is valid, and its permissions.

The token comes in a form's body and is in no response: neither page, URL nor cookie. With
JavaScript only the result is replaced.
"""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.security.inspector_page import InspectorPage, make_inspector_page
from app.console.session import actor, now, ports
from app.domain.single_sign_on.provider_jws import MAX_PROVIDER_TOKEN_LENGTH
from app.services.inspector.inspect import inspect_token

blueprint = PageGroup(
    "inspector",
    __name__,
    Entry("Token inspector", "braces", "jwt decode verify", Heading.SECURITY, needs=inspect_token),
    url_prefix="/inspector",
)


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Show the form, with the result once a token was sent."""
    found: InspectorPage | None = None
    if request.method == "POST":
        inspection = inspect_token(ports(), actor(), request.form.get("token", ""))
        found = make_inspector_page(inspection, now())
    return page("inspector/index.html", found=found, longest=MAX_PROVIDER_TOKEN_LENGTH + 64)
