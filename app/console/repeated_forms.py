"""A form that is sent twice at once, by a double click, is answered once, and both times alike.

The browser shows the answer to the second, and drops the first with its cookie. So the second
waits for the first's answer and gets it, the session that it opened included: whatever counts
(attempts, codes, links, proofs) counts once. Only the same browser with the same fields gets it.
"""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any

from flask import Response, g, make_response, request, session
from flask.json.tag import TaggedJSONSerializer

from app.console.session import nobody, ports
from app.domain.values.errors import TooManyRequests
from app.domain.values.installation_errors import DatabaseUnavailable
from app.services.console.submissions import (
    claim_answer,
    find_answer,
    keep_answer,
    release_answer,
)

PROOFS = frozenset(
    {"proof_password", "proof_code", "proof_credential", "old_password", "password", "code"}
)
"""Fields of a signed-in person's forms that are compared and counted, or work once."""

_SAME_EVERY_TIME = frozenset({"console.passwords.forgotten"})
"""Forms with one answer however often they are sent; each that comes later is counted again."""

_CSRF = "csrf_token"
_HEADERS = ("Content-Type", "Location")
_PATIENCE_SECONDS = 15.0
_PAUSE_SECONDS = 0.05
_waiting = BoundedSemaphore(4)
"""Requests of a process that wait for others: they hold a thread each."""

_json = TaggedJSONSerializer()


def answered_once(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``view``, which answers a form of its page once."""

    @wraps(view)
    def once(**arguments: Any) -> Any:
        repeated = answer_so_far() if request.method == "POST" else None
        return view(**arguments) if repeated is None else repeated

    return once


def answer_so_far() -> Response | None:
    """Return the answer to the same form, sent before; ``None`` if it is to be answered now."""
    if getattr(g, "form_key", None) is not None or _CSRF not in session:
        return None
    key = _key()
    until = time.monotonic() + _PATIENCE_SECONDS
    while not claim_answer(ports(), nobody(), key):
        kept = _wait_for_answer(key, until)
        if kept:
            return _repeat(kept)
        if kept == "":
            return None  # it takes too long; this one counts by itself
    g.form_key = key
    return None


def keep_form_answer(answer: Response) -> Response:
    """Keep the answer to the form of this request for the same form that comes meanwhile.

    Refusals are for those alone: whoever sends a refused form again tries again.
    """
    key = g.pop("form_key", None)
    if key is not None:
        with suppress(DatabaseUnavailable, TooManyRequests):  # the form is answered in any case
            _keep(key, answer)
    return answer


def _keep(key: str, answer: Response) -> None:
    if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.is_streamed:
        release_answer(ports(), nobody(), key)
        return
    is_done = answer.status_code < HTTPStatus.BAD_REQUEST
    kept = {
        "status": answer.status_code,
        "headers": [(name, answer.headers[name]) for name in _HEADERS if name in answer.headers],
        "body": answer.get_data(as_text=True),
        "session": dict(session),
    }
    keep_answer(
        ports(),
        nobody(),
        key,
        _json.dumps(kept),
        is_repeated=is_done and request.endpoint not in _SAME_EVERY_TIME,
    )


def _key() -> str:
    """Return a digest of the browser, the page and every field."""
    sent = [session[_CSRF], request.full_path, *request.form.items(multi=True)]
    return hashlib.sha256(json.dumps(sent).encode("utf-8", "surrogatepass")).hexdigest()


def _wait_for_answer(key: str, until: float) -> str | None:
    """Return the answer; empty if it takes too long, ``None`` if there will be none."""
    if not _waiting.acquire(blocking=False):
        return ""
    try:
        while (kept := find_answer(ports(), nobody(), key)) == "" and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
    finally:
        _waiting.release()
    return kept


def _repeat(kept: str) -> Response:
    stored = _json.loads(kept)
    session.clear()
    session.update(stored["session"])
    return make_response(stored["body"], stored["status"], stored["headers"])
