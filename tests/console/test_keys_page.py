"""The keys page's view model, made of rings without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.console.security.keys import KeysPage, make_keys_page, rotated_message
from app.domain.keys import KeyState, SigningKey
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEXT = SigningKey("next-key-of-the-ring", KeyState.NEXT, NOW - HOUR, None, None, None)
ACTIVE = SigningKey("active-key", KeyState.ACTIVE, NOW - 3 * HOUR, NOW - 2 * HOUR, None, None)
RETIRED = SigningKey(
    "retired-key", KeyState.RETIRED, NOW - 9 * HOUR, NOW - 9 * HOUR, NOW - 2 * HOUR, NOW + HOUR
)
FIXED = SigningKey("fixed-key", KeyState.ACTIVE, None, None, None, None)
RING = (NEXT, ACTIVE, RETIRED)


def page(*ring: SigningKey, asks_rotation: bool = True) -> KeysPage:
    return make_keys_page(ring, NOW, valid_until=NOW + 30 * HOUR, asks_rotation=asks_rotation)


def test_each_key_says_whether_it_signs_and_how_long_it_is_valid() -> None:
    next_row, active, retired = page(*RING).rows
    assert next_row.short_kid == "next-key…"
    assert (next_row.pill.words, next_row.signs, next_row.signs_note) == (
        "Next",
        "After the next rotation",
        "Already published",
    )
    assert (next_row.key.verifies_until, next_row.valid_note) == (None, "\N{EN DASH}")
    assert (active.pill.words, active.signs) == ("Active", "Yes")
    assert active.signs_note.startswith('since <time datetime="2026-03-01T10:00:00+00:00"')
    assert active.valid_note == "While active, plus the token lifetime"
    assert (retired.pill.words, retired.signs) == ("Retired", "No")
    assert retired.key.verifies_until == NOW + HOUR


def test_fixed_key_can_not_be_rotated() -> None:
    shown = page(FIXED)
    assert shown.is_fixed
    assert not shown.can_rotate
    assert (shown.wait, shown.effect, shown.question) == ("", "", None)
    assert shown.rows[0].signs_note == ""
    assert shown.rows[0].key.published_at is None


@cases(
    ("published", "can_rotate", "wait"),
    [
        (NOW - timedelta(minutes=5), True, ""),
        (NOW - timedelta(minutes=4), False, "You can rotate the key <time"),
        (NOW, False, "from 1 Mar 2026, 12:05:00 UTC on"),
    ],
)
def test_new_key_must_be_seen_before_it_signs(
    published: datetime, can_rotate: bool, wait: str
) -> None:
    shown = page(replace(NEXT, published_at=published), ACTIVE)
    assert shown.can_rotate is can_rotate
    assert wait in shown.wait
    assert (shown.question is not None) is can_rotate


def test_question_names_both_keys_and_the_last_expiry() -> None:
    question = page(*RING).question
    assert question is not None
    becomes, stays, copies = question.consequences
    assert becomes.sentence.startswith("<b><code>next-key…</code> signs</b> new tokens")
    assert "<code>active-k…</code>" in stays.sentence
    assert "2 Mar 2026, 18:00:00 UTC at the latest" in stays.sentence
    assert copies.state == "warn"
    assert page(*RING, asks_rotation=False).question is None


@cases(
    ("ring", "count"),
    [
        ((FIXED,), "1 key. Clients cache it for up to 5 minutes."),
        (RING, "3 keys. Clients cache them for up to 5 minutes."),
    ],
)
def test_keys_are_counted(ring: tuple[SigningKey, ...], count: str) -> None:
    assert page(*ring).count == count


def test_rotation_names_the_key_that_was_retired_last() -> None:
    older = replace(RETIRED, kid="older-key", verifies_until=NOW)
    assert rotated_message([NEXT, ACTIVE, older, RETIRED]) == (
        "The signing key was rotated. New tokens use active-k…. Tokens signed with retired-… stay "
        "valid until 1 Mar 2026, 13:00:00 UTC."
    )
    assert rotated_message([NEXT, ACTIVE]) == (
        "The signing key was rotated. New tokens use active-k…."
    )
