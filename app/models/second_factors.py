"""Second factors of accounts, their challenges, and the devices of staff."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class PasskeyRecord(Record):
    """A passkey (WebAuthn credential).

    ``credential_id``, ``public_key`` (COSE) and ``user_handle`` are base64url without padding; all
    passkeys of a user share one random ``user_handle``. ``sign_count`` is the authenticator's
    counter at the last use, 0 if it has none. ``is_synced``: a password manager can copy it to
    other devices. ``transports`` are separated by spaces, hints for the browser. A reported
    passkey has no ``public_key`` anymore: it counts, but doesn't work.
    """

    __tablename__ = "passkeys"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    user_handle: Mapped[str] = mapped_column(String(86), index=True)
    credential_id: Mapped[str] = mapped_column(String(1400), unique=True)
    public_key: Mapped[str] = mapped_column(Text)
    sign_count: Mapped[int] = mapped_column(BigKey, default=0, server_default="0")
    is_synced: Mapped[bool] = mapped_column(default=False, server_default=false())
    transports: Mapped[str] = mapped_column(String(128), default="", server_default="")
    aaguid: Mapped[str] = mapped_column(String(36), default="", server_default="")
    name: Mapped[str] = mapped_column(String(100))
    device: Mapped[str] = mapped_column(String(64), default="", server_default="")
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class AuthenticatorAppRecord(Record):
    """A user's authenticator app: a TOTP secret (RFC 6238), encrypted for its user.

    It counts from ``confirmed_at`` on. ``last_step`` is the time step of the last accepted code:
    codes of that step and of earlier ones don't work again. ``pending_secret`` is the secret of a
    new phone that isn't confirmed yet. A reported app has no ``secret`` anymore.
    """

    __tablename__ = "authenticator_apps"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    pending_secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    last_step: Mapped[int] = mapped_column(BigKey, default=0, server_default="0")
    created_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class RecoveryCodeRecord(Record):
    """A recovery code; ``selector`` is its first character, different in each of a user's codes.

    ``code_hash`` is a password hash of the whole code. Used ones keep their row, so that the
    console can say how many are left.
    """

    __tablename__ = "recovery_codes"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    selector: Mapped[str] = mapped_column(String(1), primary_key=True)
    code_hash: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class SecondFactorChallengeRecord(Record):
    """A question for a second factor or passkey that is waiting for its answer.

    ``digest`` is the SHA-256 of the token that the client has, ``purpose`` a ``ChallengePurpose``.
    ``user_id`` is null while a passkey alone is to say who signs in. ``session_id`` is the session
    that asks for a proof or adds a passkey. ``passkey_challenge`` is WebAuthn's random challenge,
    base64url, empty until passkey options were asked for. ``failures`` counts wrong answers. The
    others are how the session will begin: the sign-in's method, console, lifetime in seconds and
    audience (JSON). An answered challenge is deleted.
    """

    __tablename__ = "second_factor_challenges"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    purpose: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[int | None] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    session_id: Mapped[int | None] = mapped_column(
        ForeignKey("sessions.id", ondelete="CASCADE"), index=True
    )
    passkey_challenge: Mapped[str] = mapped_column(String(128), default="", server_default="")
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    method: Mapped[str] = mapped_column(String(16), default="", server_default="")
    in_console: Mapped[bool] = mapped_column(default=False, server_default=false())
    lifetime: Mapped[int | None]
    audience: Mapped[str] = mapped_column(Text, default="", server_default="")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class KnownDeviceRecord(Record):
    """A device and network from which a staff member has signed in.

    ``device`` is in plain words, ``network`` the /24 of an IPv4 address or the /48 of an IPv6 one.
    """

    __tablename__ = "known_devices"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    device: Mapped[str] = mapped_column(String(64), primary_key=True)
    network: Mapped[str] = mapped_column(String(64), primary_key=True)
    first_used_at: Mapped[datetime]
    last_used_at: Mapped[datetime] = mapped_column(index=True)
