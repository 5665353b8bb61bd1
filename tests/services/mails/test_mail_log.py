"""Reading the mail log."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.mail_log import MAX_TEXT_LENGTH, MailFilter, MailStatus
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import Counts, PageRequest, read_cursor
from app.ports import Ports
from app.services.mails import mail_log
from app.services.mails.mail_log import last_mails, list_mails, show_mail
from app.services.mails.sending import send_due_mail
from app.services.outbox.publisher import add_mail
from tests.builders.mails import make_mail, make_waiting_mail
from tests.builders.people import NOBODY, actor_of, change_user, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.servers.run import ROOT
from tests.servers.smtp import smtp_server

PAGE = PageRequest(50)
SERVICES = ROOT / "app" / "services"
HANNA, TOM = "hanna@example.com", "tom@example.com"
GREYLISTED = "The mail server rejected the recipient with 450: Greylisted."


@pytest.fixture
def log(ports: Ports, clock: FakeClock) -> Ports:
    """Five emails, an hour apart: the first is called 1."""
    hanna = make_user(ports, HANNA, first_name="Hanna", last_name="Berg")
    tom = make_staff(ports, TOM)
    make_mail(ports, recipient="old@example.com", user_id=hanna, kind="email_changed")
    clock.pass_(hours=1)
    make_mail(ports, recipient=HANNA, user_id=hanna, sent_at=None, last_error="Rejected with 550.")
    clock.pass_(hours=1)
    make_mail(ports, recipient=TOM, user_id=tom, kind="staff_invitation")
    clock.pass_(hours=1)
    make_waiting_mail(ports, recipient=HANNA, user_id=hanna, last_error=GREYLISTED, attempts=2)
    clock.pass_(hours=1)
    make_waiting_mail(ports, recipient="100%@example.com", kind="kind_of_a_later_version")
    return ports


def found(ports: Ports, filter_: MailFilter, actor: Actor = OPERATOR) -> list[int]:
    return [one.id for one in list_mails(ports, actor, PAGE, filter_).items]


@pytest.mark.both_databases
def test_newest_email_is_listed_first_with_its_account(log: Ports, clock: FakeClock) -> None:
    with recorded_statements() as statements:
        queued, deferred, *_, first = list_mails(log, OPERATOR, PAGE).items
    assert len(selects(statements)) == 1
    assert (queued.id, queued.kind, queued.is_staff) == (5, "kind_of_a_later_version", None)
    assert (deferred.status, deferred.error, deferred.attempts) == (
        *(MailStatus.DEFERRED, GREYLISTED, 2),
    )
    assert (first.recipient, first.first_name, first.last_name, first.is_staff) == (
        *("old@example.com", "Hanna", "Berg", False),
    )
    assert first.created_at == clock.now() - timedelta(hours=4)


@pytest.mark.both_databases
def test_newest_email_of_each_kind_is_found_by_one_statement(log: Ports) -> None:
    newest = make_mail(log, recipient=HANNA, kind="email_changed")
    with recorded_statements() as statements:
        last = last_mails(log, OPERATOR)
    assert len(selects(statements)) == 1
    # A kind of a later version isn't looked for.
    assert {kind: mail.id for kind, mail in last.items()} == {
        "email_changed": newest,
        "staff_invitation": 3,
        "password_reset": 4,
    }
    assert last["password_reset"].status is MailStatus.DEFERRED
    staff = make_staff(log, "support@example.com", Permission.MANAGE_USERS)
    with pytest.raises(PermissionDenied):
        last_mails(log, actor_of(log, staff))


@cases(
    ("filter_", "entries"),
    [
        (MailFilter(), [5, 4, 3, 2, 1]),
        (MailFilter(status=MailStatus.SENT), [3, 1]),
        (MailFilter(status=MailStatus.FAILED), [2]),
        (MailFilter(status=MailStatus.DEFERRED), [4]),
        (MailFilter(status=MailStatus.QUEUED), [5]),
        (MailFilter(kind=MailKind.STAFF_INVITATION), [3]),
        (MailFilter(user_id=1), [4, 2, 1]),
        (MailFilter(text="HANNA@"), [4, 2]),
        (MailFilter(text="hanna berg"), [4, 2, 1]),
        (MailFilter(text=" % "), [5]),
        (MailFilter(text="_"), []),
        (MailFilter(text="nul\0"), []),
        (MailFilter(text="hanna", status=MailStatus.FAILED), [2]),
    ],
)
def test_emails_are_found(log: Ports, filter_: MailFilter, entries: list[int]) -> None:
    assert found(log, filter_) == entries


def test_time_range_includes_both_ends(log: Ports, clock: FakeClock) -> None:
    since, until = clock.now() - timedelta(hours=3), clock.now() - timedelta(hours=1)
    assert found(log, MailFilter(since=since, until=until)) == [4, 3, 2]


def test_matching_emails_and_all_are_counted(log: Ports) -> None:
    request = PageRequest(1, is_counted=True)
    filter_ = MailFilter(status=MailStatus.SENT)
    assert list_mails(log, OPERATOR, request, filter_).counts == Counts(2, 5)


def test_overlong_search_text_is_refused(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        found(ports, MailFilter(text="x" * (MAX_TEXT_LENGTH + 1)))
    assert [(one.code, one.field) for one in refused.value.problems] == [("INVALID", "search")]


def test_search_is_bounded(log: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_log, "MAX_SEARCHED", 1)
    assert found(log, MailFilter(text="hanna")) == []
    assert found(log, MailFilter(text="hanna", status=MailStatus.FAILED)) == [2]


def test_manage_users_sees_only_emails_about_customers(log: Ports) -> None:
    support = actor_of(log, make_staff(log, "support@example.com", Permission.MANAGE_USERS))
    assert found(log, MailFilter(), support) == [4, 2, 1]
    assert found(log, MailFilter(text="t"), support) == []
    assert found(log, MailFilter(text="example.com"), support) == [4, 2, 1]
    assert list_mails(log, support, PageRequest(1, is_counted=True)).counts == Counts(3, 3)
    assert show_mail(log, support, 2) is not None
    assert [show_mail(log, support, key) for key in (3, 5, 99)] == [None, None, None]
    change_user(log, 1, is_staff=True)
    assert found(log, MailFilter(), support) == []


def test_manage_staff_sees_every_email(log: Ports) -> None:
    boss = actor_of(log, make_staff(log, "boss@example.com", Permission.MANAGE_STAFF))
    assert found(log, MailFilter(), boss) == [5, 4, 3, 2, 1]


def test_emails_of_one_moment_keep_their_order(ports: Ports) -> None:
    for _ in range(5):
        make_mail(ports)
    first = list_mails(ports, OPERATOR, PageRequest(3))
    rest = PageRequest(3, cursor=read_cursor(first.cursors[-1], "after"))
    second = list_mails(ports, OPERATOR, rest)
    assert [one.id for one in (*first.items, *second.items)] == [5, 4, 3, 2, 1]


def test_mail_log_requires_manage_staff_or_manage_users(log: Ports) -> None:
    other = actor_of(log, make_staff(log, "o@example.com", Permission.MANAGE_SETTINGS))
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    for actor in (NOBODY, other, app):
        with pytest.raises(PermissionDenied):
            list_mails(log, actor, PAGE)
        with pytest.raises(PermissionDenied):
            show_mail(log, actor, 1)


@pytest.mark.parametrize(
    ("step", "answer", "status", "error"),
    [
        ("", "", MailStatus.SENT, ""),
        (
            "stranger",
            "550 5.1.1 User unknown",
            MailStatus.FAILED,
            "The mail server rejected the recipient with 550: 5.1.1 User unknown.",
        ),
        (
            "refusal",
            "451 4.3.0 Try again later",
            MailStatus.DEFERRED,
            "The mail server responded with 451: 4.3.0 Try again later.",
        ),
        (
            "unreachable",
            "",
            MailStatus.DEFERRED,
            "Can't connect to the mail server (ConnectionRefusedError).",
        ),
    ],
)
def test_result_is_what_the_mail_server_answered(
    ports: Ports, clock: FakeClock, step: str, answer: str, status: MailStatus, error: str
) -> None:
    hanna = make_user(ports, HANNA)
    with ports.database.transaction() as session:
        add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, HANNA), user_id=hanna)
    with smtp_server() as (mailbox, host):
        posting = replace(ports, mailer=SmtpMailer(f"smtp://{host}", "noreply@example.com"))
        if step != "unreachable":
            setattr(mailbox, step or "refusal", answer)
            send_due_mail(posting, WORKER)
    if step == "unreachable":
        send_due_mail(posting, WORKER)
    [entry] = list_mails(ports, OPERATOR, PAGE).items
    assert (entry.status, entry.error, entry.attempts) == (status, error, 1)
    assert entry.attempted_at == clock.now()
    assert (entry.sent_at is None) is (status is not MailStatus.SENT)
    assert (entry.next_attempt_at is None) is (status is not MailStatus.DEFERRED)


@pytest.mark.first
def test_every_email_is_logged_with_its_account() -> None:
    calls = list(_calls("add_mail"))
    links = list(_calls("add_link_mail"))  # an email with a link has the account of its event
    assert len(calls) > 3
    assert len(links) > 3
    for place, call in calls:
        assert "user_id" in {keyword.arg for keyword in call.keywords}, place


def _calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield where the services call a function, with the call."""
    for file in sorted(SERVICES.rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if f"{name}(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield f"{file}:{node.lineno}", node
