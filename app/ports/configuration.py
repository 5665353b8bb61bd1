"""The operator's settings that use cases need."""

from dataclasses import dataclass, field

from app.domain.sign_in.rate_limits import RateLimitPolicy
from app.domain.values.installation import PLATFORM, HeaderNames
from app.domain.values.ip_addresses import Network

MIN_CONNECTIONS = 4
"""One to keep and one more, in each of a process's two pools."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings that rules depend on; times are in seconds.

    ``public_url`` is the base address of the installation, empty in development, where the
    issuer follows the request. ``sends_mail`` is false while mail is written to a file.
    ``vendor`` is the word that our header names, scopes and plugin ID begin with;
    ``platform_headers`` sends Saleor's names in addition. ``token_owner`` is the ``owner`` claim
    of tokens: existing clients refresh only those with the value they know.
    ``database_connections`` is how many a process opens to PostgreSQL at most;
    ``database_transaction_pooling`` says that a pooler in front shares them per transaction.
    ``passkey_rp_id`` is the host that passkeys are made for, by default that of the issuer;
    ``passkey_origins`` are other pages that can ask for them. ``audit_log_days`` is 0 for a log
    that is kept forever.
    """

    vendor: str = "latchkey"
    platform_headers: bool = True
    token_owner: str = PLATFORM
    public_url: str = ""
    development: bool = True
    jwt_ttl_access: int = 300
    jwt_ttl_refresh: int = 30 * 24 * 3600
    reset_password_lock_time: int = 900
    sign_in_log_days: int = 90
    mail_log_days: int = 90
    audit_log_days: int = 0
    profile_changes_days: int = 30
    allowed_client_hosts: tuple[str, ...] = ()
    single_use_refresh_tokens: bool = False
    database_connections: int = 16
    database_transaction_pooling: bool = False
    sends_mail: bool = True
    outgoing_allowed_networks: tuple[Network, ...] = ()
    passkey_rp_id: str = ""
    passkey_origins: tuple[str, ...] = ()
    rate_limits: RateLimitPolicy = field(default_factory=RateLimitPolicy)

    @property
    def header_names(self) -> HeaderNames:
        """The names of the headers of deliveries."""
        return HeaderNames(self.vendor, self.platform_headers)

    @property
    def scope_prefix(self) -> str:
        """The part of a scope before its colon."""
        return self.vendor.lower()

    @property
    def token_owners(self) -> frozenset[str]:
        """The ``owner`` claims of Latchkey's tokens: the current one, and the former ones."""
        own = self.token_owner, self.vendor.lower(), PLATFORM
        return frozenset((*own, self.client_token_owner))

    @property
    def client_token_owner(self) -> str:
        """The ``owner`` of access tokens of OAuth clients.

        It is never Saleor's: a Saleor core takes tokens with its own name for its own, and asks
        its OpenID Connect plugin about others alone.
        """
        return f"{self.vendor.lower()}.oauth"

    @property
    def issuer(self) -> str:
        """The ``iss`` of every token, or empty where it follows the request."""
        return f"{self.public_url}/graphql/" if self.public_url else ""
