"""People (customers and staff in one table) with pictures and addresses, and their groups.

A person holds permissions directly and by groups. There are also the forms that staff sent in
the console and customers on the hosted pages, and the saved filters of staff's lists.
"""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, String, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.accounts.users import DEFAULT_LANGUAGE, MAX_GROUP_NAME_LENGTH
from app.models import record

LOCKED_OUT = "is_active IS FALSE"
"""Whom the partial indexes hold; a query must say it in these very words."""

_ORDERS = {
    "by_age": ("id",),
    "by_email": ("email",),
    "by_first_name": ("first_name", "last_name", "id"),
    "by_last_name": ("last_name", "first_name", "id"),
    "by_joining": ("date_joined", "id"),
    "by_change": ("updated_at", "id"),
}


class User(record.HasMetadata, record.Record):
    """A person. ``email`` is stored in lower case; ``password_hash`` is empty without a password.

    ``tokens_valid_after`` is the moment of the last "sign out everywhere": provider tokens issued
    before it are refused. ``reset_requested_at`` is when the last reset link was made. ``avatar``
    names the picture, empty without one. ``note`` is for staff. ``external_reference`` is the ID
    that another system has for the person.
    """

    __tablename__ = "users"
    # Each order in which customers, or staff, are listed: a page at any depth is one short range.
    __table_args__ = (
        *(Index(f"ix_users_{name}", "is_staff", *columns) for name, columns in _ORDERS.items()),
        record.partial_index(
            "ix_users_with_password",
            "is_staff",
            "is_active",
            "id",
            where="password_hash IS NOT NULL",
        ),
        record.partial_index(
            "uq_users_external_reference",
            "external_reference",
            unique=True,
            where="external_reference IS NOT NULL",
        ),
        # The same orders of the few deactivated people, who are rarely looked for among all.
        *(
            record.partial_index(
                f"ix_users_locked_out_{name}", "is_staff", *columns, where=LOCKED_OUT
            )
            for name, columns in _ORDERS.items()
        ),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    first_name: Mapped[str] = record.text_column(256)
    last_name: Mapped[str] = record.text_column(256)
    time_zone: Mapped[str | None] = mapped_column(String(64))
    language_code: Mapped[str] = mapped_column(
        String(35), default=DEFAULT_LANGUAGE, server_default=DEFAULT_LANGUAGE
    )
    is_staff: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_superuser: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    is_confirmed: Mapped[bool] = mapped_column(default=True, server_default=true())
    date_joined: Mapped[datetime]
    updated_at: Mapped[datetime]
    last_login: Mapped[datetime | None]
    tokens_valid_after: Mapped[datetime | None]
    reset_requested_at: Mapped[datetime | None] = mapped_column(
        info={record.NOT_EXPORTED: "state of a link that isn't exported"}
    )
    avatar: Mapped[str] = record.text_column(64)
    note: Mapped[str] = record.text_column()
    external_reference: Mapped[str | None] = mapped_column(String(250))


class Avatar(record.Record):
    """One size of the avatar ``name``, which is random; deleted with its user.

    In the database rather than in a folder: every process on every machine serves it, and it
    changes in the transaction of its user.
    """

    __tablename__ = "avatars"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user_id: Mapped[int] = record.deleted_with("users.id", index=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Group(record.Record):
    __tablename__ = "permission_groups"

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_GROUP_NAME_LENGTH), unique=True)
    is_channel_restricted: Mapped[bool] = mapped_column(default=False, server_default=false())


class GroupChannel(record.Record):
    """A channel that the members of a restricted group have access to."""

    __tablename__ = "permission_group_channels"

    group_id: Mapped[int] = record.deleted_with("permission_groups.id", primary_key=True)
    channel_id: Mapped[int] = record.deleted_with("channels.id", primary_key=True, index=True)


class GroupPermission(record.Record):
    __tablename__ = "permission_group_permissions"

    group_id: Mapped[int] = record.deleted_with("permission_groups.id", primary_key=True)
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)


class GroupMember(record.Record):
    """Keyed by user first: the hot path asks for the groups of one user."""

    __tablename__ = "permission_group_members"

    user_id: Mapped[int] = record.deleted_with("users.id", primary_key=True)
    group_id: Mapped[int] = record.deleted_with(
        "permission_groups.id", primary_key=True, index=True
    )


class UserPermission(record.Record):
    __tablename__ = "user_permissions"

    user_id: Mapped[int] = record.deleted_with("users.id", primary_key=True)
    permission: Mapped[str] = mapped_column(String(64), primary_key=True)


class Address(record.HasMetadata, record.Record):
    """An address of a user; at most one is the default for each purpose.

    ``country`` is a code of ISO 3166-1. ``validation_skipped``: without the country's rules.
    """

    __tablename__ = "addresses"
    __table_args__ = (
        Index("ix_addresses_user_id_id", "user_id", "id"),
        record.partial_index(
            "uq_addresses_default_shipping",
            "user_id",
            unique=True,
            where="is_default_shipping IS TRUE",
        ),
        record.partial_index(
            "uq_addresses_default_billing",
            "user_id",
            unique=True,
            where="is_default_billing IS TRUE",
        ),
    )

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    user_id: Mapped[int] = record.deleted_with("users.id")
    first_name: Mapped[str] = record.text_column(256)
    last_name: Mapped[str] = record.text_column(256)
    company_name: Mapped[str] = record.text_column(256)
    street_address_1: Mapped[str] = record.text_column(256)
    street_address_2: Mapped[str] = record.text_column(256)
    city: Mapped[str] = record.text_column(256)
    city_area: Mapped[str] = record.text_column(128)
    postal_code: Mapped[str] = record.text_column(20)
    country: Mapped[str] = record.text_column(2)
    country_area: Mapped[str] = record.text_column(128)
    phone: Mapped[str] = record.text_column(128)
    validation_skipped: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_default_shipping: Mapped[bool] = mapped_column(default=False, server_default=false())
    is_default_billing: Mapped[bool] = mapped_column(default=False, server_default=false())


class FormSubmission(record.Record):
    """A submitted form, by the key that it carries; one submission of a key creates something.

    ``location`` is the page of what was created, empty while it is being created; until then
    ``expires_at`` is when the form can be sent again.
    ``encrypted_secret`` is shown on that page once, to this session, and then removed.
    """

    __tablename__ = "form_submissions"

    key: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[int] = record.deleted_with("sessions.id", index=True)
    location: Mapped[str] = record.text_column(1024)
    encrypted_secret: Mapped[str] = record.text_column()
    expires_at: Mapped[datetime] = mapped_column(index=True)


class FormAnswer(record.Record):
    """The answer to a form, for the same form sent again at once; encrypted, for up to a minute.

    ``key`` is a digest of what was sent and by which browser. ``encrypted_answer`` is empty while
    the form is being answered. ``is_repeated``: what comes later gets it, too.
    """

    __tablename__ = "form_answers"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    encrypted_answer: Mapped[str] = record.text_column()
    is_repeated: Mapped[bool] = mapped_column(default=False, server_default=false())
    expires_at: Mapped[datetime] = mapped_column(index=True)


class SavedFilter(record.Record):
    """A filter of a list under a name; ``query`` is the list's query string.

    It belongs to a person and is deleted with the account.
    """

    __tablename__ = "saved_filters"
    __table_args__ = (UniqueConstraint("user_id", "list_name", "name"),)

    id: Mapped[int] = mapped_column(record.BigKey, primary_key=True)
    user_id: Mapped[int] = record.deleted_with("users.id")
    list_name: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(64))
    query: Mapped[str] = mapped_column(String(2048))
