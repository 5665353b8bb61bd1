"""``GET /healthz`` and ``GET /readyz``, for process managers and load balancers.

They say no reasons: everyone can ask them. ``OPERATIONS_PORT`` has the reasons.
"""

from http import HTTPStatus

from flask import Blueprint, Response, request

from app.web.operations_server import Readiness, is_ready, readiness_status
from app.web.server import STOPPING_KEY

HEALTHY, READY = "/healthz", "/readyz"
_NO_STORE = {"Cache-Control": "no-store"}


def make_health(readiness: Readiness) -> Blueprint:
    """Return the blueprint of both probes."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get(HEALTHY)
    def healthy() -> Response:
        """Answer while the process can answer anything, without asking anything else."""
        return _answer("ok", HTTPStatus.OK)

    @blueprint.get(READY)
    def ready() -> Response:
        """Answer 200 while requests can be served: database, tables, keys.

        A server that is to stop answers 503 while it still serves.
        """
        if STOPPING_KEY in request.environ:
            return _answer("stopping", HTTPStatus.SERVICE_UNAVAILABLE)
        findings = readiness.findings()
        code = HTTPStatus.OK if is_ready(findings) else HTTPStatus.SERVICE_UNAVAILABLE
        return _answer(readiness_status(findings), code)

    return blueprint


def _answer(status: str, code: HTTPStatus) -> Response:
    return Response(f'{{"status":"{status}"}}', code, _NO_STORE, content_type="application/json")
