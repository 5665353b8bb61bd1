"""Handing mails over: by SMTP, or in development to a file and the console."""

import smtplib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import formatdate, make_msgid
from functools import cached_property
from pathlib import Path
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

from typing_extensions import override

from app.adapters.http.tls import TrustedAuthorities
from app.adapters.system import make_private_file
from app.domain.mails import mail_log
from app.domain.mails.design import CONTENT_ID, Logo
from app.domain.mails.mail import RenderedMail
from app.domain.urls.web_urls import ascii_host
from app.ports.mail import MailUndeliverable

_LINE_LENGTH = 78
_WORD_LENGTH = 60
"""Longer words are encoded, so that they can be broken."""


class _SubjectPolicy(EmailPolicy):
    """Breaks a long subject after a word.

    Python's policy leaves "Subject:" alone on its line if the rest fits on the next. RFC 5322,
    2.2.3 allows it, but some programs, Python's too, then show a subject that begins with a space.
    It also doubles a space before a word beyond ASCII at the beginning of a line.
    """

    @override
    def fold_binary(self, name: str, value: str) -> bytes:
        if name != "Subject":
            return super().fold_binary(name, value)
        words = str(value).split(" ")
        is_plain = value.isascii() and max(map(len, words)) < _WORD_LENGTH
        header = Header(str(value), None if is_plain else "utf-8", _LINE_LENGTH, name)
        return f"{name}: {header.encode(linesep=self.linesep)}{self.linesep}".encode("ascii")


_EIGHT_BITS = _SubjectPolicy(linesep="\r\n", max_line_length=_LINE_LENGTH, utf8=True)
_SEVEN_BITS = _SubjectPolicy(linesep="\r\n", max_line_length=_LINE_LENGTH, cte_type="7bit")
"""For any mail server: not all take eight bits, and smtplib asks only where it needs SMTPUTF8."""

_USUAL_AUTHORITIES = TrustedAuthorities()
_TIMEOUT = 20
_PERMANENT = 500


class SmtpMailer:
    """SMTP with STARTTLS where the server offers it (``smtps://`` from the first byte)."""

    def __init__(
        self, url: str, sender_address: str, authorities: TrustedAuthorities = _USUAL_AUTHORITIES
    ) -> None:
        parts = urlsplit(url)
        self._authorities = authorities
        self._tls = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (465 if self._tls else 25)
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._sender_address = sender_address

    def send(self, rendered: RenderedMail) -> None:
        """Hand ``rendered`` over.

        A refusal is final when it is about the recipient or the letter. One that is about us (a
        password that has changed, a server in maintenance) is for the operator to mend.
        """
        sender = _address(rendered.sender_address or self._sender_address, rendered.sender_name)
        recipient = _address(rendered.recipient)
        with self._explained(), self._connect() as server:
            takes_utf8 = server.has_extn("smtputf8")
            if not takes_utf8:
                _require_ascii(sender, recipient)
            message = _message(rendered, sender, recipient, takes_utf8=takes_utf8)
            options = () if message.policy is _SEVEN_BITS else ("SMTPUTF8", "BODY=8BITMIME")
            # Not send_message(), which asks for SMTPUTF8 only because of the envelope.
            server.sendmail(sender.addr_spec, [recipient.addr_spec], message.as_bytes(), options)

    def check(self) -> bool:
        """Go as far as a letter would be handed over: connection, encryption, password."""
        with self._explained(), self._connect() as server:
            code, _ = server.noop()
        if code >= _PERMANENT:
            raise MailUndeliverable(_check_settings(str(code)))
        return True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise what goes wrong with the server as ``MailUndeliverable``."""
        try:
            yield
        except smtplib.SMTPRecipientsRefused as error:
            [(code, answer)] = error.recipients.values()
            reason = mail_log.RECIPIENT_REJECTED.format(answer=self._with_answer(code, answer))
            raise MailUndeliverable(reason, permanent=code >= _PERMANENT) from error
        except smtplib.SMTPDataError as error:
            answered = self._with_answer(error.smtp_code, error.smtp_error)
            reason = mail_log.RESPONDED.format(answer=answered)
            raise MailUndeliverable(reason, permanent=error.smtp_code >= _PERMANENT) from error
        except smtplib.SMTPResponseException as error:
            raise MailUndeliverable(self._sender_refused(error)) from error
        except (OSError, smtplib.SMTPException) as error:
            reason = mail_log.UNREACHABLE.format(answer=type(error).__name__)
            raise MailUndeliverable(reason) from error

    def _sender_refused(self, error: smtplib.SMTPResponseException) -> str:
        if isinstance(error, smtplib.SMTPAuthenticationError):
            return _check_settings(str(error.smtp_code))  # its text can repeat what was entered
        return _check_settings(self._with_answer(error.smtp_code, error.smtp_error))

    def _with_answer(self, code: int, answer: bytes | str) -> str:
        readable = mail_log.readable_answer(answer, self._password)
        return f"{code}: {readable}" if readable else str(code)

    @cached_property
    def _context(self) -> SSLContext:
        """The authorities, read once, and only for a server with TLS: that takes 16 ms."""
        return self._authorities.client_context()

    @contextmanager
    def _connect(self) -> Iterator[smtplib.SMTP]:
        # The greeting names the sender's domain, not this machine's internal name.
        name = _ascii(self._sender_address.rpartition("@")[2])
        if self._tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, name, timeout=_TIMEOUT, context=self._context
            )
        else:
            server = smtplib.SMTP(self._host, self._port, name, timeout=_TIMEOUT)
        with server:
            server.ehlo_or_helo_if_needed()
            if not self._tls and server.has_extn("starttls"):
                server.starttls(context=self._context)
                server.ehlo_or_helo_if_needed()  # what it offers now can be more
            if self._user:
                self._login(server)
            yield server

    def _login(self, server: smtplib.SMTP) -> None:
        try:
            server.login(self._user, self._password)
        except smtplib.SMTPNotSupportedError as error:
            raise MailUndeliverable(mail_log.NO_LOGIN) from error
        except UnicodeEncodeError:
            # The library writes ASCII alone. No cause: its text repeats the password.
            raise MailUndeliverable(mail_log.LOGIN_NOT_ASCII) from None


class FileMailer:
    """Appends every mail to a file readable by this account only: for development.

    Standard error, which is often logged, names the file but contains no text: links give access
    to accounts.
    """

    def __init__(self, path: Path, sender_address: str) -> None:
        self._path = path
        self._sender_address = sender_address

    def send(self, rendered: RenderedMail) -> None:
        sender = _address(rendered.sender_address or self._sender_address, rendered.sender_name)
        message = _message(rendered, sender, _address(rendered.recipient), takes_utf8=True)
        lines = (
            f"Date: {message['Date']}",
            f"From: {message['From']}",
            f"To: {rendered.recipient}",
            f"Subject: {rendered.subject}",
            "",
            rendered.text,
            "-" * 72,
        )
        readable = "".join(f"{line}\n" for line in lines)
        make_private_file(self._path)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(readable)
        sys.stderr.write(f"Mail to {rendered.recipient} written to {self._path}\n")

    def check(self) -> bool:
        return False


def _check_settings(answer: str) -> str:
    return mail_log.CHECK_SETTINGS.format(answer=answer)


def _require_ascii(sender: Address, recipient: Address) -> None:
    """Raise ``MailUndeliverable`` for an address that needs SMTPUTF8 (RFC 6531)."""
    if not recipient.addr_spec.isascii():
        raise MailUndeliverable(mail_log.RECIPIENT_NOT_ASCII, permanent=True)
    if not sender.addr_spec.isascii():
        raise MailUndeliverable(mail_log.SENDER_NOT_ASCII)  # which the operator can change


def _message(
    rendered: RenderedMail, sender: Address, recipient: Address, *, takes_utf8: bool
) -> EmailMessage:
    """Return the message, complete by RFC 5322, in seven bits unless an address needs more.

    A Reply-To that the server doesn't take is left out: replies then go to the sender.
    """
    addresses = [sender, recipient]
    if rendered.reply_to:
        reply_to = _address(rendered.reply_to)
        if takes_utf8 or reply_to.addr_spec.isascii():
            addresses.append(reply_to)
    ascii_only = all(each.addr_spec.isascii() for each in addresses)
    message = EmailMessage(policy=_SEVEN_BITS if ascii_only else _EIGHT_BITS)
    message["Date"] = rendered.created_at or formatdate(localtime=True)
    for name, address in zip(("From", "To", "Reply-To"), addresses, strict=False):
        message[name] = address
    message["Subject"] = rendered.subject
    domain = sender.domain
    number = rendered.message_id
    message["Message-ID"] = f"<{number}@{domain}>" if number else make_msgid(domain=domain)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(rendered.text)
    message.add_alternative(rendered.html, subtype="html")
    if rendered.logo is not None:
        _attach(message, rendered.logo)
    return message


def _attach(message: EmailMessage, logo: Logo) -> None:
    """Attach the logo to the HTML, so that it is shown without a request to a server."""
    html = message.get_body(("html",))
    if html is None:
        raise TypeError("the message has no HTML")
    html.add_related(
        logo.data, "image", "png", cid=f"<{CONTENT_ID}>", filename="logo.png", disposition="inline"
    )


def _address(address: str, name: str = "") -> Address:
    """Return an address as every mail server accepts it, as far as possible.

    The domain is written in ASCII (RFC 5891), so that SMTPUTF8, which not every server supports,
    is needed only for the local part.
    """
    # Given in two parts: as one text, a local part beyond ASCII would count as a mistake.
    local, _, domain = address.rpartition("@")
    return Address(display_name=name, username=local, domain=_ascii(domain))


def _ascii(domain: str) -> str:
    # What can't be encoded can't be registered either: the mail server has the last word.
    return ascii_host(domain) or domain
