"""The records: SQLAlchemy 2 declarative. Only services and adapters use them.

They are named with the package: ``models.User`` is the record, ``User`` the domain's value.
Nothing loads lazily (``lazy="raise"``): a use case names what it reads.
"""

from app.models.apps import (
    App,
    AppClient,
    AppExtension,
    AppInstallation,
    AppLogo,
    AppPermission,
    AppProblem,
    AppToken,
)
from app.models.commerce import (
    CHECKOUT_CHANNEL,
    FIRST_CHANNEL,
    NO_PRICE,
    ORDER_CHANNEL,
    Channel,
    Checkout,
    CheckoutLine,
    Order,
    OrderLine,
    Product,
)
from app.models.imports import WAITING, Import, ImportedPassword, ImportedRow
from app.models.logs import (
    AppPermissionUse,
    AppRequest,
    AuditEntry,
    Forwarding,
    SignInEvent,
    Traffic,
)
from app.models.oauth import (
    IS_FIRST_PARTY,
    OAuthAssertion,
    OAuthClient,
    OAuthClientLogo,
    OAuthClientSecret,
    OAuthClientSession,
    OAuthCode,
    OAuthConsent,
    OAuthDeviceCode,
    OAuthRefreshToken,
    OAuthUse,
)
from app.models.record import Record
from app.models.search_words import AppWord, UserWord, WebhookWord
from app.models.shop import SHOP_ID, Logo, MailTemplate, Shop, SigningKey
from app.models.sign_in import (
    WITHOUT_REFRESH,
    AccountLink,
    AuthenticatorApp,
    EmailCode,
    ExternalIdentity,
    IdentityProvider,
    KnownDevice,
    OidcState,
    Passkey,
    PasswordGuess,
    ProviderToken,
    RecoveryCode,
    ResetRequest,
    SecondFactorChallenge,
    Session,
    ThrottleAddress,
    ThrottleUser,
)
from app.models.users import (
    Address,
    Avatar,
    FormAnswer,
    FormSubmission,
    Group,
    GroupChannel,
    GroupMember,
    GroupPermission,
    SavedFilter,
    User,
    UserPermission,
)
from app.models.webhooks import (
    Delivery,
    DeliveryAttempt,
    Heartbeat,
    InstallationMark,
    OutboxEvent,
    OutboxMail,
    Webhook,
    WebhookEvent,
)
