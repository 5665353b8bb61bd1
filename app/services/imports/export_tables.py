"""Tables, rows and columns of an export: their lines and fields, and which of them are secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.imports.exports import Section
from app.domain.keys import PROVIDER_SECRET, WEBHOOK_SECRET
from app.models import (
    AddressRecord,
    AppExtensionRecord,
    AppPermissionRecord,
    AppRecord,
    AppTokenRecord,
    AvatarRecord,
    ExternalIdentityRecord,
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    IdentityProviderRecord,
    LogoRecord,
    MailTemplateRecord,
    Record,
    ShopRecord,
    UserPermissionRecord,
    UserRecord,
    WebhookEventRecord,
    WebhookRecord,
)
from app.services.authorization.register import part

Attribute = Any
"""A mapped attribute; as a field of a class, type checkers would read its value."""

_RENAMED = {"type": "app_type"}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list in the line of its owner: one column of a table that has the owner's key."""

    name: str
    owner: Attribute
    value: Attribute


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """The rows of ``record`` as lines of the type ``name``; ``fields`` are attributes, in order.

    ``encrypted`` secrets, by their purpose, ``hashed`` ones, and ``private`` columns, in which
    apps keep credentials, are only in exports with secrets; ``is_secret`` tables altogether.
    ``order`` is unique, and its first column is indexed; what ``unique`` names can't be the same
    in two rows unless it is empty. ``not_exported`` says why a column isn't in the file.
    """

    name: str
    title: str
    section: Section
    record: type[Record]
    fields: tuple[str, ...]
    encrypted: Mapping[str, str] = field(default_factory=dict)
    hashed: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    headers: str = ""
    lists: tuple[ListOf, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    is_secret: bool = False
    order: tuple[str, ...] = ("id",)
    batch: int = 500
    not_exported: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_ids(self) -> bool:
        """Whether rows have IDs that the database gives, which an import keeps."""
        return "id" in self.fields and self.record is not ShopRecord

    @property
    def names(self) -> dict[str, str]:
        """The columns by the fields' names: every line has a field ``type`` already."""
        return {_RENAMED.get(name, name): name for name in self.fields}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The fields that an export without secrets leaves out."""
        return (*self.encrypted, *self.hashed, *self.private)


_METADATA = ("public_metadata", "private_metadata")

TABLES = (
    ExportedTable(
        "settings",
        "Settings",
        Section.SETTINGS,
        ShopRecord,
        (
            "id",
            "name",
            "description",
            "default_mail_sender_name",
            "default_mail_sender_address",
            "mail_reply_to",
            "accent_color",
            "mail_footer",
            "mail_legal_line",
            "default_language",
            "logo",
            "password_reset_sender",
            "account_confirmation_sender",
            "email_change_request_sender",
            "customer_invitation_sender",
            "staff_invitation_sender",
            "customer_set_password_url",
            "enable_account_confirmation_by_email",
            "allow_login_without_confirmation",
            "password_login_mode",
            "allow_storefront_traffic",
            "storefront_note",
            "storefront_opens_at",
            "staff_second_factor",
            "second_factor_grace_days",
            "second_factor_from",
        ),
        not_exported=dict.fromkeys(
            (
                "storefront_closed_at",
                "storefront_rejections",
                "setup_dismissed",
                "keys_version",
                "providers_version",
                "served_at",
            ),
            "state of the installation",
        ),
    ),
    ExportedTable(
        "logo",
        "Logo",
        Section.SETTINGS,
        LogoRecord,
        ("name", "width", "height", "data"),
        order=("name",),
    ),
    ExportedTable(
        "mail_template",
        "Email templates",
        Section.SETTINGS,
        MailTemplateRecord,
        (
            "id",
            "kind",
            "language_code",
            "version",
            "is_current",
            "subject",
            "html",
            "text",
            "saved_at",
            "saved_by",
        ),
        unique=(("kind", "language_code", "version"),),
        batch=20,
        not_exported={"fault": "state of the installation"},
    ),
    ExportedTable(
        "provider",
        "Identity providers",
        Section.SSO,
        IdentityProviderRecord,
        (
            "id",
            "slug",
            "name",
            "active",
            "issuer",
            "client_id",
            "client_secret",
            "enable_refresh_token",
            "oauth_authorization_url",
            "oauth_token_url",
            "json_web_key_set_url",
            "oauth_logout_url",
            "user_info_url",
            "audience",
            "use_oauth_scope_permissions",
            "staff_user_domains",
            "default_group_name_for_new_staff_users",
            "trust_emails",
            "scope_prefix",
            "second_factor_amr",
            "second_factor_acr",
            "subject_claim",
            "accepted_clients",
            "serves_staff_of_any_client",
            "waiting_changes",
            "trust_version",
            "tokens_valid_after",
        ),
        unique=(("slug",),),
        encrypted={"client_secret": PROVIDER_SECRET},
    ),
    ExportedTable(
        "user",
        "People",
        Section.PEOPLE,
        UserRecord,
        (
            "id",
            "email",
            "password_hash",
            "first_name",
            "last_name",
            "time_zone",
            "language_code",
            "is_staff",
            "is_superuser",
            "is_active",
            "is_confirmed",
            "date_joined",
            "updated_at",
            "last_login",
            "tokens_valid_after",
            "avatar",
            "note",
            "external_reference",
            *_METADATA,
        ),
        unique=(("email",), ("external_reference",)),
        hashed=("password_hash",),
        not_exported={"reset_requested_at": "state of a link that isn't exported"},
    ),
    ExportedTable(
        "avatar",
        "Avatars",
        Section.PEOPLE,
        AvatarRecord,
        ("name", "size", "user_id", "data"),
        order=("user_id", "size", "name"),
        batch=20,
    ),
    ExportedTable(
        "address",
        "Addresses",
        Section.PEOPLE,
        AddressRecord,
        (
            "id",
            "user_id",
            "first_name",
            "last_name",
            "company_name",
            "street_address_1",
            "street_address_2",
            "city",
            "city_area",
            "postal_code",
            "country",
            "country_area",
            "phone",
            "validation_skipped",
            "is_default_shipping",
            "is_default_billing",
            *_METADATA,
        ),
    ),
    ExportedTable(
        "identity",
        "Linked accounts",
        Section.PEOPLE,
        ExternalIdentityRecord,
        (
            "id",
            "user_id",
            "issuer",
            "subject",
            "is_verified",
            "created_at",
            "tokens_valid_after",
            "waiting_mark",
        ),
        unique=(("issuer", "subject"),),
    ),
    ExportedTable(
        "group",
        "Groups",
        Section.STAFF,
        GroupRecord,
        ("id", "name"),
        unique=(("name",),),
        lists=(
            ListOf(
                "permissions", GroupPermissionRecord.group_id, GroupPermissionRecord.permission
            ),
        ),
    ),
    ExportedTable(
        "group_member",
        "Group members",
        Section.STAFF,
        GroupMemberRecord,
        ("user_id", "group_id"),
        order=("user_id", "group_id"),
    ),
    ExportedTable(
        "user_permission",
        "Direct permissions",
        Section.STAFF,
        UserPermissionRecord,
        ("user_id", "permission"),
        order=("user_id", "permission"),
    ),
    ExportedTable(
        "app",
        "Apps",
        Section.APPS,
        AppRecord,
        (
            "id",
            "name",
            "identifier",
            "type",
            "is_active",
            "is_installed",
            "created_at",
            "about",
            "author",
            "version",
            "audience",
            "app_url",
            "data_privacy_url",
            "homepage_url",
            "manifest_url",
            "support_url",
            *_METADATA,
        ),
        unique=(("identifier",),),
        private=("private_metadata",),
        lists=(ListOf("permissions", AppPermissionRecord.app_id, AppPermissionRecord.permission),),
    ),
    ExportedTable(
        "app_token",
        "App tokens",
        Section.APPS,
        AppTokenRecord,
        (
            "id",
            "app_id",
            "name",
            "digest",
            "last_four",
            "permissions",
            "created_at",
            "expires_at",
            "replaced_at",
            "imported_hash",
        ),
        unique=(("digest",),),
        is_secret=True,
        not_exported=dict.fromkeys(
            ("last_used_at", "last_used_address"), "changes with every use"
        ),
    ),
    ExportedTable(
        "app_extension",
        "App extensions",
        Section.APPS,
        AppExtensionRecord,
        (
            "id",
            "app_id",
            "label",
            "url",
            "mount",
            "target",
            "identifier",
            "permissions",
            "settings",
        ),
    ),
    ExportedTable(
        "webhook",
        "Webhooks",
        Section.WEBHOOKS,
        WebhookRecord,
        (
            "id",
            "app_id",
            "name",
            "identifier",
            "target_url",
            "is_active",
            "query",
            "secret",
            "custom_headers",
            "created_at",
            "disabled_reason",
            "disabled_at",
            "saved_by_kind",
            "saved_by",
            "saved_permissions",
        ),
        encrypted={"secret": WEBHOOK_SECRET},
        headers="custom_headers",
        lists=(ListOf("events", WebhookEventRecord.webhook_id, WebhookEventRecord.event),),
        not_exported=dict.fromkeys(
            (
                "old_secret",
                "old_secret_until",
                "failing_since",
                "last_failure_at",
                "last_failure",
            ),
            "state of deliveries here",
        ),
    ),
)
"""In the order of the file: a line never refers to a later one."""


@part
def tables_of(sections: frozenset[Section]) -> tuple[ExportedTable, ...]:
    """Return the tables of ``sections``, in the order of the file."""
    return tuple(table for table in TABLES if table.section in sections)
