"""Handing mails over: by SMTP, or in development to a file and the console."""

import smtplib
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.domain.mail import Letter
from app.ports.mail import MailUndeliverable

_TIMEOUT = 20
_PERMANENT = 500


class SmtpPost:
    """SMTP with STARTTLS where the server offers it (``smtps://`` from the first byte)."""

    def __init__(self, url: str, sender_address: str) -> None:
        parts = urlsplit(url)
        self._tls = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (465 if self._tls else 25)
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._sender_address = sender_address

    def send(self, letter: Letter) -> None:
        try:
            with self._connect() as server:
                server.send_message(_message(letter, self._sender_address))
        except smtplib.SMTPResponseException as error:
            reason = f"The mail server answered {error.smtp_code}."
            raise MailUndeliverable(reason, permanent=error.smtp_code >= _PERMANENT) from error
        except smtplib.SMTPRecipientsRefused as error:
            raise MailUndeliverable("The recipient was refused.", permanent=True) from error
        except (OSError, smtplib.SMTPException) as error:
            reason = f"The mail server cannot be reached ({type(error).__name__})."
            raise MailUndeliverable(reason) from error

    @contextmanager
    def _connect(self) -> Iterator[smtplib.SMTP]:
        context = ssl.create_default_context()
        # Said in greeting: the sender's domain, not whatever this machine is called inside.
        name = self._sender_address.rpartition("@")[2]
        if self._tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, name, timeout=_TIMEOUT, context=context
            )
        else:
            server = smtplib.SMTP(self._host, self._port, name, timeout=_TIMEOUT)
        with server:
            server.ehlo_or_helo_if_needed()
            if not self._tls and server.has_extn("starttls"):
                server.starttls(context=context)
            if self._user:
                server.login(self._user, self._password)
            yield server


class FilePost:
    """Development: every mail is appended to a readable file and shown on the console."""

    def __init__(self, path: Path, sender_address: str) -> None:
        self._path = path
        self._sender_address = sender_address

    def send(self, letter: Letter) -> None:
        message = _message(letter, self._sender_address)
        header = "\n".join(f"{name}: {message[name]}" for name in ("From", "To", "Subject"))
        readable = f"{header}\n\n{letter.text}\n{'-' * 72}\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(readable)
        sys.stderr.write(
            f"Mail to {letter.recipient} ({letter.subject}): {self._path}\n{readable}"
        )


def _message(letter: Letter, sender_address: str) -> EmailMessage:
    ascii_only = letter.recipient.isascii()
    message = EmailMessage(policy=SMTP if ascii_only else SMTPUTF8)
    sender = letter.sender_address or sender_address
    message["From"] = Address(display_name=letter.sender_name, addr_spec=sender)
    # Given in two parts: as one text, a local part beyond ASCII would count as a mistake.
    local, _, domain = letter.recipient.rpartition("@")
    message["To"] = Address(username=local, domain=domain)
    message["Subject"] = letter.subject
    if letter.message_id:
        message["Message-ID"] = f"<{letter.message_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    message.add_alternative(letter.html, subtype="html")
    return message
