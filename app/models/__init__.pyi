from . import whole
from .app_words import AppWordRecord, WebhookWordRecord
from .apps import AppPermissionRecord, AppRecord, AppTokenRecord
from .audit import AuditRecord
from .avatars import AvatarRecord
from .checkouts import CheckoutLineRecord, CheckoutRecord
from .deliveries import DeliveryAttemptRecord, DeliveryRecord
from .extensions import AppExtensionRecord
from .groups import (
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    UserPermissionRecord,
)
from .installations import AppInstallationRecord
from .keys import SigningKeyRecord
from .links import AccountLinkRecord, ResetRequestRecord
from .orders import OrderLineRecord, OrderRecord
from .outbox import OutboxEventRecord, OutboxMailRecord
from .products import ProductRecord
from .record import Record
from .sessions import SessionRecord
from .shop import ShopRecord
from .single_sign_on import (
    ExternalIdentityRecord,
    IdentityProviderRecord,
    OidcStateRecord,
    ProviderTokenRecord,
)
from .throttle import PasswordGuessRecord, ThrottleAddressRecord, ThrottleUserRecord
from .traffic import ForwardingRecord, TrafficRecord
from .user_words import UserWordRecord
from .users import UserRecord
from .webhooks import WebhookEventRecord, WebhookRecord
from .workers import HeartbeatRecord

__all__ = [
    "AccountLinkRecord",
    "AppExtensionRecord",
    "AppInstallationRecord",
    "AppPermissionRecord",
    "AppRecord",
    "AppTokenRecord",
    "AppWordRecord",
    "AuditRecord",
    "AvatarRecord",
    "CheckoutLineRecord",
    "CheckoutRecord",
    "DeliveryAttemptRecord",
    "DeliveryRecord",
    "ExternalIdentityRecord",
    "ForwardingRecord",
    "GroupMemberRecord",
    "GroupPermissionRecord",
    "GroupRecord",
    "HeartbeatRecord",
    "IdentityProviderRecord",
    "OidcStateRecord",
    "OrderLineRecord",
    "OrderRecord",
    "OutboxEventRecord",
    "OutboxMailRecord",
    "PasswordGuessRecord",
    "ProductRecord",
    "ProviderTokenRecord",
    "Record",
    "ResetRequestRecord",
    "SessionRecord",
    "ShopRecord",
    "SigningKeyRecord",
    "ThrottleAddressRecord",
    "ThrottleUserRecord",
    "TrafficRecord",
    "UserPermissionRecord",
    "UserRecord",
    "UserWordRecord",
    "WebhookEventRecord",
    "WebhookRecord",
    "WebhookWordRecord",
    "whole",
]
