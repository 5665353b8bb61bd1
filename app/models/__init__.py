"""The records: SQLAlchemy 2 declarative, one file a noun; services and adapters alone use them.

Nothing loads lazily (``lazy="raise"``): a use case names what it reads.
"""

from app.models.addresses import AddressRecord
from app.models.app_words import AppWordRecord, WebhookWordRecord
from app.models.apps import (
    AppExtensionRecord,
    AppInstallationRecord,
    AppPermissionRecord,
    AppRecord,
    AppTokenRecord,
)
from app.models.audit import AuditRecord
from app.models.commerce import (
    CheckoutLineRecord,
    CheckoutRecord,
    OrderLineRecord,
    OrderRecord,
    ProductRecord,
)
from app.models.deliveries import DeliveryAttemptRecord, DeliveryRecord
from app.models.form_submissions import FormAnswerRecord, FormSubmissionRecord
from app.models.groups import (
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    UserPermissionRecord,
)
from app.models.imports import ImportedPasswordRecord, ImportedRowRecord, ImportRecord
from app.models.keys import SigningKeyRecord
from app.models.links import AccountLinkRecord, ResetRequestRecord
from app.models.mail_templates import MailTemplateRecord
from app.models.outbox import OutboxEventRecord, OutboxMailRecord
from app.models.record import Record
from app.models.saved_filters import SavedFilterRecord
from app.models.second_factors import (
    AuthenticatorAppRecord,
    KnownDeviceRecord,
    PasskeyRecord,
    RecoveryCodeRecord,
    SecondFactorChallengeRecord,
)
from app.models.sessions import SessionRecord
from app.models.shop import LogoRecord, ShopRecord
from app.models.sign_in_events import SignInEventRecord
from app.models.single_sign_on import (
    ExternalIdentityRecord,
    IdentityProviderRecord,
    OidcStateRecord,
    ProviderTokenRecord,
)
from app.models.throttle import PasswordGuessRecord, ThrottleAddressRecord, ThrottleUserRecord
from app.models.traffic import ForwardingRecord, TrafficRecord
from app.models.user_words import UserWordRecord
from app.models.users import AvatarRecord, UserRecord
from app.models.webhooks import WebhookEventRecord, WebhookRecord
from app.models.workers import HeartbeatRecord

__all__ = [
    "AccountLinkRecord",
    "AddressRecord",
    "AppExtensionRecord",
    "AppInstallationRecord",
    "AppPermissionRecord",
    "AppRecord",
    "AppTokenRecord",
    "AppWordRecord",
    "AuditRecord",
    "AuthenticatorAppRecord",
    "AvatarRecord",
    "CheckoutLineRecord",
    "CheckoutRecord",
    "DeliveryAttemptRecord",
    "DeliveryRecord",
    "ExternalIdentityRecord",
    "FormAnswerRecord",
    "FormSubmissionRecord",
    "ForwardingRecord",
    "GroupMemberRecord",
    "GroupPermissionRecord",
    "GroupRecord",
    "HeartbeatRecord",
    "IdentityProviderRecord",
    "ImportRecord",
    "ImportedPasswordRecord",
    "ImportedRowRecord",
    "KnownDeviceRecord",
    "LogoRecord",
    "MailTemplateRecord",
    "OidcStateRecord",
    "OrderLineRecord",
    "OrderRecord",
    "OutboxEventRecord",
    "OutboxMailRecord",
    "PasskeyRecord",
    "PasswordGuessRecord",
    "ProductRecord",
    "ProviderTokenRecord",
    "Record",
    "RecoveryCodeRecord",
    "ResetRequestRecord",
    "SavedFilterRecord",
    "SecondFactorChallengeRecord",
    "SessionRecord",
    "ShopRecord",
    "SignInEventRecord",
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
]
