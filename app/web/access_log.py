"""The access log: one line per request, behind ``ACCESS_LOG``."""

import logging
import zlib
from http import HTTPStatus

import structlog

from app.domain.authorization.actor import describe_actor
from app.web.http_request import HttpRequest
from app.web.request_hooks import Observer

PROBES = ("/healthz", "/readyz")
"""Routes whose successful requests aren't logged or measured: they come every few seconds."""

_MAX_ROOT_FIELDS = 10
_HASHES = 2**32
_log = structlog.get_logger("latchkey.access")


def make_access_log(sample: float) -> Observer:
    """Return what logs the share ``sample`` of requests, and all with 400 and above."""

    def log_request(request: HttpRequest) -> None:
        if _is_logged(request, sample):
            _write(request)

    return log_request


def _is_logged(request: HttpRequest, sample: float) -> bool:
    if request.status >= HTTPStatus.BAD_REQUEST:
        return True
    if request.route in PROBES:
        return False
    # By the ID, so that all systems that sample by it keep the same requests.
    return zlib.crc32(request.id.encode()) < sample * _HASHES


def _write(request: HttpRequest) -> None:
    names = dict.fromkeys(name for run in request.operations for name in run.root_fields)
    failed = request.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    _log.log(
        logging.ERROR if failed else logging.INFO,
        "request",
        request_id=request.id,
        method=request.method,
        route=request.route,
        status=request.status,
        milliseconds=round(request.seconds * 1000, 1),
        bytes=request.bytes_sent,
        client_ip=request.client_ip,
        **({"root_fields": list(names)[:_MAX_ROOT_FIELDS]} if names else {}),
        **describe_actor(request.actor),
    )
