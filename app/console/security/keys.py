"""The signing keys: the ring, how long each key is valid, rotating it, withdrawing a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import flash, request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import (
    capitalize_first,
    clock_element,
    exact,
    html_text,
    time_element,
)
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import (
    full_url,
    page,
    redirect_with_message,
    redirect_with_success,
)
from app.console.frame.parts import Consequence, Pill, Question
from app.console.frame.session import actor, now, ports
from app.console.lists.files import Columns, export_items
from app.domain.keys import CACHE_TIME, KeyState, SigningKey, Withdrawal
from app.domain.values.errors import Refused
from app.domain.values.text import translatable
from app.services.keys import list_keys, preview_withdrawal, rotate_keys, withdraw_keys
from app.web.translation import reasons_text, text

COLUMNS: Columns[SigningKey] = {
    "kid": lambda key: key.kid,
    "state": lambda key: key.state.value,
    "published_at": lambda key: key.published_at,
    "activated_at": lambda key: key.activated_at,
    "retired_at": lambda key: key.retired_at,
    "valid_until": lambda key: key.verifies_until,
}
"""The columns of the list as a file."""

_KID_LENGTH = 8
_NO_VALUE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key; ``valid_note`` stands where its end isn't known yet.

    ``withdraw_label`` names the link that withdraws it, empty for a withdrawn key.
    """

    key: SigningKey
    short_kid: str
    pill: Pill
    signs: str
    signs_note: str
    valid_note: str
    withdraw_label: str


@dataclass(frozen=True, slots=True)
class KeysPage:
    """The ring; ``wait`` tells why the next key can't sign yet, ``effect`` what rotation does."""

    rows: tuple[KeyRow, ...]
    is_fixed: bool
    can_rotate: bool
    wait: str
    count: str
    effect: str
    question: Question | None


def make_keys_page(
    ring: Sequence[SigningKey],
    now: datetime,
    *,
    valid_until: datetime,
    asks_rotation: bool = False,
) -> KeysPage:
    """Return the page that shows ``ring``.

    ``valid_until`` is when the last token that was signed until now expires; ``asks_rotation``
    asks about a rotation, if it's possible.
    """
    next_key = next((key for key in ring if key.state is KeyState.NEXT), None)
    published = [key for key in ring if key.state is not KeyState.WITHDRAWN]
    active = next(key for key in ring if key.state is KeyState.ACTIVE)
    ready_at = _ready_at(next_key, now)
    can_rotate = next_key is not None and ready_at is None
    return KeysPage(
        rows=tuple(_row(key, now) for key in ring),
        is_fixed=all(key.published_at is None for key in published),
        can_rotate=can_rotate,
        wait="" if ready_at is None else _wait(ready_at, now),
        count=_count(len(published)),
        effect="" if next_key is None else _effect(next_key),
        question=_question(next_key, active, valid_until)
        if next_key is not None and can_rotate and asks_rotation
        else None,
    )


def rotated_message(ring: Sequence[SigningKey]) -> str:
    """Return what a rotation did, from the ring after it."""
    active = next(key for key in ring if key.state is KeyState.ACTIVE)
    ends = {key.verifies_until: key.kid for key in ring if key.verifies_until}
    if not ends:
        return text("The signing key was rotated. New tokens use {kid}.", kid=_short(active.kid))
    return text(
        "The signing key was rotated. New tokens use {kid}. Tokens signed with {retired} stay "
        "valid until {moment}.",
        kid=_short(active.kid),
        retired=_short(ends[max(ends)]),
        moment=exact(max(ends)),
    )


def _ready_at(next_key: SigningKey | None, now: datetime) -> datetime | None:
    """Return when every verifier has seen the next key; ``None`` once they have."""
    if next_key is None or next_key.published_at is None:
        return None
    ready_at = next_key.published_at + CACHE_TIME
    return ready_at if ready_at > now else None


def _wait(ready_at: datetime, now: datetime) -> Markup:
    return html_text(
        Markup(
            "You can rotate the key {moment}, from {exact} on. Clients cache the key set for "
            "{minutes} minutes and would reject tokens of a key they haven't seen. If a key has "
            "leaked, withdraw it."
        ),
        moment=time_element(ready_at, now),
        exact=exact(ready_at),
        minutes=_cached_minutes(),
    )


def _cached_minutes() -> int:
    return int(CACHE_TIME.total_seconds() // 60)


def _count(keys: int) -> str:
    return text(
        "{count} key. Clients cache it for up to {minutes} minutes.",
        "{count} keys. Clients cache them for up to {minutes} minutes.",
        count=keys,
        minutes=_cached_minutes(),
    )


def _row(key: SigningKey, now: datetime) -> KeyRow:
    state, status = _STATUS[key.state]
    signs, note = _signs(key, now)
    return KeyRow(
        key=key,
        short_kid=_short(key.kid),
        pill=Pill(state, capitalize_first(text(status))),
        signs=signs,
        signs_note=note,
        valid_note=_NO_VALUE
        if key.state is KeyState.NEXT
        else text("While active, plus the token lifetime"),
        withdraw_label=""
        if key.state is KeyState.WITHDRAWN
        else text("Withdraw {kid} …", kid=_short(key.kid)),
    )


_STATUS = {
    KeyState.NEXT: ("info", translatable("next")),
    KeyState.ACTIVE: ("ok", translatable("active")),
    KeyState.RETIRED: ("", translatable("retired")),
    KeyState.WITHDRAWN: ("bad", translatable("withdrawn")),
}


def _signs(key: SigningKey, now: datetime) -> tuple[str, str]:
    if key.state is KeyState.NEXT:
        return text("After the next rotation"), text("Already published")
    if key.state is KeyState.ACTIVE:
        return text("Yes"), _since(key.activated_at, now)
    return text("No"), _since(key.retired_at, now)


def _since(moment: datetime | None, now: datetime) -> str:
    return "" if moment is None else html_text("since {moment}", moment=clock_element(moment, now))


def _effect(next_key: SigningKey) -> Markup:
    return html_text(
        Markup(
            "<code>{kid}</code> becomes the active key. Active sessions stay signed in: their "
            "tokens are verified with the old key until they expire."
        ),
        kid=_short(next_key.kid),
    )


def _question(next_key: SigningKey, active: SigningKey, valid_until: datetime) -> Question:
    becomes = html_text(
        Markup(
            "<b><code>{kid}</code> signs</b> new tokens and webhooks. A new key is published as "
            "the next one."
        ),
        kid=_short(next_key.kid),
    )
    stays = html_text(
        Markup(
            "<b>All sessions stay signed in.</b> Tokens signed with <code>{kid}</code> stay "
            "valid until they expire, {moment} at the latest."
        ),
        kid=_short(active.kid),
        moment=exact(valid_until),
    )
    return Question(
        title=text("Rotate the signing key?"),
        action=text("Rotate signing key"),
        endpoint="console.keys.rotate",
        consequences=(
            Consequence("ok", becomes),
            Consequence("ok", stays),
            Consequence("warn", text(_COPIES)),
        ),
        detail=text("The rotation applies immediately, in every process."),
        is_harmless=True,
    )


def make_withdrawal_question(preview: Withdrawal) -> Question:
    ends = text("No sessions end: no tokens in use were signed with this key.")
    if preview.sessions:
        ends = text(
            "{count:,} session ends: its tokens were signed with this key.",
            "{count:,} sessions end: their tokens were signed with this key.",
            count=preview.sessions,
        )
    kept = text(
        "Services that verify tokens themselves can keep the old key set for {minutes} minutes.",
        minutes=_cached_minutes(),
    )
    consequences = [
        Consequence("warn" if preview.sessions else "ok", ends),
        Consequence("warn", kept),
        Consequence("warn", text(_COPIES)),
    ]
    if preview.configured:
        consequences.append(Consequence("warn", text(_STILL_CONFIGURED)))
    (kid,) = preview.kids
    return Question(
        title=text("Withdraw the signing key {kid}?", kid=_short(kid)),
        action=text("Withdraw signing key"),
        endpoint="console.keys.withdraw",
        consequences=consequences,
        hidden=(("kid", kid),),
        detail=text(
            "For a key that has leaked. It's removed from the key set immediately and can't be "
            "used again. The next key becomes active."
        ),
    )


_STILL_CONFIGURED = translatable(
    "RSA_PRIVATE_KEY holds this key. It is ignored from then on, and keys in the database sign. "
    "A server administrator can set another key."
)
_COPIES = translatable(
    "Clients with a manual copy of the key set need the new one. Clients that read it from its "
    "URL update automatically."
)


def _short(kid: str) -> str:
    """Return the beginning of a key's ID, as lists show it."""
    return f"{kid[:_KID_LENGTH]}\N{HORIZONTAL ELLIPSIS}"


blueprint = PageGroup(
    "keys",
    __name__,
    Entry("Signing keys", "key", "rotate jwks public", Heading.SHOP, needs=list_keys),
    url_prefix="/keys",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the keys, newest first; ``ask`` opens a question: to rotate, or to withdraw ``kid``.

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
        withdrawal=_asked_withdrawal(),
    )


def _asked_withdrawal() -> Question | None:
    """Return the question about the key in the URL; ``None`` once it can't be withdrawn."""
    if request.args.get("ask") != "withdraw":
        return None
    try:
        preview = preview_withdrawal(ports(), actor(), [request.args.get("kid", "")])
    except Refused as refused:
        flash(reasons_text(refused), "bad")
        return None
    return make_withdrawal_question(preview)


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    return export_items("signing-keys", COLUMNS, list_keys(ports(), actor()))


@blueprint.post("/rotate")
def rotate() -> BaseResponse:
    """Let the next key sign from now on."""
    try:
        ring = rotate_keys(ports(), actor())
    except Refused as refused:
        return redirect_with_message(reasons_text(refused), "bad", "console.keys.index")
    return redirect_with_success(rotated_message(ring), "console.keys.index")


@blueprint.post("/withdraw")
def withdraw() -> BaseResponse:
    """Withdraw a key that has leaked."""
    kid = request.form.get("kid", "")
    try:
        done = withdraw_keys(ports(), actor(), [kid])
    except Refused as refused:
        return redirect_with_message(reasons_text(refused), "bad", "console.keys.index")
    message = text(
        "The signing key {kid} was withdrawn. {count:,} session ended.",
        "The signing key {kid} was withdrawn. {count:,} sessions ended.",
        kid=_short(kid),
        count=done.sessions,
    )
    return redirect_with_success(message, "console.keys.index")
