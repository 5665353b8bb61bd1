"""Where providers report that a person has signed out: ``POST /oidc/<slug>/backchannel-logout``.

OpenID Connect Back-Channel Logout 1.0, 2.5 to 2.8.
"""

from http import HTTPStatus

import orjson
from flask import Blueprint, Response, request

from app.domain.authorization.actor import anonymous
from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH
from app.domain.single_sign_on.provider_tokens import reason_of
from app.domain.values.errors import TokenRejected
from app.ports.http import CallFailed
from app.services.single_sign_on.provider_sessions import end_sessions_by_provider
from app.web.caller import visitor_from
from app.web.installation import installation

_PLUGIN = "authentication.openidconnect"

blueprint = Blueprint("backchannel", __name__)


@blueprint.post("/oidc/<slug:slug>/backchannel-logout", provide_automatic_options=False)
def log_out(slug: str) -> Response:
    """200 when the sessions that the logout token means have ended, if there were any."""
    request.max_content_length = 2 * MAX_PROVIDER_TOKEN_LENGTH
    web = installation()
    visitor = visitor_from(request.environ, web)
    actor = anonymous(
        address=visitor.address, user_agent=visitor.user_agent, issuer=visitor.issuer
    )
    token = request.form.get("logout_token", "")
    try:
        ended = end_sessions_by_provider(
            web.ports, actor, plugin_id=f"{slug}.{_PLUGIN}", token=token
        )
    except TokenRejected as rejected:
        return _refusal(reason_of(rejected))
    except CallFailed as failed:
        return _refusal(str(failed), HTTPStatus.SERVICE_UNAVAILABLE)
    if ended is None:
        return _refusal("There is no such provider.", HTTPStatus.NOT_FOUND)
    return _answer(HTTPStatus.OK, b"")


def _refusal(reason: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Response:
    error = {"error": "invalid_request", "error_description": reason}
    return _answer(status, orjson.dumps(error))


def _answer(status: HTTPStatus, body: bytes) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(body, status, headers, content_type="application/json")
