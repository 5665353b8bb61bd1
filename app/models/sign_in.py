"""Signing in: sessions, emailed links, second factors, the throttle, and identity providers.

A session is a row; ending it deletes the row. Times of the login throttle are Unix seconds.
"""

from datetime import datetime

from sqlalchemy import Index, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, deleted_with, partial_index, text_column

WITHOUT_REFRESH = "origin = 'oidc' AND provider_refresh_token = ''"
"""Which sessions no provider can refresh, in SQL."""


class Session(Record):
    """A login that is still good until ``expires_at``; ending it deletes the row.

    ``token`` is the claim of that name in every token of the session. ``refresh_digest`` is the
    SHA-256 of the current refresh token's ``csrf_token``: what single-use refresh tokens compare
    once they are switched on, and ``refreshed_at`` when that took the place of another.

    A session that began at an identity provider names it and the identity it was opened for.
    ``sid`` is the provider's own name for it, ``provider_refresh_token`` (sealed) what it is
    refreshed with there; ``refreshing_until`` keeps two refreshes apart. ``scope`` holds the
    rights that the provider granted, where it rules; it is null where rights are kept here.
    ``amr`` are the authentication methods (RFC 8176), separated by spaces, of a session that used
    a second factor or passkey; empty for others. ``in_console``: it began at the console, whose
    cookie names it, and no client has tokens of it. ``is_hosted``: so for the hosted pages, whose
    ``authenticated_at`` is when the person proved who they are. ``oauth_client_id``: it is the
    grant of that OAuth client, limited to ``oauth_scope``, and works as long as the client does;
    ``authenticated_at`` is when the person last signed in for it.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        partial_index(
            "ix_sessions_provider_id_sid", "provider_id", "sid", where="provider_id IS NOT NULL"
        ),
        partial_index(
            "ix_sessions_oauth_client_id",
            "oauth_client_id",
            "user_id",
            where="oauth_client_id IS NOT NULL",
        ),
        partial_index("ix_sessions_granted", "expires_at", where="scope <> ''"),
        partial_index("ix_sessions_without_refresh", "expires_at", where=WITHOUT_REFRESH),
        Index("ix_sessions_origin_expires_at_user_id", "origin", "expires_at", "user_id"),
        Index("ix_sessions_by_user", "user_id", "origin", "expires_at"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    token: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[int] = deleted_with("users.id")
    origin: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]
    address: Mapped[str] = text_column(45)
    user_agent: Mapped[str] = text_column(256)
    refresh_digest: Mapped[str] = text_column(64)
    refreshed_at: Mapped[datetime | None]
    provider_id: Mapped[int | None] = deleted_with("identity_providers.id")
    identity_id: Mapped[int | None] = deleted_with("external_identities.id", index=True)
    sid: Mapped[str] = text_column(255)
    provider_refresh_token: Mapped[str] = text_column()
    refreshing_until: Mapped[datetime | None]
    scope: Mapped[str | None] = mapped_column(Text)
    amr: Mapped[str] = text_column(255)
    in_console: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_hosted: Mapped[bool] = mapped_column(default=False, server_default=false())
    oauth_client_id: Mapped[int | None] = mapped_column(BigKey)
    oauth_scope: Mapped[str] = text_column()
    authenticated_at: Mapped[datetime | None]


class AccountLink(Record):
    """A link: the SHA-256 of its token, and the account's state when it was created.

    ``state`` is a digest of what the link depends on (email, password, activity): a change
    invalidates the link. A used link's row is deleted by its first user. ``new_email`` is what the
    link sets, ``notice`` what the mail of a "This wasn't me" link was about.
    """

    __tablename__ = "account_links"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = deleted_with("users.id", index=True)
    purpose: Mapped[str] = mapped_column(String(32))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(64))
    new_email: Mapped[str] = text_column(254)
    notice: Mapped[dict[str, object]] = mapped_column(default=dict, server_default="{}")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ResetRequest(Record):
    """A request for a link to set the password of the account with ``email``, if there is one.

    The worker looks up the account, so that the response takes the same time for every email.
    ``caller`` is the requester, for audit and events. With ``code_id`` it is for a code to sign in
    instead. Deleted once processed.
    """

    __tablename__ = "reset_requests"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    redirect_url: Mapped[str] = mapped_column(String(2048))
    caller: Mapped[dict[str, object]]
    code_id: Mapped[int | None] = mapped_column(BigKey)
    created_at: Mapped[datetime]


class EmailCode(Record):
    """A sign-in with a code by email: asked for with ``email``, whether or not an account has it.

    ``digest`` is the SHA-256 of the token that the client has, without which the code is worth
    nothing. The worker fills in ``user_id`` and ``sealed``, the encrypted code, when it writes the
    mail. ``failures`` counts wrong codes; rows are kept for a day, to count them by email.
    ``audience`` (JSON) is that of the tokens. ``new_account`` (JSON) describes the account that
    the code makes if none has the email; empty: the code makes none.
    """

    __tablename__ = "email_codes"
    __table_args__ = (Index("ix_email_codes_email_created_at", "email", "created_at"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    email: Mapped[str] = mapped_column(String(254))
    user_id: Mapped[int | None] = deleted_with("users.id", index=True)
    sealed: Mapped[str] = text_column()
    is_hosted: Mapped[bool] = mapped_column(default=False, server_default=false())
    audience: Mapped[str] = text_column()
    new_account: Mapped[str] = text_column()
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(index=True)
    expires_at: Mapped[datetime]


class Passkey(Record):
    """A passkey (WebAuthn credential).

    ``credential_id``, ``public_key`` (COSE) and ``user_handle`` are base64url without padding; all
    passkeys of a user share one random ``user_handle``. ``sign_count`` is the authenticator's
    counter at the last use, 0 if it has none. ``is_synced``: a password manager can copy it to
    other devices. ``transports`` are separated by spaces, hints for the browser. A reported
    passkey has no ``public_key`` anymore: it counts, but doesn't work.
    """

    __tablename__ = "passkeys"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = deleted_with("users.id", index=True)
    user_handle: Mapped[str] = mapped_column(String(86), index=True)
    credential_id: Mapped[str] = mapped_column(String(1400), unique=True)
    public_key: Mapped[str] = mapped_column(Text)
    sign_count: Mapped[int] = mapped_column(BigKey, default=0, server_default="0")
    is_synced: Mapped[bool] = mapped_column(default=False, server_default=false())
    transports: Mapped[str] = text_column(128)
    aaguid: Mapped[str] = text_column(36)
    name: Mapped[str] = mapped_column(String(100))
    device: Mapped[str] = text_column(64)
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class AuthenticatorApp(Record):
    """A user's authenticator app: a TOTP secret (RFC 6238), encrypted for its user.

    It counts from ``confirmed_at`` on. ``last_step`` is the time step of the last accepted code:
    codes of that step and of earlier ones don't work again. ``pending_secret`` is the secret of a
    new phone that isn't confirmed yet. A reported app has no ``secret`` anymore.
    """

    __tablename__ = "authenticator_apps"

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True, autoincrement=False)
    secret: Mapped[str] = text_column()
    pending_secret: Mapped[str] = text_column()
    last_step: Mapped[int] = mapped_column(BigKey, default=0, server_default="0")
    created_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class RecoveryCode(Record):
    """A recovery code; ``selector`` is its first character, different in each of a user's codes.

    ``code_hash`` is a password hash of the whole code. Used ones keep their row, so that the
    console can say how many are left.
    """

    __tablename__ = "recovery_codes"

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True, autoincrement=False)
    selector: Mapped[str] = mapped_column(String(1), primary_key=True)
    code_hash: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class SecondFactorChallenge(Record):
    """A question for a second factor or passkey that is waiting for its answer.

    ``digest`` is the SHA-256 of the token that the client has, ``purpose`` a ``ChallengePurpose``.
    ``user_id`` is null while a passkey alone is to say who signs in. ``session_id`` is the session
    that asks for a proof or adds a passkey. ``passkey_challenge`` is WebAuthn's random challenge,
    base64url, empty until passkey options were asked for. ``failures`` counts wrong answers. The
    others are how the session will begin: the sign-in's method, console or hosted pages, lifetime
    in seconds and audience (JSON). An answered challenge is deleted.
    """

    __tablename__ = "second_factor_challenges"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    purpose: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[int | None] = deleted_with("users.id", index=True)
    session_id: Mapped[int | None] = deleted_with("sessions.id", index=True)
    passkey_challenge: Mapped[str] = text_column(128)
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    method: Mapped[str] = text_column(16)
    in_console: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_hosted: Mapped[bool] = mapped_column(default=False, server_default=false())
    lifetime: Mapped[int | None]
    audience: Mapped[str] = text_column()
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class KnownDevice(Record):
    """A device and network from which a staff member has signed in.

    ``device`` is in plain words, ``network`` the /24 of an IPv4 address or the /48 of an IPv6 one.
    """

    __tablename__ = "known_devices"

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True, autoincrement=False)
    device: Mapped[str] = mapped_column(String(64), primary_key=True)
    network: Mapped[str] = mapped_column(String(64), primary_key=True)
    first_used_at: Mapped[datetime]
    last_used_at: Mapped[datetime] = mapped_column(index=True)


class ThrottleAddress(Record):
    """One caller's address: its block, its running attempt (a lease), and its failures.

    ``known_failures`` is n of the contract's arithmetic, ``failures`` is k.
    """

    __tablename__ = "throttle_addresses"

    address: Mapped[str] = mapped_column(String(45), primary_key=True)
    blocked_until: Mapped[float] = mapped_column(default=0.0, server_default="0", index=True)
    lease: Mapped[str] = text_column(32)
    lease_until: Mapped[float] = mapped_column(default=0.0, server_default="0")
    known_failures: Mapped[int] = mapped_column(default=0, server_default="0")
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)


class PasswordGuess(Record):
    """Consecutive guesses at a signed-in person's password, over all sessions."""

    __tablename__ = "password_guesses"

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True)
    guesses: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)


class ThrottleUser(Record):
    """Failures of one address against one user: m of the contract's arithmetic."""

    __tablename__ = "throttle_users"

    address: Mapped[str] = mapped_column(String(45), primary_key=True)
    user_id: Mapped[int] = deleted_with("users.id", primary_key=True)
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    updated_at: Mapped[float] = mapped_column(index=True)


class IdentityProvider(Record):
    """An identity provider: the columns are the fields of the domain's ``Provider``.

    Its settings have the names that clients know, and what ``provider_settings`` says of them.
    ``group_mapping`` and ``waiting_changes`` are JSON, empty for none.
    """

    __tablename__ = "identity_providers"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(256))
    active: Mapped[bool] = mapped_column(default=False, server_default=false())
    issuer: Mapped[str] = text_column(1024)
    client_id: Mapped[str] = text_column(1024)
    client_secret: Mapped[str] = text_column()
    enable_refresh_token: Mapped[bool] = mapped_column(default=True, server_default=true())
    oauth_authorization_url: Mapped[str] = text_column(2048)
    oauth_token_url: Mapped[str] = text_column(2048)
    json_web_key_set_url: Mapped[str] = text_column(2048)
    oauth_logout_url: Mapped[str] = text_column(2048)
    user_info_url: Mapped[str] = text_column(2048)
    audience: Mapped[str] = text_column(1024)
    use_oauth_scope_permissions: Mapped[bool] = mapped_column(
        default=False, server_default=false()
    )
    staff_user_domains: Mapped[str] = text_column(2048)
    default_group_name_for_new_staff_users: Mapped[str] = text_column(150)
    trust_emails: Mapped[bool] = mapped_column(default=False, server_default=false())
    scope_prefix: Mapped[str] = text_column(64)
    second_factor_amr: Mapped[str] = text_column(255)
    second_factor_acr: Mapped[str] = text_column(1024)
    subject_claim: Mapped[str] = mapped_column(String(8), default="sub", server_default="sub")
    accepted_clients: Mapped[str] = text_column(2048)
    groups_claim: Mapped[str] = mapped_column(
        String(255), default="groups", server_default="groups"
    )
    group_mapping: Mapped[str] = text_column()
    serves_staff_of_any_client: Mapped[bool] = mapped_column(default=False, server_default=false())
    waiting_changes: Mapped[str] = text_column()
    trust_version: Mapped[int] = mapped_column(default=0, server_default="0")
    tokens_valid_after: Mapped[float] = mapped_column(default=0.0, server_default="0")


class ExternalIdentity(Record):
    """A provider's identity and its account.

    ``is_verified`` is whether the provider has verified the email, or its emails are trusted:
    other identities don't count once the account is confirmed or staff. ``tokens_valid_after`` is
    when the provider last signed the person out everywhere. ``waiting_mark`` is the provider's
    ``link_mark`` of a link that was made while its settings waited for confirmation. ``by_owner``:
    the account's owner linked it while signed in, so it counts as verified whatever its email is,
    and never changes the account.
    """

    __tablename__ = "external_identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = deleted_with("users.id", index=True)
    issuer: Mapped[str] = mapped_column(String(1024))
    subject: Mapped[str] = mapped_column(String(255))
    is_verified: Mapped[bool]
    created_at: Mapped[datetime]
    tokens_valid_after: Mapped[datetime | None]
    waiting_mark: Mapped[str] = text_column(64)
    by_owner: Mapped[bool] = mapped_column(default=False, server_default=false())


class OidcState(Record):
    """A pending sign-in: the SHA-256 of its ``state``, and its secrets.

    ``sealed`` holds the nonce and the PKCE verifier, encrypted. The row works once.
    """

    __tablename__ = "oidc_states"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    provider_id: Mapped[int] = deleted_with("identity_providers.id", index=True)
    redirect_uri: Mapped[str] = mapped_column(String(2048))
    sealed: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ProviderToken(Record):
    """When a provider's token without a time of issue was first seen.

    It was issued before that, so signing out everywhere afterwards ends it. ``digest`` is the
    token's SHA-256.
    """

    __tablename__ = "provider_tokens"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    identity_id: Mapped[int] = deleted_with("external_identities.id", index=True)
    first_seen_at: Mapped[datetime] = mapped_column(index=True)
