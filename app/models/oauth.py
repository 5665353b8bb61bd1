"""Latchkey as an OpenID provider: clients, their secrets and sessions, consents, codes, tokens.

A grant is a session (``Session.oauth_client_id``); what belongs to it ends with it.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, LargeBinary, String, Text, and_, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, deleted_with, partial_index, text_column


class OAuthClient(Record):
    """A program that signs people in here; ``client_id`` is its public name.

    URIs and scopes are separated by spaces. ``is_public``: it can't keep a secret. ``key_set`` is
    the JSON of the public keys (RFC 7517) by which it proves who it is, without a secret.
    ``app_id`` is the app whose tokens it gets by client credentials. ``allows_devices``: people
    can sign in with it by a code that they enter elsewhere (RFC 8628). ``subject_salt`` is what
    its pairwise subjects are made with; empty for public ones. It is told of ended sessions from
    ``logouts_after`` on, after as many calls in turn that reached nothing as ``logout_failures``.
    ``consent_version`` is counted up when people are to be asked for their consent again.
    """

    __tablename__ = "oauth_clients"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    client_id: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(256))
    redirect_uris: Mapped[str] = text_column()
    post_logout_redirect_uris: Mapped[str] = text_column()
    backchannel_logout_uri: Mapped[str] = text_column(2048)
    scopes: Mapped[str] = text_column()
    is_first_party: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_public: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    allows_devices: Mapped[bool] = mapped_column(default=False, server_default=false())
    key_set: Mapped[str] = text_column()
    app_id: Mapped[int | None] = deleted_with("apps.id", index=True)
    logo: Mapped[str] = text_column(64)
    subject_salt: Mapped[str] = text_column(64)
    consent_version: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    logouts_after: Mapped[datetime | None]
    logout_failures: Mapped[int] = mapped_column(default=0, server_default="0")


IS_FIRST_PARTY: ColumnElement[bool] = and_(
    OAuthClient.is_first_party, OAuthClient.subject_salt == ""
)
"""Release 1.0.0 stored clients that are both, which are third parties."""


class OAuthClientSecret(Record):
    """A client's secret: the SHA-256 of 220 random bits, and its last four characters.

    One that was rotated works until ``expires_at``.
    """

    __tablename__ = "oauth_client_secrets"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    client_id: Mapped[int] = deleted_with("oauth_clients.id", index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    last_four: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]


class OAuthClientLogo(Record):
    """One file of a client's logo ``name``, which is random: WebP by ``size``, PNG as size 0."""

    __tablename__ = "oauth_client_logos"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    client_id: Mapped[int] = deleted_with("oauth_clients.id", index=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class OAuthUse(Record):
    """When a client last got tokens of a person."""

    __tablename__ = "oauth_uses"

    client_id: Mapped[int] = deleted_with(
        "oauth_clients.id", primary_key=True, autoincrement=False
    )
    user_id: Mapped[int] = deleted_with(
        "users.id", primary_key=True, autoincrement=False, index=True
    )
    used_at: Mapped[datetime] = mapped_column(index=True)


class OAuthConsent(Record):
    """What a person allowed a third party: scopes, separated by spaces.

    ``client_version`` is the client's ``consent_version`` of then.
    """

    __tablename__ = "oauth_consents"

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True, autoincrement=False)
    client_id: Mapped[int] = deleted_with(
        "oauth_clients.id", primary_key=True, autoincrement=False, index=True
    )
    scope: Mapped[str] = mapped_column(Text)
    client_version: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OAuthCode(Record):
    """An authorization code: its SHA-256, and all that the token request must match.

    ``session_id`` is the sign-in behind it, at the hosted pages. ``challenge`` is PKCE's, S256. A
    used code keeps its row until it expires, with the session that it was exchanged for, which
    ends if the code comes again.
    """

    __tablename__ = "oauth_codes"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    client_id: Mapped[int] = deleted_with("oauth_clients.id", index=True)
    session_id: Mapped[int] = deleted_with("sessions.id", index=True)
    granted_session_id: Mapped[int | None] = mapped_column(
        ForeignKey("sessions.id", ondelete="SET NULL"), index=True
    )
    redirect_uri: Mapped[str] = mapped_column(String(2048))
    scope: Mapped[str] = mapped_column(Text)
    challenge: Mapped[str] = mapped_column(String(128))
    nonce: Mapped[str] = text_column()
    authenticated_at: Mapped[datetime]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class OAuthRefreshToken(Record):
    """A refresh token of a grant: its SHA-256. All of a session's are one family.

    A used one keeps its row: if it comes again, the session ends, and the family with it.
    """

    __tablename__ = "oauth_refresh_tokens"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    session_id: Mapped[int] = deleted_with("sessions.id", index=True)
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class OAuthAssertion(Record):
    """A signed assertion of a client that was used: the SHA-256 of its client and ``jti``."""

    __tablename__ = "oauth_assertions"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class OAuthClientSession(Record):
    """A sign-in or a grant that a client knows as a session, by the ``sid`` of its ID tokens.

    ``session_id`` is the session of the hosted pages, or that of the grant. The database empties
    it when that session's row is deleted, wherever that happens: then the client is told, if it
    has a URI for it (OpenID Connect Back-Channel Logout 1.0), and the row is deleted. Rows of
    sessions that have expired are deleted without that. ``issuer`` and ``subject`` are those of
    the ID tokens. ``first_attempt_at`` is when the client should have been told first.
    """

    __tablename__ = "oauth_client_sessions"
    __table_args__ = (
        partial_index("ix_oauth_client_sessions_ended", "due_at", where="session_id IS NULL"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    session_id: Mapped[int | None] = mapped_column(
        ForeignKey("sessions.id", ondelete="SET NULL"), index=True
    )
    client_id: Mapped[int] = deleted_with("oauth_clients.id", index=True)
    sid: Mapped[str] = mapped_column(String(64), index=True)
    issuer: Mapped[str] = mapped_column(String(2048))
    subject: Mapped[str] = mapped_column(String(255))
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    due_at: Mapped[datetime]
    first_attempt_at: Mapped[datetime | None]


class OAuthDeviceCode(Record):
    """A device that waits for its person: the SHA-256 of its code, deleted when it is exchanged.

    ``user_code`` is the keyed digest of the code that the person enters elsewhere, ``address`` and
    ``user_agent`` are who asked. ``interval`` is how many seconds the device waits between polls,
    ``polled_at`` when it last asked. ``session_id`` is the sign-in of the person who decided;
    ``is_denied`` if they refused.
    """

    __tablename__ = "oauth_device_codes"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    user_code: Mapped[str] = mapped_column(String(64), unique=True)
    client_id: Mapped[int] = deleted_with("oauth_clients.id", index=True)
    scope: Mapped[str] = mapped_column(Text)
    address: Mapped[str] = text_column(45)
    user_agent: Mapped[str] = text_column(256)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    interval: Mapped[int]
    polled_at: Mapped[datetime | None]
    session_id: Mapped[int | None] = deleted_with("sessions.id", index=True)
    authenticated_at: Mapped[datetime | None]
    is_denied: Mapped[bool] = mapped_column(default=False, server_default=false())
