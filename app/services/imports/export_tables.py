"""Tables, rows and columns of an export: their lines and fields, and which of them are secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import inspect

from app import models
from app.domain.imports.exports import Section
from app.domain.keys import PROVIDER_SECRET, WEBHOOK_SECRET
from app.models.record import NOT_EXPORTED
from app.services.authorization.register import building_block

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
    """The rows of ``record`` as lines of the type ``name``.

    ``encrypted`` secrets, by their purpose, ``hashed`` ones, and ``private`` columns, in which
    apps keep credentials, are only in exports with secrets; ``is_secret`` tables altogether.
    ``order`` is unique, and its first column is indexed; what ``unique`` names can't be the same
    in two rows unless it is empty.
    """

    name: str
    title: str
    section: Section
    record: type[models.Record]
    encrypted: Mapping[str, str] = field(default_factory=dict)
    hashed: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    headers: str = ""
    lists: tuple[ListOf, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    is_secret: bool = False
    order: tuple[str, ...] = ("id",)
    batch: int = 500

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the record's columns but those that its model marks ``not_exported``."""
        return _exported_columns(self.record)

    @property
    def has_ids(self) -> bool:
        """Whether rows have IDs that the database gives, which an import keeps."""
        return "id" in self.fields and self.record is not models.Shop

    @property
    def names(self) -> dict[str, str]:
        """The columns by the fields' names: every line has a field ``type`` already."""
        return {_RENAMED.get(name, name): name for name in self.fields}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The fields that an export without secrets leaves out."""
        return (*self.encrypted, *self.hashed, *self.private)


@cache
def _exported_columns(record: type[models.Record]) -> tuple[str, ...]:
    columns = inspect(record).column_attrs
    return tuple(one.key for one in columns if NOT_EXPORTED not in one.columns[0].info)


TABLES = (
    ExportedTable("settings", "Settings", Section.SETTINGS, models.Shop),
    ExportedTable("logo", "Logo", Section.SETTINGS, models.Logo, order=("name",)),
    ExportedTable(
        "mail_template",
        "Email templates",
        Section.SETTINGS,
        models.MailTemplate,
        unique=(("kind", "language_code", "version"),),
        batch=20,
    ),
    ExportedTable(
        "provider",
        "Identity providers",
        Section.SSO,
        models.IdentityProvider,
        unique=(("slug",),),
        encrypted={"client_secret": PROVIDER_SECRET},
    ),
    ExportedTable(
        "user",
        "People",
        Section.PEOPLE,
        models.User,
        unique=(("email",), ("external_reference",)),
        hashed=("password_hash",),
    ),
    ExportedTable(
        "avatar",
        "Avatars",
        Section.PEOPLE,
        models.Avatar,
        order=("user_id", "size", "name"),
        batch=20,
    ),
    ExportedTable("address", "Addresses", Section.PEOPLE, models.Address),
    ExportedTable(
        "identity",
        "Linked accounts",
        Section.PEOPLE,
        models.ExternalIdentity,
        unique=(("issuer", "subject"),),
    ),
    ExportedTable(
        "group",
        "Groups",
        Section.STAFF,
        models.Group,
        unique=(("name",),),
        lists=(
            ListOf(
                "permissions", models.GroupPermission.group_id, models.GroupPermission.permission
            ),
        ),
    ),
    ExportedTable(
        "group_member",
        "Group members",
        Section.STAFF,
        models.GroupMember,
        order=("user_id", "group_id"),
    ),
    ExportedTable(
        "user_permission",
        "Direct permissions",
        Section.STAFF,
        models.UserPermission,
        order=("user_id", "permission"),
    ),
    ExportedTable(
        "app",
        "Apps",
        Section.APPS,
        models.App,
        unique=(("identifier",),),
        private=("private_metadata",),
        lists=(
            ListOf("permissions", models.AppPermission.app_id, models.AppPermission.permission),
        ),
    ),
    ExportedTable(
        "app_token",
        "App tokens",
        Section.APPS,
        models.AppToken,
        unique=(("digest",),),
        is_secret=True,
    ),
    ExportedTable("app_extension", "App extensions", Section.APPS, models.AppExtension),
    ExportedTable(
        "webhook",
        "Webhooks",
        Section.WEBHOOKS,
        models.Webhook,
        encrypted={"secret": WEBHOOK_SECRET},
        headers="custom_headers",
        lists=(ListOf("events", models.WebhookEvent.webhook_id, models.WebhookEvent.event),),
    ),
)
"""In the order of the file: a line never refers to a later one."""


@building_block
def tables_of(sections: frozenset[Section]) -> tuple[ExportedTable, ...]:
    """Return the tables of ``sections``, in the order of the file."""
    return tuple(table for table in TABLES if table.section in sections)
