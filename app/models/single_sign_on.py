"""Single sign-on: providers, their identities, pending sign-ins, and tokens seen before."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record


class IdentityProviderRecord(Record):
    """An identity provider, its settings under the names that clients know.

    ``slug`` is the word before ``.authentication.openidconnect`` of its plugin id; the default
    provider's is ``default``. ``client_secret`` is sealed. ``issuer`` may be empty: it is checked
    where it is known. ``scope_prefix`` is what its scopes begin with, empty for the
    installation's. ``second_factor_amr`` and ``second_factor_acr`` are the values of the claims
    ``amr`` and ``acr``, separated by spaces, that say that someone signed in with a second factor.
    ``subject_claim`` is the claim of access tokens that is the subject.
    ``accepted_clients`` are the client IDs, separated by spaces, whose access tokens are accepted.
    ``groups_claim`` names the claim that holds a person's groups at the provider, and
    ``group_mapping`` is the permission group of each of its values, as JSON; empty for none.
    ``serves_staff_of_any_client``: access tokens have staff rights although neither an audience
    nor clients are set, as before that setting existed.
    ``waiting_changes`` are the settings that wait for confirmation, as JSON; empty if none does.
    ``trust_version`` counts changes of what the provider can assert. Tokens issued until
    ``tokens_valid_after`` (Unix seconds) are refused.
    """

    __tablename__ = "identity_providers"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(256))
    active: Mapped[bool] = mapped_column(default=False, server_default=false())
    issuer: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    client_id: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    client_secret: Mapped[str] = mapped_column(Text, default="", server_default="")
    enable_refresh_token: Mapped[bool] = mapped_column(default=True, server_default=true())
    oauth_authorization_url: Mapped[str] = mapped_column(
        String(2048), default="", server_default=""
    )
    oauth_token_url: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    json_web_key_set_url: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    oauth_logout_url: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    user_info_url: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    audience: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    use_oauth_scope_permissions: Mapped[bool] = mapped_column(
        default=False, server_default=false()
    )
    staff_user_domains: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    default_group_name_for_new_staff_users: Mapped[str] = mapped_column(
        String(150), default="", server_default=""
    )
    trust_emails: Mapped[bool] = mapped_column(default=False, server_default=false())
    scope_prefix: Mapped[str] = mapped_column(String(64), default="", server_default="")
    second_factor_amr: Mapped[str] = mapped_column(String(255), default="", server_default="")
    second_factor_acr: Mapped[str] = mapped_column(String(1024), default="", server_default="")
    subject_claim: Mapped[str] = mapped_column(String(8), default="sub", server_default="sub")
    accepted_clients: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    groups_claim: Mapped[str] = mapped_column(
        String(255), default="groups", server_default="groups"
    )
    group_mapping: Mapped[str] = mapped_column(Text, default="", server_default="")
    serves_staff_of_any_client: Mapped[bool] = mapped_column(default=False, server_default=false())
    waiting_changes: Mapped[str] = mapped_column(Text, default="", server_default="")
    trust_version: Mapped[int] = mapped_column(default=0, server_default="0")
    tokens_valid_after: Mapped[float] = mapped_column(default=0.0, server_default="0")


class ExternalIdentityRecord(Record):
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
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str] = mapped_column(String(1024))
    subject: Mapped[str] = mapped_column(String(255))
    is_verified: Mapped[bool]
    created_at: Mapped[datetime]
    tokens_valid_after: Mapped[datetime | None]
    waiting_mark: Mapped[str] = mapped_column(String(64), default="", server_default="")
    by_owner: Mapped[bool] = mapped_column(default=False, server_default=false())


class OidcStateRecord(Record):
    """A pending sign-in: the SHA-256 of its ``state``, and its secrets.

    ``sealed`` holds the nonce and the PKCE verifier, encrypted. The row works once.
    """

    __tablename__ = "oidc_states"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    provider_id: Mapped[int] = mapped_column(
        ForeignKey("identity_providers.id", ondelete="CASCADE"), index=True
    )
    redirect_uri: Mapped[str] = mapped_column(String(2048))
    sealed: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ProviderTokenRecord(Record):
    """When a provider's token without a time of issue was first seen.

    It was issued before that, so signing out everywhere afterwards ends it. ``digest`` is the
    token's SHA-256.
    """

    __tablename__ = "provider_tokens"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    identity_id: Mapped[int] = mapped_column(
        ForeignKey("external_identities.id", ondelete="CASCADE"), index=True
    )
    first_seen_at: Mapped[datetime] = mapped_column(index=True)
