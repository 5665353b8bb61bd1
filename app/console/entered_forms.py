"""Forms that lead to another page with what was entered, which is kept there for minutes.

The page is fetched, so that Back, Forward and Reload work; the URL has only a random key.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from flask import flash, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from app.console.page_layout import go
from app.console.session import actor, ports
from app.domain.values.text import translatable
from app.services.console.submissions import KEY_LENGTH, find_entered, keep_entered
from app.web.translation import text

Entered = MultiDict[str, str]

_KEY = re.compile(rf"[A-Za-z0-9]{{{KEY_LENGTH}}}")
_PARAMETER = "entered"
_EXPIRED = translatable("What you entered is kept for 10 minutes and has expired.")


def go_with_entered(
    fields: Iterable[tuple[str, str]], endpoint: str, /, **values: Any
) -> BaseResponse:
    """Redirect to a page that gets ``fields`` from ``entered_before``; leave secrets out."""
    key = ports().randomness.token(KEY_LENGTH)
    keep_entered(ports(), actor(), key, json.dumps(list(fields)))
    return go(endpoint, **values, **{_PARAMETER: key})


def entered_before() -> Entered | None:
    """Return what was entered before this page; ``None`` if its URL names nothing that is kept."""
    key = request.args.get(_PARAMETER, "")
    if request.method != "GET" or not key:
        return None
    kept = find_entered(ports(), actor(), key) if _KEY.fullmatch(key) else ""
    if not kept:
        flash(text(_EXPIRED), "warn")
        return None
    return MultiDict(map(tuple, json.loads(kept)))
