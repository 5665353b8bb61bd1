"""When each error code occurs, and what to do about it."""

from collections.abc import Mapping

from app.domain.values.errors import TokenFault

Meaning = tuple[str, str]
"""When it occurs; what to do."""

UNUSED: Meaning = ("Never. Declared for clients that were generated for the platform.", "")

COMMON: Mapping[str, Meaning] = {
    "GRAPHQL_ERROR": (
        "A value has the wrong form, such as an ID of another type, or a query can't run.",
        "Correct the value that `field` names.",
    ),
    "INVALID": (
        "A value isn't allowed, a link is used up or expired, or the object's state rules it out.",
        "Show `message` at the field that `field` names.",
    ),
    "NOT_FOUND": (
        "There is no such object, or the caller can't see it.",
        "Check the ID and its type. Deleted objects don't come back.",
    ),
    "REQUIRED": ("A required value is missing or empty.", "Ask for the field that `field` names."),
    "UNIQUE": (
        "Another object has this value: email, name, slug or identifier.",
        "Choose another value.",
    ),
}
"""Codes that mean the same in every enum."""

CODES: Mapping[str, Mapping[str, Meaning]] = {
    "CustomerBulkUpdateErrorCode": {
        "BLANK": UNUSED,
        "DUPLICATED_INPUT_ITEM": (
            "A customer is in the list more than once.",
            "Send one change for each customer.",
        ),
        "MAX_LENGTH": UNUSED,
    },
    "SendConfirmationEmailErrorCode": {
        "ACCOUNT_CONFIRMED": ("The account is already confirmed.", "Sign in."),
        "CONFIRMATION_ALREADY_REQUESTED": (
            "A link was sent recently.",
            "Wait 15 minutes, or the time in `RESET_PASSWORD_LOCK_TIME`.",
        ),
        "MISSING_CHANNEL_SLUG": UNUSED,
    },
    "AccountErrorCode": {
        "ACCOUNT_NOT_CONFIRMED": (
            "The email isn't confirmed, and the shop requires it.",
            "Ask the person to open the link in the email. Registering again sends a new one.",
        ),
        "ACTIVATE_OWN_ACCOUNT": UNUSED,
        "ACTIVATE_SUPERUSER_ACCOUNT": (
            "A superuser can't be activated in the API or the console.",
            "Use the command line: `flask user`.",
        ),
        "CHANNEL_INACTIVE": UNUSED,
        "DEACTIVATE_OWN_ACCOUNT": ("Staff can't deactivate themselves.", "Ask a colleague."),
        "DEACTIVATE_SUPERUSER_ACCOUNT": (
            "A superuser can't be deactivated in the API or the console.",
            "Use the command line: `flask user`.",
        ),
        "DELETE_NON_STAFF_USER": (
            "`staffDelete` was called for a customer.",
            "Call `customerDelete`.",
        ),
        "DELETE_OWN_ACCOUNT": ("Staff can't delete themselves.", "Ask a colleague."),
        "DELETE_STAFF_ACCOUNT": (
            "`customerDelete` or `accountDelete` was called for a staff account.",
            "Call `staffDelete`.",
        ),
        "DELETE_SUPERUSER_ACCOUNT": (
            "A superuser can't be deleted in the API or the console.",
            "Use the command line: `flask user`.",
        ),
        "DISABLED_AUTHENTICATION_METHOD": (
            (
                "Password login is disabled, or limited to customers. While it's disabled, "
                "`tokenRefresh` refuses SSO sessions, too."
            ),
            (
                "Offer SSO: `shop { availableExternalAuthentications { id name } }` lists it. "
                "Refresh SSO sessions with `externalRefresh`."
            ),
        ),
        "DUPLICATED_INPUT_ITEM": (
            "The same item is in the lists to add and to remove.",
            "Leave it in one of them.",
        ),
        "FILE_SIZE_LIMIT_EXCEEDED": ("The picture is too large.", "Upload a smaller one."),
        "INACTIVE": ("The account is deactivated.", "Ask staff to activate it."),
        "INVALID_CREDENTIALS": (
            "The email or the password is incorrect.",
            "Ask again. Each attempt makes the next from that IP address wait longer.",
        ),
        "INVALID_PASSWORD": UNUSED,
        "INVALID_SECOND_FACTOR": (
            "The code is incorrect or was used before, or the passkey wasn't accepted.",
            "Ask again, with the next code of the app. `message` says how many attempts are left.",
        ),
        "JWT_DECODE_ERROR": (
            "The token can't be decoded: it was cut off, or isn't a token of this shop.",
            "Sign in again.",
        ),
        "JWT_INVALID_CSRF_TOKEN": UNUSED,
        "JWT_INVALID_TOKEN": (
            "The session ended, the token was used before, or it's of another kind.",
            "Sign in again.",
        ),
        "JWT_MISSING_TOKEN": ("No refresh token was sent.", "Send `refreshToken`."),
        "JWT_SIGNATURE_EXPIRED": (
            "The token has expired.",
            "Refresh an access token; sign in again when the refresh token has expired.",
        ),
        "LEFT_NOT_MANAGEABLE_PERMISSION": (
            "After the change no active staff member would have the named permissions.",
            "Give the permissions to someone else first.",
        ),
        "LOGIN_ATTEMPT_DELAYED": (
            "Too many failed sign-ins from this IP address, or too many sign-ins at once.",
            "Wait for the time in `message`.",
        ),
        "MISSING_CHANNEL_SLUG": UNUSED,
        "SECOND_FACTOR_REQUIRED": (
            "The password was right, and the account has a second factor.",
            "Answer `secondFactorChallenge` with `secondFactorVerify` or `passkeyVerify`.",
        ),
        "OUT_OF_SCOPE_GROUP": (
            "A group has permissions that the caller lacks.",
            "Leave out the groups in `groups`.",
        ),
        "OUT_OF_SCOPE_PERMISSION": (
            "The caller would grant permissions that they lack.",
            "Leave out the permissions in `permissions`.",
        ),
        "OUT_OF_SCOPE_USER": (
            "The user has permissions that the caller lacks.",
            "Ask someone who has them, such as a superuser.",
        ),
        "PASSWORD_ENTIRELY_NUMERIC": ("The password has only digits.", "Choose another."),
        "PASSWORD_RESET_ALREADY_REQUESTED": (
            "A link was sent to this person a short time ago.",
            "Wait for the time in `message`.",
        ),
        "PASSWORD_TOO_COMMON": (
            "The password is easy to guess or on a list of leaked ones.",
            "Choose another.",
        ),
        "PASSWORD_TOO_SHORT": ("The password is too short.", "Choose a longer one."),
        "PASSWORD_TOO_SIMILAR": ("The password resembles the email or name.", "Choose another."),
        "TOO_MANY_REQUESTS": (
            "A [rate limit](limits.md) was reached.",
            "Wait for the seconds in `message`.",
        ),
        "UNKNOWN_IP_ADDRESS": (
            "The server can't determine the client's IP address.",
            "Set `TRUSTED_PROXIES` to the networks of your proxies.",
        ),
    },
    "AppErrorCode": {
        "DUPLICATED_EXTENSION_IDENTIFIER": (
            "Two extensions of the manifest have the same identifier.",
            "Correct the manifest.",
        ),
        "DUPLICATED_WEBHOOK_IDENTIFIER": (
            "Two webhooks of the manifest have the same identifier.",
            "Correct the manifest.",
        ),
        "FORBIDDEN": UNUSED,
        "INVALID_CUSTOM_HEADERS": (
            "Custom headers of a webhook in the manifest aren't allowed.",
            "Correct the manifest; `message` names the header.",
        ),
        "INVALID_MANIFEST_FORMAT": (
            "The manifest isn't a JSON object in the expected form.",
            "Correct the manifest.",
        ),
        "INVALID_PERMISSION": (
            "A permission doesn't exist, or the app itself doesn't have it.",
            "Leave it out.",
        ),
        "INVALID_STATUS": (
            "The installation is in another state: it hasn't failed.",
            "Read its `status` first.",
        ),
        "INVALID_URL_FORMAT": ("A URL of the manifest isn't valid or allowed.", "Correct it."),
        "MANIFEST_URL_CANT_CONNECT": (
            "The manifest can't be fetched.",
            "Check the URL. Private networks need `OUTGOING_ALLOWED_NETWORKS`.",
        ),
        "OUT_OF_SCOPE_APP": (
            "The app has permissions that the caller lacks, or the caller is an app.",
            "Ask someone who has them, such as a superuser.",
        ),
        "OUT_OF_SCOPE_PERMISSION": (
            "The caller or a person who saved a webhook of the app lacks one, or no app has it.",
            "Leave out the permissions in `permissions`, or save these webhooks yourself first.",
        ),
        "UNSUPPORTED_SALEOR_VERSION": (
            "The manifest requires another version of the API.",
            "Compare `requiredSaleorVersion` with `shop { version }`.",
        ),
    },
    "AppProblemCreateErrorCode": {},
    "AppProblemDismissErrorCode": {"OUT_OF_SCOPE_APP": UNUSED},
    "ChannelErrorCode": {
        "ALREADY_EXISTS": UNUSED,
        "CHANNELS_CURRENCY_MUST_BE_THE_SAME": (
            "Orders can't move to a channel with another currency.",
            "Choose a channel with the same currency.",
        ),
        "CHANNEL_WITH_ORDERS": (
            "The channel has orders.",
            "Send the channel they move to in `input`.",
        ),
        "DUPLICATED_INPUT_ITEM": UNUSED,
    },
    "CheckoutErrorCode": {
        "CHANNEL_INACTIVE": ("The channel isn't active.", "Choose another one."),
        "DUPLICATED_INPUT_ITEM": ("A line is named twice.", "Send each line once."),
        "EMAIL_NOT_SET": ("The cart has no email.", "Call `checkoutEmailUpdate` first."),
        "MISSING_CHANNEL_SLUG": ("There are several channels.", "Send the slug of one."),
        "NO_LINES": ("The cart is empty.", "Add a product."),
        "PRODUCT_NOT_PUBLISHED": ("The product isn't published.", "Leave it out."),
        "PRODUCT_UNAVAILABLE_FOR_PURCHASE": (
            "The product has no price, or is gone.",
            "Remove it from the cart.",
        ),
        "QUANTITY_GREATER_THAN_LIMIT": ("The quantity is above the limit.", "Send a smaller one."),
        "ZERO_QUANTITY": ("The quantity is below 1.", "Send at least 1, or remove the line."),
    },
    "MetadataErrorCode": {
        "NOT_UPDATED": UNUSED,
        "OUT_OF_SCOPE_APP": ("The app has permissions that the caller lacks.", "Ask a superuser."),
        "OUT_OF_SCOPE_USER": (
            "The user has permissions that the caller lacks.",
            "Ask someone who has them, such as a superuser.",
        ),
    },
    "OrderErrorCode": {
        "CANNOT_CANCEL_ORDER": ("The order is fulfilled or canceled.", "Read its `status` first."),
        "PAYMENT_ERROR": (
            "The order can't be marked as paid in its status.",
            "Read its `status` and `isPaid` first.",
        ),
    },
    "PermissionGroupErrorCode": {
        "ASSIGN_NON_STAFF_MEMBER": (
            "A customer can't be in a permission group.",
            "Leave out the users in `users`.",
        ),
        "CANNOT_REMOVE_FROM_LAST_GROUP": (
            "A person can't leave their last group by themselves.",
            "Ask a colleague.",
        ),
        "DUPLICATED_INPUT_ITEM": (
            "The same item is in the lists to add and to remove.",
            "Leave it in one of them.",
        ),
        "LEFT_NOT_MANAGEABLE_PERMISSION": (
            "After the change no active staff member would have the named permissions.",
            "Give the permissions to someone else first.",
        ),
        "OUT_OF_SCOPE_CHANNEL": (
            "The group would have, or has, channels that the caller has no access to.",
            "Leave out the channels in `channels`, or ask someone who has access to them.",
        ),
        "OUT_OF_SCOPE_PERMISSION": (
            "The caller would grant permissions that they lack.",
            "Leave out the permissions in `permissions`.",
        ),
        "OUT_OF_SCOPE_USER": (
            "A user has permissions that the caller lacks.",
            "Leave out the users in `users`.",
        ),
    },
    "PluginErrorCode": {
        "PLUGIN_MISCONFIGURED": (
            "A setting that the identity provider needs is missing.",
            "Set the one that `field` names.",
        )
    },
    "ProductErrorCode": {},
    "ShopErrorCode": {
        "FILE_SIZE_LIMIT_EXCEEDED": ("The logo is too large.", "Upload a smaller one."),
        "ALREADY_EXISTS": UNUSED,
        "CANNOT_FETCH_TAX_RATES": UNUSED,
        "PASSWORD_AUTH_RESTRICTION": (
            (
                "Password login can be restricted only by a person who signed in with SSO, not by "
                "an app."
            ),
            "Sign in with SSO and try again, or use the command line.",
        ),
    },
    "WebhookDryRunErrorCode": {},
    "WebhookErrorCode": {
        "DELETE_FAILED": UNUSED,
        "INVALID_CUSTOM_HEADERS": (
            "A custom header isn't allowed or is too long.",
            "Correct the header in `message`.",
        ),
        "INVALID_NOTIFY_WITH_SUBSCRIPTION": UNUSED,
    },
    "WebhookTriggerErrorCode": {
        "MISSING_QUERY": (
            "The webhook has no subscription query.",
            "Give it one, or trigger another.",
        )
    },
}
"""Codes of one enum; the tables above and below have the rest."""

QUERIES: Mapping[str, Meaning] = {
    "INVALID_ID": ("`objectId` isn't the ID of an object of the event.", "Send the ID of one."),
    "MISSING_EVENT": (
        "The event isn't one that the query or the webhook is about.",
        "Name an event that it selects with `... on`.",
    ),
    "MISSING_PERMISSION": (
        "The caller or the app lacks a permission of the event or of a field.",
        "Grant the permission, or leave out the field.",
    ),
    "MISSING_SUBSCRIPTION": (
        "The query isn't a subscription.",
        "Write `subscription { event … }`.",
    ),
    "SYNTAX": ("The query has a syntax error.", "Correct it where `message` says."),
    "TYPE_NOT_SUPPORTED": UNUSED,
    "UNABLE_TO_PARSE": (
        "The query has several operations, or variables without a value.",
        "Send one operation without variables.",
    ),
}
"""Codes about the query of a webhook, in every enum of webhooks."""

_TOKEN = "Refresh the access token; sign in again if that fails."  # noqa: S105
REQUESTS: Mapping[str, Meaning] = {
    "PermissionDenied": (
        "The caller has none of `requiredPermissions`; often the token is missing.",
        "Send a token, or grant a permission.",
    ),
    TokenFault.EXPIRED.code: ("The access token has expired.", _TOKEN),
    TokenFault.SIGNATURE.code: (
        "The token was signed by another key: it's from another shop, or was changed.",
        "Sign in again.",
    ),
    TokenFault.ALGORITHM.code: (
        "The token isn't signed with an allowed algorithm.",
        "Use a token of this shop or of its identity provider.",
    ),
    TokenFault.IMMATURE.code: (
        "The token isn't valid yet: a clock is more than a minute ahead.",
        "Set the clocks.",
    ),
    TokenFault.INVALID.code: (
        "The token's session ended, its app is inactive, or it can't be verified.",
        _TOKEN,
    ),
    "STOREFRONT_TRAFFIC_NOT_ALLOWED": (
        "The storefront is closed, and the caller is neither staff nor an app. HTTP 401.",
        (
            "Show that the shop is closed; try again later. Staff, who can't sign in over the API "
            "now, use the console, an access token of an identity provider, or an earlier "
            "session; apps use their token."
        ),
    ),
    "TOO_MANY_REQUESTS": (
        "A [rate limit](limits.md) was reached for this field.",
        "Wait for the seconds in `retryAfter`.",
    ),
    "SERVICE_UNAVAILABLE": (
        "The database is unavailable.",
        "Try again after `Retry-After` seconds.",
    ),
    "PERSISTED_QUERY_NOT_SUPPORTED": (
        "The request has the hash of a query but no query.",
        "Send the query; Apollo's link does it by itself.",
    ),
    "GraphQLSyntaxError": ("The query has a syntax error.", "Correct it at `locations`."),
    "GraphQLError": (
        "The request can't be read, or doesn't fit the schema or a limit.",
        "Correct the request; `message` says what is wrong.",
    ),
    "(none)": (
        "An unexpected error: the message is `Internal Server Error`.",
        "Report `requestId`; the server's log has the details under it.",
    ),
}
"""Codes of the top-level ``errors``."""
