"""Keys: the ring of signing keys, what verifies until when, and rotating it."""

from datetime import datetime, timedelta

from flask import flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.formatting import exact
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, own_address, page
from app.console.session import actor, now, ports
from app.domain.keys.ring import CACHE_TIME, KeyState, SigningKey
from app.domain.values.errors import Refused, problem_text
from app.services.keys.ring import list_keys
from app.services.keys.rotation import rotate_keys

blueprint = PageGroup(
    "keys",
    __name__,
    Entry("Keys", "key", "signing rotate jwks", Heading.SECURITY),
    url_prefix="/keys",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the keys, newest first; ``ask`` opens the confirmation of a rotation.

    There are only a few keys, so the list has no filter, sorting or pages.
    """
    ring = list_keys(ports(), actor())
    is_fixed = all(key.published_at is None for key in ring)
    next_key = next((key for key in ring if key.state is KeyState.NEXT), None)
    known_at = None if next_key is None else _known_at(next_key)
    return page(
        "keys/index.html",
        ring=ring,
        next_key=next_key,
        active=next(key for key in ring if key.state is KeyState.ACTIVE),
        asked=request.args.get("ask") == "rotate" and not is_fixed and known_at is None,
        is_fixed=is_fixed,
        known_at=known_at,
        kept_until=now() + timedelta(seconds=ports().configuration.jwt_ttl_refresh),
        address=own_address("wellknown.key_set"),
        cached_minutes=int(CACHE_TIME.total_seconds() // 60),
    )


@blueprint.post("/rotate")
def rotate() -> BaseResponse:
    """Let the next key sign from now on."""
    try:
        ring = rotate_keys(ports(), actor())
    except Refused as refused:
        flash(" ".join(problem_text(problem) for problem in refused.problems), "bad")
        return go("console.keys.index")
    active = next(key for key in ring if key.state is KeyState.ACTIVE)
    retired = max(
        (key for key in ring if key.verifies_until is not None),
        key=lambda key: key.retired_at or now(),
    )
    until = "" if retired.verifies_until is None else exact(retired.verifies_until)
    return done(
        f"The signing key was rotated. New tokens carry {active.kid[:8]}…; what "
        f"{retired.kid[:8]}… signed verifies until {until}.",
        "console.keys.index",
    )


def _known_at(next_key: SigningKey) -> datetime | None:
    """When every verifier has seen the next key; ``None`` once they have, and it may sign."""
    if next_key.published_at is None or next_key.published_at + CACHE_TIME <= now():
        return None
    return next_key.published_at + CACHE_TIME
