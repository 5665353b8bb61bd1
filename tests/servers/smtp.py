"""A real mail server on a free port of this machine, for one test."""

import asyncio
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from typing_extensions import override

from tests.servers.sandbox import PATIENCE


@dataclass
class Mailbox:
    """What has arrived.

    ``refusal``, if not empty, is what the server answers to a letter, ``stranger`` to its
    recipient.
    """

    refusal: str = ""
    stranger: str = ""
    messages: list[EmailMessage] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802 - the server's name for it
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        if self.stranger:
            return self.stranger
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - the server's name for it
        if self.refusal:
            return self.refusal
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        self.contents.append(content)
        self.recipients += envelope.rcpt_tos
        assert server.transport is not None
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 OK"


class _AnyPort(Controller):
    """Listens on a free port."""

    @override
    def _trigger_server(self) -> None:
        assert isinstance(self.server, asyncio.Server)
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def smtp_server(
    *,
    port: int = 0,
    login: tuple[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    from_the_start: bool = False,
    speaks_utf8: bool = True,
    offers_login: bool = True,
) -> Iterator[tuple[Mailbox, str]]:
    """The mailbox of a running server, and its host and port; without ``port`` any free one.

    With ``tls`` it insists on encryption: by STARTTLS, or ``from_the_start``.
    """

    def authenticate(
        _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: object
    ) -> AuthResult:
        good = isinstance(data, LoginPassword) and login == (
            data.login.decode(),
            data.password.decode(),
        )
        return AuthResult(success=good, handled=False)

    mailbox = Mailbox()
    controller = _AnyPort(
        mailbox,
        hostname="127.0.0.1",
        port=port,
        server_hostname="localhost",
        enable_SMTPUTF8=speaks_utf8,
        ssl_context=tls if from_the_start else None,
        tls_context=None if from_the_start else tls,
        require_starttls=tls is not None and not from_the_start,
        authenticator=authenticate if login else None,
        auth_required=login is not None,
        auth_require_tls=not offers_login,
        ready_timeout=PATIENCE,
    )
    with warnings.catch_warnings():
        # The server warns of logins without TLS, and of its own use of an older name.
        warnings.filterwarnings("ignore", "Requiring AUTH while not requiring TLS", UserWarning)
        warnings.filterwarnings("ignore", "Session.login_data is deprecated", Warning)
        controller.start()
        try:
            yield mailbox, f"127.0.0.1:{controller.port}"
        finally:
            controller.stop()
