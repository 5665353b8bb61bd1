"""The records: SQLAlchemy 2 declarative. Only services and adapters use them.

Nothing loads lazily (``lazy="raise"``): a use case names what it reads.
"""

from app.models.apps import (
    AppClientRecord,
    AppExtensionRecord,
    AppInstallationRecord,
    AppLogoRecord,
    AppPermissionRecord,
    AppProblemRecord,
    AppRecord,
    AppTokenRecord,
)
from app.models.commerce import (
    ChannelRecord,
    CheckoutLineRecord,
    CheckoutRecord,
    OrderLineRecord,
    OrderRecord,
    ProductRecord,
)
from app.models.imports import ImportedPasswordRecord, ImportedRowRecord, ImportRecord
from app.models.logs import (
    AppPermissionUseRecord,
    AppRequestRecord,
    AuditRecord,
    ForwardingRecord,
    SignInEventRecord,
    TrafficRecord,
)
from app.models.oauth import (
    OAuthAssertionRecord,
    OAuthClientLogoRecord,
    OAuthClientRecord,
    OAuthClientSecretRecord,
    OAuthClientSessionRecord,
    OAuthCodeRecord,
    OAuthConsentRecord,
    OAuthDeviceCodeRecord,
    OAuthRefreshTokenRecord,
    OAuthUseRecord,
)
from app.models.record import Record
from app.models.search_words import AppWordRecord, UserWordRecord, WebhookWordRecord
from app.models.shop import LogoRecord, MailTemplateRecord, ShopRecord, SigningKeyRecord
from app.models.sign_in import (
    AccountLinkRecord,
    AuthenticatorAppRecord,
    EmailCodeRecord,
    ExternalIdentityRecord,
    IdentityProviderRecord,
    KnownDeviceRecord,
    OidcStateRecord,
    PasskeyRecord,
    PasswordGuessRecord,
    ProviderTokenRecord,
    RecoveryCodeRecord,
    ResetRequestRecord,
    SecondFactorChallengeRecord,
    SessionRecord,
    ThrottleAddressRecord,
    ThrottleUserRecord,
)
from app.models.users import (
    AddressRecord,
    AvatarRecord,
    FormAnswerRecord,
    FormSubmissionRecord,
    GroupChannelRecord,
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    SavedFilterRecord,
    UserPermissionRecord,
    UserRecord,
)
from app.models.webhooks import (
    DeliveryAttemptRecord,
    DeliveryRecord,
    HeartbeatRecord,
    InstallationMarkRecord,
    OutboxEventRecord,
    OutboxMailRecord,
    WebhookEventRecord,
    WebhookRecord,
)
