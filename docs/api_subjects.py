"""The pages of the GraphQL reference: which operations and types each describes."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """A page; ``types`` are described there even if other pages use them too."""

    title: str
    intro: str
    operations: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


TYPES = "types"
"""The page of types that several others use."""

SUBJECTS: Mapping[str, Subject] = {
    "sign-in": Subject(
        "Sign-in, passwords and sessions",
        "Sign in and out, refresh and verify tokens, set passwords, read the sign-in log.",
        (
            "me",
            "signInEvents",
            "tokenCreate",
            "secondFactorVerify",
            "passkeyChallengeCreate",
            "passkeyVerify",
            "secondFactorChallengeCreate",
            "tokenRefresh",
            "tokenVerify",
            "tokensDeactivateAll",
            "externalAuthenticationUrl",
            "externalObtainAccessTokens",
            "externalRefresh",
            "externalVerify",
            "externalLogout",
            "requestPasswordReset",
            "setPassword",
            "passwordChange",
            "sessionEnd",
            "sessionsEndOthers",
        ),
        ("Session",),
    ),
    "accounts": Subject(
        "Accounts and customers",
        "Register, change and delete accounts, manage customers, read the mail log.",
        (
            "user",
            "customers",
            "mails",
            "accountRegister",
            "confirmAccount",
            "accountUpdate",
            "requestEmailChange",
            "confirmEmailChange",
            "accountRequestDeletion",
            "accountDelete",
            "userAvatarUpdate",
            "userAvatarDelete",
            "customerCreate",
            "customerUpdate",
            "customerDelete",
        ),
        ("User", "AccountError", "AccountErrorCode"),
    ),
    "staff": Subject(
        "Staff and permission groups",
        "Manage staff members and the groups that give them permissions.",
        (
            "staffUsers",
            "permissionGroups",
            "permissionGroup",
            "staffCreate",
            "staffUpdate",
            "staffDelete",
            "userSecondFactorReset",
            "permissionGroupCreate",
            "permissionGroupUpdate",
            "permissionGroupDelete",
        ),
        ("Group", "Permission", "PermissionEnum", "UserPermission"),
    ),
    "apps": Subject(
        "Apps and app tokens",
        "Create apps or install them from a manifest, and manage their tokens and extensions.",
        (
            "app",
            "apps",
            "appsInstallations",
            "appExtension",
            "appExtensions",
            "appCreate",
            "appUpdate",
            "appDelete",
            "appActivate",
            "appDeactivate",
            "appFetchManifest",
            "appInstall",
            "appRetryInstall",
            "appDeleteFailedInstallation",
            "appTokenCreate",
            "appTokenRotate",
            "appTokenDelete",
            "appTokenVerify",
        ),
        ("App", "AppToken", "AppExtension"),
    ),
    "webhooks": Subject(
        "Webhooks and deliveries",
        "Subscribe to events, look at deliveries, and try subscription queries.",
        (
            "webhook",
            "webhookCreate",
            "webhookUpdate",
            "webhookDelete",
            "webhookDryRun",
            "webhookTrigger",
            "webhookReplay",
            "eventDeliveryRetry",
        ),
        ("Webhook", "EventDelivery", "WebhookEventTypeEnum"),
    ),
    "events": Subject(
        "Event types",
        "Choose the fields of webhook payloads: every event of the subscription field `event`. "
        "[Events](../events.md) lists when each is sent, with a sample payload.",
        ("event",),
        ("Event",),
    ),
    "shop": Subject(
        "Shop settings and identity providers",
        "Read and change the shop's settings and its identity providers.",
        (
            "shop",
            "shopSettingsUpdate",
            "shopLogoUpdate",
            "shopLogoDelete",
            "mailTemplates",
            "mailTemplate",
            "mailTemplateSave",
            "mailTemplateReset",
            "plugin",
            "plugins",
            "pluginUpdate",
        ),
        ("Shop", "Plugin"),
    ),
    "commerce": Subject(
        "Commerce",
        "Read and change products, carts and orders.",
        (
            "product",
            "products",
            "checkout",
            "order",
            "orders",
            "productCreate",
            "productUpdate",
            "productDelete",
            "checkoutCreate",
            "checkoutLinesAdd",
            "checkoutLinesUpdate",
            "checkoutLinesDelete",
            "checkoutEmailUpdate",
            "checkoutCustomerAttach",
            "checkoutComplete",
            "orderConfirm",
            "orderMarkAsPaid",
            "orderCancel",
            "orderFulfill",
        ),
        ("Product", "Checkout", "Order", "Money", "TaxedMoney"),
    ),
    "metadata-and-addresses": Subject(
        "Metadata and addresses",
        "Keep your own texts with users, apps and webhooks, and manage people's addresses.",
        (
            "address",
            "addressValidationRules",
            "updateMetadata",
            "deleteMetadata",
            "updatePrivateMetadata",
            "deletePrivateMetadata",
            "accountAddressCreate",
            "accountAddressUpdate",
            "accountAddressDelete",
            "accountSetDefaultAddress",
            "addressCreate",
            "addressUpdate",
            "addressDelete",
            "addressSetDefault",
        ),
        ("Address", "ObjectWithMetadata", "MetadataItem", "CountryCode"),
    ),
    "federation": Subject(
        "Federated graph",
        "Make this API a part of a graph of several services: what its router asks for.",
        ("_service", "_entities"),
        ("_Service", "_Entity", "_Any"),
    ),
    TYPES: Subject(
        "Shared types",
        "Look up types that operations of several pages use: scalars, pages of lists, ranges.",
    ),
}
