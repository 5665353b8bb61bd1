"""People and their avatars, sessions and second factors."""

from dataclasses import dataclass
from typing import Any

import graphene

from app.domain import second_factors
from app.domain.accounts import users as domain
from app.domain.accounts.addresses import Address
from app.domain.accounts.users import avatar_path
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission, PermissionGroup, in_order
from app.domain.commerce.channels import Channel
from app.domain.commerce.sales import Checkout, OrderSummary
from app.domain.sign_in.devices import SignedIn
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page
from app.domain.values.unchanging import unchanging
from app.graphql.compatibility import constant
from app.graphql.connections import Node, connection_arguments, order_where, page_request
from app.graphql.context import Info
from app.graphql.fields import ObjectType, attribute, described_enum, own_id, part, text_or_null
from app.graphql.metadata_fields import ObjectWithMetadata
from app.services.second_factors import stored_factors
from app.services.second_factors.stored_factors import ListedFactor
from app.services.sign_in.sessions import SESSION, list_sessions

_ADDRESS = "app.graphql.types.addresses.Address"


@unchanging
class _UserPermission:
    """A permission, and who holds it."""

    code: Permission
    owner: domain.User


@dataclass(frozen=True, slots=True)
class _Picture:
    """A user's picture, and what it shows in words."""

    url: str
    alt: str


class ThumbnailFormatEnum(graphene.Enum):
    """The file formats of pictures that clients can ask for. Pictures are always WebP."""

    ORIGINAL = "original"
    AVIF = "avif"
    WEBP = "webp"


class Image(graphene.ObjectType):
    """An image and its URL."""

    url = graphene.NonNull(graphene.String)
    alt = graphene.String()


class UserPermission(graphene.ObjectType):
    """A permission a user has."""

    code = graphene.NonNull("app.graphql.types.permissions.PermissionEnum")
    name = graphene.NonNull(graphene.String, resolver=part("code.label"))
    source_permission_groups = graphene.List(
        graphene.NonNull("app.graphql.types.groups.Group"),
        user_id=graphene.NonNull(graphene.ID),
        description="The groups that grant the permission; `userId` is the user who has it.",
    )

    def resolve_source_permission_groups(
        self: _UserPermission, _info: Info, user_id: str
    ) -> tuple[domain.Group, ...]:
        if user_id != to_global_id("User", self.owner.id):
            message = "This permission belongs to another user. Pass the ID of the parent user."
            raise Refused(Problem("INVALID", message, "userId"))
        return tuple(group for group in self.owner.groups if self.code in group.permissions)


class User(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """A user: a customer or a staff member."""

    id = graphene.NonNull(graphene.ID)
    email = graphene.NonNull(graphene.String)
    first_name = graphene.NonNull(graphene.String)
    last_name = graphene.NonNull(graphene.String)
    is_staff = graphene.NonNull(
        graphene.Boolean, description="Whether the current or new session has staff permissions."
    )
    is_active = graphene.NonNull(graphene.Boolean)
    is_confirmed = graphene.NonNull(graphene.Boolean)
    language_code = graphene.NonNull(
        "app.graphql.types.languages.LanguageCodeEnum",
        description="The language to address the user in; EN unless chosen.",
    )
    external_reference = graphene.String(
        description="The ID that another system has for the user. Visible like the public "
        "metadata."
    )
    note = graphene.String(
        description="What staff noted about the user. Requires MANAGE_USERS, for staff "
        "MANAGE_STAFF."
    )
    user_permissions = graphene.List(
        graphene.NonNull(UserPermission), description="The user's effective permissions."
    )
    permission_groups = graphene.List(graphene.NonNull("app.graphql.types.groups.Group"))
    editable_groups = graphene.List(
        graphene.NonNull("app.graphql.types.groups.Group"),
        description="Groups the user can manage: those without permissions they lack.",
    )
    avatar = graphene.Field(
        Image,
        size=graphene.Int(),
        format=ThumbnailFormatEnum(description="Accepted but ignored: pictures are WebP."),
        description="The user's picture; `size` is its width and height in pixels.",
    )
    last_login = graphene.DateTime()
    date_joined = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    sessions = graphene.List(
        graphene.NonNull("app.graphql.types.users.Session"),
        description="The user's sessions; null for other users.",
    )
    second_factors = graphene.List(
        graphene.NonNull("app.graphql.types.users.SecondFactor"),
        description="The user's second factors. Those of other users require MANAGE_USERS, those "
        "of staff MANAGE_STAFF.",
    )
    addresses = graphene.NonNull(
        graphene.List(graphene.NonNull(_ADDRESS)),
        description="The oldest first. For the person themselves; other people's need "
        "MANAGE_USERS or MANAGE_ORDERS, those of staff MANAGE_STAFF. So do the defaults.",
    )
    default_shipping_address = graphene.Field(
        _ADDRESS, description="Where goods go unless they say otherwise."
    )
    default_billing_address = graphene.Field(
        _ADDRESS, description="Where invoices go unless they say otherwise."
    )
    accessible_channels = graphene.List(
        graphene.NonNull("app.graphql.types.shop.Channel"),
        description="The channels of all their groups; all channels if one of these isn't "
        "restricted, or if they hold permissions without a group. None for customers.",
    )
    restricted_access_to_channels = graphene.NonNull(
        graphene.Boolean,
        description="Whether their permissions hold in `accessibleChannels` alone.",
    )
    orders = graphene.Field(
        "app.graphql.types.orders.OrderCountableConnection",
        where=graphene.Argument(
            "app.graphql.types.orders.CustomerOrderWhereInput",
            description="Return only orders that match.",
        ),
        **connection_arguments(),
        description="Newest first. Orders of other users require MANAGE_ORDERS.",
    )
    gift_cards = constant(
        "User.giftCards",
        "app.graphql.unavailable.GiftCardCountableConnection",
        **connection_arguments(),
    )
    checkouts = graphene.Field(
        "app.graphql.types.orders.CheckoutCountableConnection",
        **connection_arguments(),
        description="Open checkouts. Checkouts of other users require MANAGE_CHECKOUTS.",
    )

    def resolve_id(self: domain.User, _info: Info) -> str:
        return to_global_id("User", self.id) if self.id != domain.NO_KEY else ""

    def resolve_external_reference(self: domain.User, info: Info) -> str | None:
        return info.context.loaders(info).accounts.external_reference(self)

    def resolve_note(self: domain.User, info: Info) -> str | None:
        return info.context.loaders(info).accounts.note(self)

    def resolve_user_permissions(self: domain.User, _info: Info) -> list[_UserPermission]:
        return [_UserPermission(permission, self) for permission in in_order(self.permissions)]

    def resolve_permission_groups(self: domain.User, info: Info) -> tuple[domain.Group, ...]:
        info.context.loaders(info).groups.add_groups_of(info, self)
        return self.groups

    def resolve_editable_groups(self: domain.User, info: Info) -> tuple[PermissionGroup, ...]:
        if Permission.MANAGE_STAFF not in self.permissions:
            return ()
        groups = info.context.loaders(info).groups.editable_by(self)
        info.context.loaders(info).groups.add_groups(info, (group.id for group in groups))
        return groups

    def resolve_sessions(self: domain.User, info: Info) -> tuple[SignedIn, ...] | None:
        if info.context.actor.user_id != info.context.existing_key("User", self.id):
            return None
        return list_sessions(*info.context.caller)

    def resolve_second_factors(self: domain.User, info: Info) -> tuple[ListedFactor, ...] | None:
        if not info.context.existing_key("User", self.id):
            return None
        return info.context.loaders(info).accounts.second_factors(self)

    def resolve_addresses(self: domain.User, info: Info) -> tuple[Address, ...]:
        return _addresses(self, info)

    def resolve_default_shipping_address(self: domain.User, info: Info) -> Address | None:
        defaults = (one for one in _addresses(self, info) if one.is_default_shipping_address)
        return next(defaults, None)

    def resolve_default_billing_address(self: domain.User, info: Info) -> Address | None:
        defaults = (one for one in _addresses(self, info) if one.is_default_billing_address)
        return next(defaults, None)

    def resolve_accessible_channels(self: domain.User, info: Info) -> tuple[Channel, ...]:
        return info.context.loaders(info).channels.of_keys(self.channel_ids)

    def resolve_restricted_access_to_channels(self: domain.User, _info: Info) -> bool:
        return self.channel_ids is not None

    def resolve_orders(self: domain.User, info: Info, **arguments: Any) -> Page[OrderSummary]:
        page = page_request("orders", arguments)
        key = info.context.existing_key("User", self.id)
        sent = arguments.get("where")
        where = None if sent is None else order_where(sent)
        return info.context.loaders(info).orders.orders(info, key, page, where)

    def resolve_checkouts(self: domain.User, info: Info, **arguments: Any) -> Page[Checkout]:
        page = page_request("checkouts", arguments)
        key = info.context.existing_key("User", self.id)
        return info.context.loaders(info).orders.checkouts(info, key, page)

    def resolve_avatar(
        self: domain.User, info: Info, size: int | None = None, format: object = None
    ) -> _Picture | None:
        if not self.avatar:
            return None
        # The issuer is this shop's URL as the caller reached it.
        base_url = info.context.visitor.issuer.removesuffix("/graphql/")
        alt = f"{self.first_name} {self.last_name}".strip()
        return _Picture(f"{base_url}{avatar_path(self.avatar, size)}", alt)


def _addresses(user: domain.User, info: Info) -> tuple[Address, ...]:
    if not info.context.existing_key("User", user.id):
        return ()
    return info.context.loaders(info).accounts.addresses(user)


SecondFactorTypeEnum = described_enum(
    second_factors.SecondFactorType,
    "SecondFactorTypeEnum",
    "What an account can have besides its password.",
    {
        "PASSKEY": "A passkey (WebAuthn), answered with `passkeyVerify`.",
        "AUTHENTICATOR_APP": "One-time codes of an app, answered with `secondFactorVerify`.",
        "RECOVERY_CODES": "Codes for a lost device, answered with `secondFactorVerify`.",
    },
)


class SecondFactorChallenge(graphene.ObjectType):
    """A request for a second factor. It can be answered once, with at most 5 attempts."""

    challenge = graphene.NonNull(
        graphene.String,
        description="The argument of `secondFactorVerify` and `passkeyVerify`.",
        resolver=attribute("token"),
    )
    expires_at = graphene.NonNull(
        graphene.DateTime, description="Until when it can be answered: 5 minutes."
    )
    types = graphene.NonNull(
        graphene.List(graphene.NonNull(SecondFactorTypeEnum)),
        description="The ways to answer, for this account.",
    )


class SecondFactor(graphene.ObjectType):
    """A passkey, an authenticator app, or a set of recovery codes."""

    id = graphene.NonNull(graphene.ID)
    type = graphene.NonNull(SecondFactorTypeEnum)
    name = graphene.NonNull(
        graphene.String, description="The passkey's name; empty for the other types."
    )
    created_at = graphene.NonNull(graphene.DateTime)
    last_used_at = graphene.DateTime(description="When it was last used; null if never.")

    def resolve_id(self: stored_factors.ListedFactor, _info: Info) -> str:
        return to_global_id("SecondFactor", f"{self.type.value}:{self.key}")


SessionOriginEnum = described_enum(
    SessionOrigin,
    "SessionOriginEnum",
    "How a session was started.",
    {
        "PASSWORD": "With email and password.",
        "OIDC": "With an identity provider.",
        "NONE": "Neither.",
    },
)


class Session(graphene.ObjectType):
    """A session of a signed-in user."""

    id = own_id(SESSION)
    device = graphene.NonNull(graphene.String, description="The browser or program.")
    address = text_or_null("address", description="The IP address the session was started from.")
    created_at = graphene.NonNull(graphene.DateTime)
    last_used_at = graphene.DateTime(description="Accurate to one minute.")
    origin = graphene.NonNull(SessionOriginEnum, description="How the session was started.")
    current = graphene.NonNull(
        graphene.Boolean,
        description="Whether this is the caller's current session.",
        resolver=attribute("is_current"),
    )
