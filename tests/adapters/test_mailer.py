"""Letters are handed over to a real mail server, and readable in development."""

import ssl
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.strategies import sampled_from, text
from typing_extensions import override

from app.adapters.http.tls import TrustedAuthorities
from app.adapters.mail.mailer import FileMailer, SmtpMailer
from app.domain.mails.design import Logo
from app.domain.mails.mail import RenderedMail
from app.domain.values.text_rules import line_problem
from app.ports.mail import MailUndeliverable
from tests.fixtures.cases import cases
from tests.servers.certificates import certificate_for
from tests.servers.smtp import smtp_server

HEADERS = {
    *(
        "Date",
        "From",
        "To",
        "Subject",
        "Message-ID",
        "Auto-Submitted",
        "MIME-Version",
        "Content-Type",
    )
}


def _rendered(
    recipient: str = "ann@example.com", subject: str = "Confirm your account"
) -> RenderedMail:
    return RenderedMail(
        sender_name="Northlight Ceramics",
        sender_address="",
        recipient=recipient,
        subject=subject,
        text="Open https://shop.example.com/?token=abc\n",
        html="<p>Open it</p>",
        message_id="20260301.7",
    )


def test_mail_has_text_and_html_and_the_shops_name() -> None:
    with smtp_server() as (mailbox, host):
        SmtpMailer(f"smtp://{host}", "noreply@shop.example.com").send(_rendered())

    (message,) = mailbox.messages
    assert message["From"] == "Northlight Ceramics <noreply@shop.example.com>"
    assert message["To"] == "ann@example.com"
    assert message["Subject"] == "Confirm your account"
    assert message["Message-ID"] == "<20260301.7@shop.example.com>"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert "token=abc" in text.get_content()
    assert html is not None
    assert html.get_content().strip() == "<p>Open it</p>"


SENTENCE = "Reset your password at Northlight Ceramics and Glassware in Hamburg " * 2


@cases("recipient", ["ann@example.com", "änn@example.com"])
@cases(
    "subject",
    [
        *(SENTENCE[:length].strip() for length in (69, 70, 77, 78, 79, 90, 130)),
        *(f"{SENTENCE[:length].strip()}ü" for length in (60, 71, 75, 90)),
        "x" * 75,
        "x" * 500,
    ],
)
def test_long_subject_is_broken_within_its_text(recipient: str, subject: str) -> None:
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        mailer.send(_rendered(recipient, subject))

    [message] = mailbox.messages
    head = mailbox.contents[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert message["Subject"] == subject
    assert b"Subject:" not in [line.strip() for line in head]
    assert all(len(line.decode()) <= 78 for line in head)


def test_every_attempt_has_the_same_date_and_message_id() -> None:
    when = datetime(2026, 3, 1, 9, 30, 7, tzinfo=UTC)
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        for _ in range(2):
            mailer.send(replace(_rendered(), created_at=when))

    assert [(message["Date"], message["Message-ID"]) for message in mailbox.messages] == [
        ("Sun, 01 Mar 2026 09:30:07 +0000", "<20260301.7@shop.example.com>")
    ] * 2


def test_mail_without_a_number_gets_date_and_message_id() -> None:
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        for _ in range(2):
            mailer.send(replace(_rendered(), message_id=""))

    first, second = mailbox.messages
    assert first["Date"].datetime.tzinfo is not None
    assert first["Message-ID"].endswith("@shop.example.com>")
    assert first["Message-ID"] != second["Message-ID"]


def test_logo_is_attached_to_the_html_alone() -> None:
    logo = Logo("emblem", 2, 1, b"\x89PNG\r\n\x1a\n not drawn")
    rendered = replace(_rendered(), html='<img src="cid:logo@mail">', logo=logo)
    with smtp_server() as (mailbox, host):
        SmtpMailer(f"smtp://{host}", "noreply@shop.example.com").send(rendered)

    (message,) = mailbox.messages
    assert message.get_content_type() == "multipart/alternative"
    text, related = message.iter_parts()
    assert text.get_content_type() == "text/plain"
    assert related.get_content_type() == "multipart/related"
    html, image = related.iter_parts()
    assert html.get_content_type() == "text/html"
    assert image.get_content_type() == "image/png"
    assert image["Content-ID"] == "<logo@mail>"
    assert image.get_content_disposition() == "inline"
    assert image.get_content() == logo.data
    assert mailbox.contents[0].isascii()


@cases("reply_to", ["", "help@example.com", "hilfe@töpferei.example"])
def test_replies_go_to_the_shops_address(reply_to: str) -> None:
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        mailer.send(replace(_rendered(), reply_to=reply_to))

    shown = mailbox.messages[0]["Reply-To"]
    assert shown == (reply_to.replace("töpferei", "xn--tpferei-90a") or None)


@cases("reply_to", ["a@example.com\r\nBcc: all@example.com", "a@example.com\nX: y"])
def test_reply_address_cannot_inject_headers(reply_to: str) -> None:
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        with pytest.raises(ValueError, match=r"invalid|CR or LF"):
            mailer.send(replace(_rendered(), reply_to=reply_to))

    assert mailbox.messages == []


@cases(
    ("recipient", "reached"),
    [
        ("jörg@exämple.de", "jörg@xn--exmple-cua.de"),
        ("用户@例子.广告", "用户@xn--fsqu00a.xn--4rr70v"),
    ],
)
def test_mail_reaches_an_internationalized_address(recipient: str, reached: str) -> None:
    with smtp_server() as (mailbox, host):
        SmtpMailer(f"smtp://{host}", "noreply@shop.example.com").send(_rendered(recipient))

    assert mailbox.recipients == [reached]


def test_internationalized_domain_is_reached_without_smtputf8() -> None:
    with smtp_server(speaks_utf8=False) as (mailbox, host):
        rendered = replace(
            _rendered("ann@straße.de", "Grüße"), text="Öffne …\n", html="<p>Öffne …</p>"
        )
        SmtpMailer(f"smtp://{host}", "noreply@shöp.example").send(rendered)

    assert mailbox.contents[0].isascii(), "it may take no more than seven bits"
    assert mailbox.recipients == ["ann@xn--strae-oqa.de"]
    assert mailbox.messages[0]["From"].addresses[0].addr_spec == "noreply@xn--shp-tna.example"


def test_local_part_beyond_ascii_fails_for_good_at_a_server_without_smtputf8() -> None:
    with smtp_server(speaks_utf8=False) as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        with pytest.raises(MailUndeliverable, match=r"before the @ \(SMTPUTF8\)") as failure:
            mailer.send(_rendered("josé@example.com"))

    assert failure.value.permanent
    assert mailbox.recipients == []


def test_sender_beyond_ascii_is_for_the_operator_to_change() -> None:
    rendered = replace(_rendered(), sender_address="töpferin@example.com")
    with smtp_server(speaks_utf8=False) as (_mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        with pytest.raises(MailUndeliverable, match="Use another sender address") as failure:
            mailer.send(rendered)

    assert not failure.value.permanent


@cases(("speaks_utf8", "shown"), [(True, "töpferin@example.com"), (False, None)])
def test_reply_address_beyond_ascii_is_whole_or_left_out(
    shown: str | None, *, speaks_utf8: bool
) -> None:
    with smtp_server(speaks_utf8=speaks_utf8) as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")
        mailer.send(replace(_rendered(), reply_to="töpferin@example.com"))

    header = mailbox.messages[0]["Reply-To"]
    assert shown == (header and header.encode("utf-8", "surrogateescape").decode())


@cases(
    ("sender", "shown"),
    [
        ("laden@töpferei.example", "laden@xn--tpferei-90a.example"),
        ("töpferin@example.com", "töpferin@example.com"),
    ],
)
def test_sender_can_be_internationalized(sender: str, shown: str) -> None:
    rendered = replace(_rendered(), sender_name="Töpferei, Köln", sender_address=sender)
    with smtp_server() as (mailbox, host):
        SmtpMailer(f"smtp://{host}", "noreply@shop.example.com").send(rendered)

    header = mailbox.messages[0]["From"].encode("utf-8", "surrogateescape").decode()
    assert header == f'"Töpferei, Köln" <{shown}>'


LINES = text(max_size=256).filter(lambda line: line_problem(line, "", max_length=256) is None)


@pytest.mark.first
def test_sender_name_cannot_inject_headers() -> None:
    with smtp_server() as (mailbox, host):
        mailer = SmtpMailer(f"smtp://{host}", "noreply@shop.example.com")

        @given(
            name=LINES, subject=LINES, recipient=sampled_from(["ann@example.com", "用@例.公司"])
        )
        @settings(max_examples=20)
        def every_name(name: str, subject: str, recipient: str) -> None:
            mailer.send(replace(_rendered(recipient, subject), sender_name=name))
            message = mailbox.messages[-1]
            assert {*message.keys()} == HEADERS
            [sender] = message["From"].addresses
            assert sender.addr_spec == "noreply@shop.example.com"
            shown = sender.display_name.encode("utf-8", "surrogateescape").decode()
            assert "".join(shown.split()) == "".join(name.split())

        every_name()
    assert {*mailbox.recipients} <= {"ann@example.com", "用@xn--fsq.xn--55qx5d"}


def test_smtp_credentials_are_sent() -> None:
    with smtp_server(login=("shop", "p@ss/word")) as (mailbox, host):
        SmtpMailer(f"smtp://shop:p%40ss%2Fword@{host}", "noreply@example.com").send(_rendered())

    assert len(mailbox.messages) == 1


def test_server_without_a_sign_in_is_named_as_such() -> None:
    with smtp_server(offers_login=False) as (_mailbox, host):
        mailer = SmtpMailer(f"smtp://shop:secret@{host}", "noreply@example.com")
        with pytest.raises(MailUndeliverable, match="doesn't offer authentication") as failure:
            mailer.send(_rendered())

    assert not failure.value.permanent


def test_password_beyond_ascii_is_refused_without_showing_it() -> None:
    with smtp_server(login=("shop", "geheimnüs")) as (_mailbox, host):
        mailer = SmtpMailer(f"smtp://shop:geheimn%C3%BCs@{host}", "noreply@example.com")
        for attempt in (mailer.check, lambda: mailer.send(_rendered())):
            with pytest.raises(MailUndeliverable, match="only ASCII") as failure:
                attempt()
            assert failure.value.__cause__ is None
            assert "geheim" not in str(failure.value)


def test_connection_check_authenticates_and_sends_nothing() -> None:
    with smtp_server(login=("shop", "right")) as (mailbox, host):
        assert SmtpMailer(f"smtp://shop:right@{host}", "noreply@example.com").check()
        with pytest.raises(MailUndeliverable, match="MAIL_URL"):
            SmtpMailer(f"smtp://shop:wrong@{host}", "noreply@example.com").check()
    assert mailbox.messages == []


def test_wrong_credentials_are_reported_without_the_password() -> None:
    with (
        smtp_server(login=("shop", "right")) as (mailbox, host),
        pytest.raises(MailUndeliverable) as failure,
    ):
        SmtpMailer(f"smtp://shop:wrong-secret@{host}", "noreply@example.com").send(_rendered())

    assert mailbox.messages == []
    assert "wrong-secret" not in str(failure.value)
    assert failure.value.permanent is False, "the operator mends it, and no mail is lost"


@cases(("answer", "permanent"), [("550 No such mailbox", True), ("451 Try again later", False)])
def test_permanent_refusal_is_final(answer: str, *, permanent: bool) -> None:
    with smtp_server() as (mailbox, host):
        mailbox.refusal = answer
        mailer = SmtpMailer(f"smtp://{host}", "noreply@example.com")
        with pytest.raises(MailUndeliverable) as failure:
            mailer.send(_rendered())

    assert failure.value.permanent is permanent


@cases(("answer", "permanent"), [("550 No such mailbox", True), ("450 Greylisted", False)])
def test_temporarily_refused_recipient_is_retried(answer: str, *, permanent: bool) -> None:
    with smtp_server() as (mailbox, host):
        mailbox.stranger = answer
        mailer = SmtpMailer(f"smtp://{host}", "noreply@example.com")
        with pytest.raises(MailUndeliverable) as failure:
            mailer.send(_rendered())

    assert failure.value.permanent is permanent


@cases("step", ["refusal", "stranger"])
@cases(
    ("answer", "shown"),
    [
        ("550 5.1.1 User unknown", "550: 5.1.1 User unknown."),
        ("450-4.7.1 Greylisted\r\n450 4.7.1 Come back", "450: 4.7.1 Greylisted 4.7.1 Come back."),
        ("550 <ann@example.com>: unknown", "550: […] unknown."),
        ("550 spam: https://shop.example.com/?token=abc", "550: spam: […]."),
        ("550 ", "550."),
    ],
)
def test_servers_answer_is_kept_without_emails_and_links(
    step: str, answer: str, shown: str
) -> None:
    with smtp_server() as (mailbox, host):
        setattr(mailbox, step, answer)
        mailer = SmtpMailer(f"smtp://{host}", "noreply@example.com")
        with pytest.raises(MailUndeliverable) as failure:
            mailer.send(_rendered())

    assert str(failure.value).endswith(f" with {shown}")


@pytest.mark.parametrize(("scheme", "from_the_start"), [("smtp", False), ("smtps", True)])
def test_mail_is_sent_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, *, from_the_start: bool
) -> None:
    authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(chain)
    with smtp_server(tls=tls, from_the_start=from_the_start) as (mailbox, host):
        url = f"{scheme}://{host.replace('127.0.0.1', 'localhost')}"
        with pytest.raises(MailUndeliverable) as failure:
            # To a server whose certificate nobody vouches for.
            SmtpMailer(url, "noreply@example.com").send(_rendered())
        assert failure.value.permanent is False
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        SmtpMailer(url, "noreply@example.com").send(_rendered())

    assert mailbox.encrypted == [True]


def test_local_part_beyond_ascii_is_reached_after_starttls(tmp_path: Path) -> None:
    authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(chain)
    with smtp_server(tls=tls) as (mailbox, host):
        url = f"smtp://{host.replace('127.0.0.1', 'localhost')}"
        company = TrustedAuthorities(additional=str(authority))
        SmtpMailer(url, "noreply@example.com", company).send(_rendered("josé@example.com"))

    assert mailbox.recipients == ["josé@example.com"]


def test_operators_own_authority_is_trusted(tmp_path: Path) -> None:
    authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(chain)
    with smtp_server(tls=tls, from_the_start=True) as (mailbox, host):
        url = f"smtps://{host.replace('127.0.0.1', 'localhost')}"
        company = TrustedAuthorities(additional=str(authority))
        SmtpMailer(url, "noreply@example.com", company).send(_rendered())

    assert mailbox.encrypted == [True]


class _CountedAuthorities(TrustedAuthorities):
    """Counts how often the authorities are read, which takes longer than handing a mail over."""

    reads = 0

    @override
    def client_context(self, usual: str | None = None) -> ssl.SSLContext:
        type(self).reads += 1
        return super().client_context(usual)


def test_authorities_are_read_once_and_only_for_a_server_with_tls(tmp_path: Path) -> None:
    authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(chain)
    company = _CountedAuthorities(additional=str(authority))
    with smtp_server() as (_plain, host):
        SmtpMailer(f"smtp://{host}", "noreply@example.com", company).send(_rendered())
    reads_without_tls = company.reads
    with smtp_server(tls=tls) as (mailbox, host):
        url = f"smtp://{host.replace('127.0.0.1', 'localhost')}"
        mailer = SmtpMailer(url, "noreply@example.com", company)
        for _ in range(2):
            mailer.send(_rendered())

    assert mailbox.encrypted == [True, True]
    assert (reads_without_tls, company.reads) == (0, 1)


def test_unreachable_server_is_a_temporary_failure() -> None:
    with smtp_server() as (_mailbox, host):
        pass

    with pytest.raises(MailUndeliverable) as failure:
        SmtpMailer(f"smtp://{host}", "noreply@example.com").send(_rendered())

    assert failure.value.permanent is False


def test_mails_can_be_written_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mails.txt"

    FileMailer(file, "noreply@localhost").send(_rendered())

    assert "To: ann@example.com" in file.read_text()
    assert "https://shop.example.com/?token=abc" in file.read_text()
    shown = capsys.readouterr().err
    assert str(file) in shown
    assert "token" not in shown
