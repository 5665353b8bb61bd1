"""Testing the connection to a provider, and previewing the account for one of its tokens.

A pasted token comes in a form's body and is in no response.
"""

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.page_layout import go
from app.console.security.mapping_preview import make_preview_card
from app.console.security.providers_page import Trial
from app.console.security.single_sign_on import provider_page
from app.console.session import actor, ports
from app.domain.values.errors import Refused
from app.services.single_sign_on.attribute_mapping import preview_mapping
from app.services.single_sign_on.provider_checks import check_provider
from app.web.translation import problem_text

blueprint = Blueprint("provider_checks", __name__, url_prefix="/single-sign-on")


@blueprint.route("/<slug:slug>/test", methods=["GET", "POST"])
def test(slug: str) -> BaseResponse:
    """Check everything the provider is needed for; no session is created."""
    if request.method == "GET":
        return go("console.single_sign_on.show", slug=slug)
    findings = check_provider(ports(), actor(), slug)
    return provider_page(slug, trial=Trial(findings=findings))


@blueprint.route("/<slug:slug>/preview", methods=["GET", "POST"])
def preview(slug: str) -> BaseResponse:
    """Preview the account for a pasted token; nothing is created or changed."""
    if request.method == "GET":
        return go("console.single_sign_on.show", slug=slug)
    try:
        found = preview_mapping(ports(), actor(), slug, request.form.get("token", ""))
    except Refused as refused:
        if any(problem.field == "provider" for problem in refused.problems):
            raise
        problem = " ".join(problem_text(one) for one in refused.problems)
        return provider_page(slug, trial=Trial(problem=problem))
    return provider_page(slug, trial=Trial(preview=make_preview_card(found)))
