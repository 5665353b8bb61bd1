"""How far an email is, and what of a mail server's answer is kept."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis.strategies import binary, text

from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailStatus, kind_label, readable_answer
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "Zk3vQ9_tXw-7LmPq2RsYb1Nc8Hd5Jf0Gu4Ie6Oa"


@cases(
    ("next_attempt_at", "sent_at", "error", "sender", "status"),
    [
        (NOW, None, "", "", MailStatus.QUEUED),
        (NOW, None, "Can't connect.", "", MailStatus.DEFERRED),
        (NOW, None, "", "Mailer", MailStatus.WAITING),
        (None, NOW, "", "", MailStatus.SENT),
        (None, NOW, "", "Mailer", MailStatus.SENT_BY_APP),
        (None, None, "The mail server responded with 550.", "", MailStatus.FAILED),
    ],
)
def test_status(
    next_attempt_at: datetime | None,
    sent_at: datetime | None,
    error: str,
    sender: str,
    status: MailStatus,
) -> None:
    entry = MailEntry(
        id=1,
        kind="password_reset",
        recipient="clara@example.com",
        user_id=None,
        first_name="",
        last_name="",
        is_staff=None,
        created_at=NOW,
        attempts=1,
        attempted_at=NOW,
        next_attempt_at=next_attempt_at,
        sent_at=sent_at,
        sent_by=sender if sent_at else "",
        waits_for=(sender or None) if next_attempt_at else None,
        error=error,
    )
    assert entry.status is status


@cases(
    ("answer", "shown"),
    [
        (b"5.1.1 User unknown", "5.1.1 User unknown"),
        (b"4.7.1 Greylisted.\n4.7.1 Try again in 5 minutes.", None),
        (b"Client host [203.0.113.7] blocked", "Client host [203.0.113.7] blocked"),
        (b"", ""),
        ("<clara@example.com>: no such user", "[…] no such user"),
        ("see https://mx.example.com/help?id=7", "see […]"),
        ("see www.example.com/help", "see […]"),
        (f"message contains {TOKEN} and is spam", "message contains […] and is spam"),
        ("refused token=3Dsesame here", "refused […] here"),
        ("Gr\u00fc\u00dfe \u202egnihton\x00\x1b[1m", "Gr\u00fc\u00dfe gnihton [1m"),
    ],
)
def test_answer_is_one_line_without_secrets(answer: bytes | str, shown: str | None) -> None:
    expected = shown or "4.7.1 Greylisted. 4.7.1 Try again in 5 minutes"
    if shown == "":
        expected = ""
    assert readable_answer(answer) == expected


@given(before=text(max_size=40), after=text(max_size=40))
def test_no_surrounding_text_makes_a_token_or_an_email_readable(before: str, after: str) -> None:
    link = f"https://shop.example.com/reset?email=clara%40example.com&token={TOKEN}"
    shown = readable_answer(f"{before}{link} clara@example.com {TOKEN}{after}")
    assert TOKEN not in shown
    assert "clara" not in shown


@given(answer=binary(max_size=600))
def test_any_answer_is_short_and_storable(answer: bytes) -> None:
    shown = readable_answer(answer)
    assert len(shown) <= 200
    assert all(one.isprintable() for one in shown)


def test_every_kind_has_a_name() -> None:
    assert kind_label(MailKind.PASSWORD_RESET) == "Password reset"
    assert all(kind_label(kind)[0].isupper() for kind in MailKind)
