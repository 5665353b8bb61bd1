"""Apps: their permissions, tokens (hashed), extensions, and installations under way."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.models import record

_CHANGES = {record.NOT_EXPORTED: "changes with every use"}


class App(record.HasMetadata, record.Record):
    """An app. While its installation runs, ``is_installed`` is false and its tokens work already.

    Everything from ``about`` to ``logo`` is what its manifest said; ``audience`` goes into the
    tokens of its extensions. ``contact_email`` is where alerts about its webhooks are sent.
    With ``client_credentials_only`` its long-lived tokens are refused.
    """

    __tablename__ = "apps"
    __table_args__ = (
        record.partial_index(
            "uq_apps_identifier", "identifier", unique=True, where="identifier <> ''"
        ),
        Index("ix_apps_name_id", "name", "id"),
        Index("ix_apps_created_at_id", "created_at", "id"),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(256))
    identifier: Mapped[str] = record.text_column(256)
    type: Mapped[str] = mapped_column(String(16), default="LOCAL", server_default="LOCAL")
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    is_installed: Mapped[bool] = mapped_column(default=True, server_default=true())
    created_at: Mapped[datetime]
    about: Mapped[str] = record.text_column()
    author: Mapped[str] = record.text_column(256)
    version: Mapped[str] = record.text_column(256)
    audience: Mapped[str] = record.text_column(256)
    app_url: Mapped[str] = record.text_column(2048)
    data_privacy_url: Mapped[str] = record.text_column(2048)
    homepage_url: Mapped[str] = record.text_column(2048)
    manifest_url: Mapped[str] = record.text_column(2048)
    support_url: Mapped[str] = record.text_column(2048)
    configuration_url: Mapped[str] = record.text_column(2048)
    data_privacy: Mapped[str] = record.text_column()
    logo: Mapped[str] = record.text_column(64)
    contact_email: Mapped[str] = record.text_column(254)
    client_credentials_only: Mapped[bool] = mapped_column(default=False, server_default=false())


class AppPermission(record.Record):
    __tablename__ = "app_permissions"
    __table_args__ = (Index("ix_app_permissions_permission", "permission", "app_id"),)

    app_id: Mapped[int] = record.deleted_with("apps.id", primary_key=True)
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)


class AppToken(record.Record):
    """A long-lived token: its SHA-256 (the token is 220 random bits) and last four characters.

    ``permissions``, joined by commas, limit it; NULL means all of the app's. They are in this row
    because every request with the token reads it anyway.

    ``imported_hash`` is the password hash by which another installation knew the token, until its
    first use here. Up to then ``digest`` is no SHA-256 but ``imported-<id>``. ``is_by_client``:
    it lives for minutes, and an OAuth client of the app got it by client credentials.
    """

    __tablename__ = "app_tokens"
    __table_args__ = (
        record.partial_index("ix_app_tokens_ending", "expires_at", where="expires_at IS NOT NULL"),
        record.partial_index(
            "ix_app_tokens_imported", "last_four", where="imported_hash IS NOT NULL"
        ),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    app_id: Mapped[int] = record.deleted_with("apps.id", index=True)
    name: Mapped[str] = record.text_column(256)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    last_four: Mapped[str] = mapped_column(String(4))
    permissions: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    replaced_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None] = mapped_column(info=_CHANGES)
    last_used_address: Mapped[str] = record.text_column(45, info=_CHANGES)
    imported_hash: Mapped[str | None] = mapped_column(String(255))
    is_by_client: Mapped[bool] = mapped_column(default=False, server_default=false())


class AppClient(record.Record):
    """A client of an identity provider that acts as an app.

    Its tokens are the app's if they have this issuer, client and subject, which is that of the
    client's own account at the provider.
    """

    __tablename__ = "app_clients"
    __table_args__ = (
        UniqueConstraint("provider_id", "issuer", "client_id"),
        Index("ix_app_clients_subject", "subject"),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    app_id: Mapped[int] = record.deleted_with("apps.id", index=True)
    provider_id: Mapped[int] = record.deleted_with("identity_providers.id")
    issuer: Mapped[str] = mapped_column(String(1024))
    client_id: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]


class AppExtension(record.Record):
    """One entry that an app adds: where (``mount``), how (``target``), and for holders of what.

    ``permissions`` are joined by commas; ``settings`` are the dashboard's business.
    """

    __tablename__ = "app_extensions"
    __table_args__ = (
        record.partial_index(
            "uq_app_extensions_identifier",
            "app_id",
            "identifier",
            unique=True,
            where="identifier <> ''",
        ),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    app_id: Mapped[int] = record.deleted_with("apps.id", index=True)
    label: Mapped[str] = mapped_column(String(256))
    url: Mapped[str] = mapped_column(String(2048))
    mount: Mapped[str] = mapped_column(String(256), index=True)
    target: Mapped[str] = mapped_column(String(256))
    identifier: Mapped[str] = record.text_column(256)
    permissions: Mapped[str] = record.text_column()
    settings: Mapped[dict[str, object]]


class AppInstallation(record.Record):
    """A requested installation; deleted once the app is installed.

    ``caller`` is the requester and our URL, ``permissions`` (joined by commas) what they granted.
    ``app_id`` is the stored app, removed if the installation fails. ``next_attempt_at`` is empty
    when nothing more is tried; ``lease`` belongs to one worker.
    """

    __tablename__ = "app_installations"

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    app_name: Mapped[str] = mapped_column(String(256))
    manifest_url: Mapped[str] = mapped_column(String(2048))
    permissions: Mapped[str] = record.text_column()
    activate: Mapped[bool] = mapped_column(default=True, server_default=true())
    status: Mapped[str] = mapped_column(String(16), default="PENDING", server_default="PENDING")
    message: Mapped[str] = record.text_column(1024)
    caller: Mapped[dict[str, object]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    app_id: Mapped[int | None] = mapped_column(
        ForeignKey("apps.id", ondelete="SET NULL"), index=True
    )
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    next_attempt_at: Mapped[datetime | None] = mapped_column(index=True)
    lease: Mapped[str] = record.text_column(32)
    logo: Mapped[str] = record.text_column(64)


class AppLogo(record.Record):
    """One file of the logo ``name``, which is random: WebP by ``size``, PNG as size 0.

    It belongs to the installation while that runs or has failed, then to the app.
    """

    __tablename__ = "app_logos"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    app_id: Mapped[int | None] = record.deleted_with("apps.id", index=True)
    installation_id: Mapped[int | None] = record.deleted_with("app_installations.id", index=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class AppProblem(record.Record):
    """A problem that an app reported about itself, and how often.

    ``dismissed_by`` is the email of the person who dismissed it, "" if the app did, NULL while it
    isn't dismissed; ``dismissed_by_id`` their key while the account exists.
    """

    __tablename__ = "app_problems"
    __table_args__ = (Index("ix_app_problems_app_id_id", "app_id", "id"),)

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    app_id: Mapped[int] = record.deleted_with("apps.id")
    key: Mapped[str] = mapped_column(String(128))
    message: Mapped[str] = mapped_column(String(2048))
    count: Mapped[int] = mapped_column(default=1, server_default="1")
    is_critical: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    dismissed_by: Mapped[str | None] = mapped_column(String(254))
    dismissed_by_id: Mapped[int | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
