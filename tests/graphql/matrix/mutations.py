"""Every mutation and who can call it."""

from app.domain.authorization.permissions import Caller, Permission
from app.domain.values.ids import to_global_id
from tests.builders.people import PASSWORD
from tests.graphql.matrix.rules import (
    ANY_WEBHOOK,
    APP_MANAGERS,
    APP_MANAGERS_BUT_NO_APP,
    EVERYBODY,
    HOLDERS,
    HOLDING_PEOPLE,
    OWN_WEBHOOK,
    THEMSELVES,
    Row,
    Rule,
)

APPS, ORDERS = (Permission.MANAGE_APPS,), (Permission.MANAGE_ORDERS,)
PLUGINS, PRODUCTS = (Permission.MANAGE_PLUGINS,), (Permission.MANAGE_PRODUCTS,)
SETTINGS, STAFF, USERS = (
    (Permission.MANAGE_SETTINGS,),
    (Permission.MANAGE_STAFF,),
    (Permission.MANAGE_USERS,),
)
IMPERSONATION = (Permission.IMPERSONATE_USER,)
_PAGE = "http://localhost:3000/"
_LINES = 'id: "$cart", lines: [{productId: "$product", quantity: 2}]'
_TEMPLATE = (
    'input: {kind: PASSWORD_RESET, subject: "Hi", text: "{{ link }}", basedOn: 0,'
    ' html: "<p>{{ link }}</p>"}'
)
_PLUGIN = 'pluginId: "none.authentication.openidconnect", input: "{}"'

CUSTOMERS_THEMSELVES = Rule("- + ! ! - - - -", (Caller.USER,), code="DELETE_STAFF_ACCOUNT")
EVENT_HOLDERS = Rule("- - ! + - - ! +", (Caller.STAFF,), code="MISSING_PERMISSION")
HOLDERS_OF_THE_APP = Rule("- - - + - - - +", (Caller.STAFF,))

MANAGERS_OF_SOME = (Caller.USER, Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
MANAGERS_THEMSELVES = Rule("- - - + - - - -", MANAGERS_OF_SOME)
WITHOUT_CUSTOMER = Rule("- + + + - ! - -", (Caller.USER,), code="REQUIRED")
FOR_A_CUSTOMER = Rule("- ! ! ! - + ! !", (Caller.USER,), code="INVALID")
OWN_OR_HOLDERS = Rule("- o o + - + - +", (Caller.USER,))
CUSTOMERS_METADATA = Rule("- - - + - + - +", MANAGERS_OF_SOME)
STAFF_METADATA = Rule("- - - + - - - +", MANAGERS_OF_SOME)
APPS_METADATA = Rule("- - - + - - - -", (Caller.STAFF, Caller.APP))

TOKENS = {
    "tokenCreate": Row(EVERYBODY, f'email: "customer@example.com", password: "{PASSWORD}"'),
    "tokenRefresh": Row(EVERYBODY, 'refreshToken: "x"', codes=("JWT_DECODE_ERROR",)),
    "tokenVerify": Row(EVERYBODY, 'token: "x"', codes=("JWT_DECODE_ERROR",)),
    "tokensDeactivateAll": Row(THEMSELVES, ""),
    "secondFactorVerify": Row(EVERYBODY, 'challenge: "x", code: "123456"', codes=("INVALID",)),
    "passkeyChallengeCreate": Row(EVERYBODY, ""),
    "emailCodeRequest": Row(
        EVERYBODY, 'email: "a@example.com"', codes=("DISABLED_AUTHENTICATION_METHOD",)
    ),
    "emailCodeVerify": Row(EVERYBODY, 'challenge: "x", code: "123456"', codes=("INVALID",)),
    "passkeyVerify": Row(EVERYBODY, 'challenge: "x", credential: "{}"', codes=("INVALID",)),
    "secondFactorChallengeCreate": Row(Rule("- o o o - - - -", (Caller.USER,)), ""),
    "externalAuthenticationUrl": Row(EVERYBODY, _PLUGIN),
    "externalObtainAccessTokens": Row(EVERYBODY, _PLUGIN),
    "externalRefresh": Row(EVERYBODY, _PLUGIN),
    "externalVerify": Row(EVERYBODY, _PLUGIN),
    "externalLogout": Row(EVERYBODY, _PLUGIN),
}
ACCOUNTS = {
    "setPassword": Row(
        EVERYBODY,
        'email: "customer@example.com", token: "x", password: "a good long sentence"',
        codes=("INVALID",),
    ),
    "requestPasswordReset": Row(
        EVERYBODY, f'email: "customer@example.com", redirectUrl: "{_PAGE}"'
    ),
    "passwordChange": Row(
        THEMSELVES, f'oldPassword: "{PASSWORD}", newPassword: "a good long sentence"'
    ),
    "accountRegister": Row(
        EVERYBODY,
        f'input: {{email: "new@example.com", password: "{PASSWORD}", redirectUrl: "{_PAGE}"}}',
    ),
    "confirmAccount": Row(
        EVERYBODY, 'email: "customer@example.com", token: "x"', codes=("INVALID",)
    ),
    "accountUpdate": Row(WITHOUT_CUSTOMER, 'input: {firstName: "Ann"}', IMPERSONATION),
    "accountUpdate for a customer": Row(
        FOR_A_CUSTOMER, 'customerId: "$customer", input: {firstName: "Ann"}', IMPERSONATION
    ),
    "sendConfirmationEmail": Row(
        THEMSELVES, f'channel: "", redirectUrl: "{_PAGE}"', codes=("ACCOUNT_CONFIRMED",)
    ),
    "requestEmailChange": Row(
        THEMSELVES, f'newEmail: "new@example.com", password: "{PASSWORD}", redirectUrl: "{_PAGE}"'
    ),
    "confirmEmailChange": Row(THEMSELVES, 'token: "x"', codes=("JWT_INVALID_TOKEN",)),
    "accountRequestDeletion": Row(CUSTOMERS_THEMSELVES, f'redirectUrl: "{_PAGE}"'),
    "accountDelete": Row(CUSTOMERS_THEMSELVES, 'token: "x"', codes=("INVALID",)),
    "userAvatarUpdate": Row(THEMSELVES, "image: $$file"),
    "userAvatarDelete": Row(THEMSELVES, ""),
    "sessionEnd of another": Row(
        Rule("- o o o - - - -", (Caller.USER,)), f'id: "{to_global_id("Session", 999_999)}"'
    ),
    "sessionsEndOthers": Row(THEMSELVES, ""),
}
PEOPLE_OF_THE_SHOP = {
    "customerCreate": Row(HOLDERS, 'input: {email: "new@example.com"}', USERS),
    "customerUpdate": Row(HOLDERS, 'id: "$customer", input: {firstName: "Ann"}', USERS),
    "customerDelete": Row(HOLDERS, 'id: "$customer"', USERS),
    "customerBulkUpdate": Row(
        HOLDERS, 'customers: [{id: "$customer", input: {firstName: "Ann"}}]', USERS
    ),
    "customerBulkDelete": Row(HOLDERS, 'ids: ["$customer"]', USERS),
    "userBulkSetActive": Row(HOLDERS, 'ids: ["$customer"], isActive: false', USERS),
    "staffBulkDelete": Row(HOLDING_PEOPLE, 'ids: ["$staff"]', STAFF),
    "staffCreate": Row(HOLDING_PEOPLE, 'input: {email: "new@example.com"}', STAFF),
    "staffUpdate": Row(HOLDING_PEOPLE, 'id: "$staff", input: {firstName: "Ann"}', STAFF),
    "staffDelete": Row(HOLDING_PEOPLE, 'id: "$staff"', STAFF),
    "userSecondFactorReset of staff": Row(MANAGERS_THEMSELVES, 'id: "$staff"', STAFF),
    "userSecondFactorReset of a customer": Row(MANAGERS_THEMSELVES, 'id: "$customer"', USERS),
    "permissionGroupCreate": Row(HOLDING_PEOPLE, 'input: {name: "new"}', STAFF),
    "permissionGroupUpdate": Row(HOLDING_PEOPLE, 'id: "$group", input: {name: "new"}', STAFF),
    "permissionGroupDelete": Row(HOLDING_PEOPLE, 'id: "$group"', STAFF),
}
CHANNEL = (Permission.MANAGE_CHANNELS,)
CHANNELS = {
    "channelCreate": Row(
        HOLDERS,
        'input: {name: "New", slug: "new", currencyCode: "EUR", defaultCountry: PL}',
        CHANNEL,
    ),
    "channelUpdate": Row(HOLDERS, 'id: "$channel", input: {name: "New"}', CHANNEL),
    "channelDelete": Row(HOLDERS, 'id: "$channel"', CHANNEL),
    "channelActivate": Row(HOLDERS, 'id: "$channel"', CHANNEL),
    "channelDeactivate": Row(HOLDERS, 'id: "$channel"', CHANNEL, codes=("INVALID",)),
}
_ADDRESS = 'input: {country: PL, city: "A", postalCode: "00-001", streetAddress1: "B"}'
ADDRESSES = {
    "accountAddressCreate": Row(WITHOUT_CUSTOMER, _ADDRESS, IMPERSONATION),
    "accountAddressCreate for a customer": Row(
        FOR_A_CUSTOMER, f'customerId: "$customer", {_ADDRESS}', IMPERSONATION
    ),
    "accountAddressUpdate": Row(
        OWN_OR_HOLDERS, 'id: "$address", input: {country: PL, city: "C"}', USERS
    ),
    "accountAddressDelete": Row(OWN_OR_HOLDERS, 'id: "$address"', USERS),
    "accountSetDefaultAddress": Row(
        Rule("- o o o - - - -", (Caller.USER,)), 'id: "$address", type: BILLING'
    ),
    "addressCreate": Row(HOLDERS, f'userId: "$customer", {_ADDRESS}', USERS),
    "addressUpdate": Row(HOLDERS, 'id: "$address", input: {country: PL, city: "C"}', USERS),
    "addressDelete": Row(HOLDERS, 'id: "$address"', USERS),
    "addressSetDefault": Row(
        HOLDERS, 'addressId: "$address", userId: "$customer", type: BILLING', USERS
    ),
}
_SET, _DELETED = 'input: [{key: "new", value: "1"}]', 'keys: ["key"]'
_METADATA = {
    "updateMetadata": _SET,
    "deleteMetadata": _DELETED,
    "updatePrivateMetadata": _SET,
    "deletePrivateMetadata": _DELETED,
}
METADATA = {
    f"{name} of {subject}": Row(rule, f'id: "${subject}", {call}', permissions)
    for name, call in _METADATA.items()
    for subject, rule, permissions in (
        ("customer", CUSTOMERS_METADATA, USERS),
        ("staff", STAFF_METADATA, STAFF),
        ("app", APPS_METADATA, APPS),
        ("shop", HOLDERS, SETTINGS),
    )
}
_COMPANY = 'input: {country: DE, city: "Bonn", streetAddress1: "A 1", postalCode: "53111"}'
SHOP = {
    "shopLogoUpdate": Row(HOLDERS, "image: $$file", SETTINGS),
    "mailTemplateSave": Row(HOLDING_PEOPLE, _TEMPLATE, SETTINGS),
    "mailTemplateReset": Row(HOLDING_PEOPLE, "kind: PASSWORD_RESET", SETTINGS),
    "shopAddressUpdate": Row(HOLDERS, _COMPANY, SETTINGS),
    "shopLogoDelete": Row(HOLDERS, "", SETTINGS),
    "shopSettingsUpdate": Row(HOLDERS, "input: {allowStorefrontTraffic: true}", SETTINGS),
    "pluginUpdate": Row(
        HOLDERS,
        'id: "latchkey.authentication.openidconnect",'
        ' input: {configuration: [{name: "client_id", value: "new"}]}',
        PLUGINS,
    ),
    "productCreate": Row(HOLDERS, 'input: {name: "new"}', PRODUCTS),
    "productUpdate": Row(HOLDERS, 'id: "$product", input: {name: "new"}', PRODUCTS),
    "productDelete": Row(HOLDERS, 'id: "$product"', PRODUCTS),
    "orderConfirm": Row(HOLDERS, 'id: "$order"', ORDERS),
    "orderMarkAsPaid": Row(HOLDERS, 'id: "$order"', ORDERS),
    "orderCancel": Row(HOLDERS, 'id: "$order"', ORDERS),
    "orderFulfill": Row(HOLDERS, 'order: "$order"', ORDERS, codes=("INVALID",)),
    "checkoutCreate": Row(EVERYBODY, 'input: {lines: [{productId: "$product", quantity: 1}]}'),
    "checkoutLinesAdd": Row(EVERYBODY, _LINES),
    "checkoutLinesUpdate": Row(EVERYBODY, _LINES),
    "checkoutLinesDelete": Row(EVERYBODY, 'id: "$cart", linesIds: ["$line"]'),
    "checkoutEmailUpdate": Row(EVERYBODY, 'id: "$cart", email: "new@example.com"'),
    "checkoutCustomerAttach": Row(
        Rule("- + + + - ! + +", (Caller.USER,), code="REQUIRED"), 'id: "$cart"', IMPERSONATION
    ),
    "checkoutComplete": Row(EVERYBODY, 'id: "$cart"'),
}
INTEGRATIONS = {
    "appCreate": Row(APP_MANAGERS, 'input: {name: "new"}', APPS),
    "appUpdate": Row(APP_MANAGERS_BUT_NO_APP, 'id: "$app", input: {name: "new"}', APPS),
    "appDelete": Row(APP_MANAGERS_BUT_NO_APP, 'id: "$app"', APPS),
    "appActivate": Row(APP_MANAGERS, 'id: "$app"', APPS),
    "appDeactivate": Row(APP_MANAGERS, 'id: "$app"', APPS),
    "appProblemCreate": Row(
        Rule("- - - - + + - -", (Caller.APP,)), 'input: {key: "key", message: "A problem."}'
    ),
    "appProblemDismiss": Row(
        Rule("- - - + ! ! - -", (Caller.STAFF, Caller.APP), code="INVALID"),
        'input: {byStaffWithKeys: {keys: ["key"], app: "$app"}}',
        APPS,
    ),
    "appTokenCreate": Row(APP_MANAGERS_BUT_NO_APP, 'input: {app: "$app"}', APPS),
    "appTokenRotate": Row(APP_MANAGERS, 'id: "$token"', APPS),
    "appTokenDelete": Row(APP_MANAGERS, 'id: "$token"', APPS),
    "appTokenVerify": Row(EVERYBODY, 'token: "$app_token"'),
    "appInstall": Row(
        APP_MANAGERS, 'input: {appName: "new", manifestUrl: "http://127.0.0.1:9/new"}', APPS
    ),
    "appRetryInstall": Row(APP_MANAGERS, 'id: "$installation"', APPS),
    "appDeleteFailedInstallation": Row(APP_MANAGERS, 'id: "$installation"', APPS),
    "appFetchManifest": Row(
        APP_MANAGERS,
        'manifestUrl: "http://127.0.0.1:9/none"',
        APPS,
        codes=("MANIFEST_URL_CANT_CONNECT",),
    ),
    "webhookCreate": Row(
        ANY_WEBHOOK,
        'input: {app: "$app", targetUrl: "https://app.example.com/", query: "$query"}',
        APPS,
    ),
    "webhookCreate of its own": Row(
        OWN_WEBHOOK,
        'input: {targetUrl: "https://app.example.com/", query: "$query"}',
        APPS,
        codes=("REQUIRED",),
    ),
    "webhookUpdate": Row(ANY_WEBHOOK, 'id: "$webhook", input: {isActive: false}', APPS),
    "webhookDelete": Row(ANY_WEBHOOK, 'id: "$webhook"', APPS),
    "webhookDryRun": Row(EVENT_HOLDERS, 'objectId: "$product", query: "$query"', PRODUCTS),
    "webhookTrigger": Row(
        HOLDERS_OF_THE_APP, 'objectId: "$product", webhookId: "$hearing"', PRODUCTS
    ),
    "eventDeliveryRetry": Row(
        ANY_WEBHOOK, 'id: "$delivery"', APPS, beside=frozenset({Permission.MANAGE_PRODUCTS})
    ),
    "webhookSendWaiting": Row(APP_MANAGERS, 'id: "$webhook"', APPS),
    "webhookReplay": Row(APP_MANAGERS, 'id: "$webhook", since: "2026-01-01T00:00:00Z"', APPS),
}
MUTATIONS = {
    **ADDRESSES,
    **TOKENS,
    **ACCOUNTS,
    **PEOPLE_OF_THE_SHOP,
    **CHANNELS,
    **METADATA,
    **SHOP,
    **INTEGRATIONS,
}
UNTRACED = frozenset(
    {
        "tokenCreate",
        "emailCodeVerify",
        "passkeyChallengeCreate",
        "requestPasswordReset",
        "appProblemCreate",
        "appProblemDismiss",
    }
    | {name for name in SHOP if name.startswith("checkout")}
)
"""What leaves no row in the audit trail: logins and carts change nobody's rights, a link to set a
password is recorded when it is made, and there is no problem to dismiss."""
