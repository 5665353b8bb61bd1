"""The shop's settings, which are one row, its logo, its own email templates, and signing keys."""

from datetime import datetime

from sqlalchemy import (
    JSON,
    CheckConstraint,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.accounts.users import DEFAULT_LANGUAGE
from app.domain.mails.design import DEFAULT_ACCENT
from app.domain.shop.settings import SHOP_ID
from app.models import record

__all__ = ["SHOP_ID", "Logo", "MailTemplate", "Shop"]


class Shop(record.HasMetadata, record.Record):
    """The one row of settings; ``keys_version`` increases when the signing keys change.

    ``providers_version`` increases when a provider's settings change. ``served_at`` is the last
    base URL served, without ``PUBLIC_URL``. ``storefront_closed_at`` and
    ``storefront_rejections`` belong to the present closing. ``second_factor_from`` is when staff
    without a second factor lose their rights, null while one is optional. ``logo`` is the name of
    the one row of ``Logo``, "" without one. ``company_address`` has the details of an
    address by name, none without one.

    Every request reads this row, so a changed switch or key ring takes effect with the next
    request in every process.
    """

    __tablename__ = "shop"
    __table_args__ = (CheckConstraint(f"id = {SHOP_ID}", name="one_row"),)

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(256))
    description: Mapped[str] = record.text_column()
    default_mail_sender_name: Mapped[str] = record.text_column(256)
    default_mail_sender_address: Mapped[str] = record.text_column(254)
    mail_reply_to: Mapped[str] = record.text_column(254)
    accent_color: Mapped[str] = mapped_column(
        String(7), default=DEFAULT_ACCENT, server_default=DEFAULT_ACCENT
    )
    mail_footer: Mapped[str] = record.text_column()
    mail_legal_line: Mapped[str] = record.text_column(512)
    default_language: Mapped[str] = mapped_column(
        String(35), default=DEFAULT_LANGUAGE, server_default=DEFAULT_LANGUAGE
    )
    logo: Mapped[str] = record.text_column(64)
    company_address: Mapped[dict[str, object]] = mapped_column(
        JSON, default=dict, server_default="{}"
    )
    password_reset_sender: Mapped[str] = mapped_column(String(8), server_default="OURS")
    account_confirmation_sender: Mapped[str] = mapped_column(String(8), server_default="OURS")
    email_change_request_sender: Mapped[str] = mapped_column(String(8), server_default="OURS")
    customer_invitation_sender: Mapped[str] = mapped_column(String(8), server_default="OURS")
    staff_invitation_sender: Mapped[str] = mapped_column(String(8), server_default="OURS")
    customer_set_password_url: Mapped[str] = record.text_column(1024)
    enable_account_confirmation_by_email: Mapped[bool] = mapped_column(server_default=true())
    allow_login_without_confirmation: Mapped[bool] = mapped_column(server_default=false())
    password_login_mode: Mapped[str] = mapped_column(String(16), server_default="ENABLED")
    allow_storefront_traffic: Mapped[bool] = mapped_column(server_default=true())
    storefront_note: Mapped[str] = record.text_column(256)
    storefront_opens_at: Mapped[datetime | None] = mapped_column(record.UtcDateTime)
    storefront_closed_at: Mapped[datetime | None] = mapped_column(
        record.UtcDateTime, info=record.STATE_HERE
    )
    storefront_rejections: Mapped[int] = mapped_column(
        record.BigKey, default=0, server_default="0", info=record.STATE_HERE
    )
    hosted_pages: Mapped[bool] = mapped_column(default=False, server_default=false())
    hosted_password_login: Mapped[bool] = mapped_column(default=True, server_default=true())
    hosted_passkey_login: Mapped[bool] = mapped_column(default=True, server_default=true())
    hosted_provider_login: Mapped[bool] = mapped_column(default=True, server_default=true())
    email_code_login: Mapped[bool] = mapped_column(default=False, server_default=false())
    staff_second_factor: Mapped[str] = mapped_column(String(16), server_default="OPTIONAL")
    second_factor_grace_days: Mapped[int] = mapped_column(default=14, server_default="14")
    second_factor_from: Mapped[datetime | None] = mapped_column(record.UtcDateTime)
    webhook_alerts: Mapped[bool] = mapped_column(default=True, server_default=true())
    webhook_alert_failures: Mapped[int] = mapped_column(default=3, server_default="3")
    webhook_alert_percent: Mapped[int] = mapped_column(default=50, server_default="50")
    webhook_alert_attempts: Mapped[int] = mapped_column(default=10, server_default="10")
    setup_dismissed: Mapped[bool] = mapped_column(
        default=False, server_default=false(), info=record.STATE_HERE
    )
    keys_version: Mapped[int] = mapped_column(
        default=0, server_default="0", info=record.STATE_HERE
    )
    providers_version: Mapped[int] = mapped_column(
        default=0, server_default="0", info=record.STATE_HERE
    )
    served_at: Mapped[str] = record.text_column(1024, info=record.STATE_HERE)


class Logo(record.Record):
    """The shop's logo, encoded again as a PNG; ``name`` is random."""

    __tablename__ = "shop_logos"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    width: Mapped[int]
    height: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class MailTemplate(record.Record):
    """A version of a template that replaces Latchkey's for a kind of email and a language.

    ``language_code`` is "" for all languages. At most one version is current; without one,
    Latchkey's template is used. ``fault`` is why the last email couldn't be rendered with it, ""
    if it could.
    """

    __tablename__ = "mail_templates"
    __table_args__ = (UniqueConstraint("kind", "language_code", "version"),)

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    language_code: Mapped[str] = record.text_column(35)
    version: Mapped[int]
    is_current: Mapped[bool]
    subject: Mapped[str] = mapped_column(String(500))
    html: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    saved_at: Mapped[datetime]
    saved_by: Mapped[str] = record.text_column(256)
    fault: Mapped[str] = record.text_column(512, info=record.STATE_HERE)


class SigningKey(record.Record):
    """One key of the ring: ``state`` is ``next``, ``active``, ``retired`` or ``withdrawn``.

    A withdrawn key's row stays forever, without its private part, so that it can't come back.

    The two partial indexes let the database itself refuse a second active or next key, however
    many processes rotate at once.
    """

    __tablename__ = "signing_keys"
    __table_args__ = (
        record.partial_index(
            "uq_signing_keys_one_active", "state", unique=True, where="state = 'active'"
        ),
        record.partial_index(
            "uq_signing_keys_one_next", "state", unique=True, where="state = 'next'"
        ),
    )

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    private_key: Mapped[str] = mapped_column(Text)
    modulus: Mapped[str] = mapped_column(Text)
    exponent: Mapped[str] = mapped_column(String(16))
    published_at: Mapped[datetime]
    activated_at: Mapped[datetime | None]
    retired_at: Mapped[datetime | None]
