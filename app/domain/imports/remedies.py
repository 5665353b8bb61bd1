"""What to do about each finding of an import, by its code."""

from collections.abc import Mapping

REMEDIES: Mapping[str, str] = {
    # any row
    "TOO_LONG": "Check the shortened text here.",
    "CHARACTERS_NOT_ALLOWED": "Check the changed text here.",
    "URL_INVALID": "Enter the right URL here, if it is used.",
    "METADATA_INVALID": "Store the values elsewhere. Metadata here are texts.",
    "METADATA_LARGE": "Delete keys that aren't used: until then, none can be set.",
    "PERMISSION_UNKNOWN": (
        "No action needed if the permission isn't used here. No other one was granted instead."
    ),
    "PERMISSION_OF_DJANGO": "No action needed. It was never a permission of the API.",
    "EDITED_HERE": "Compare both, and change the one here if the source is right.",
    "REMOVED": "No action needed. It was removed here as it was at the source.",
    "REMOVED_AND_EDITED": "Delete it here if it isn't needed.",
    # people and groups
    "EMAIL_INVALID": "Correct the email at the source and import again.",
    "EMAIL_TAKEN": (
        "Decide which account stays, change the other one's email at the source and import again."
    ),
    "REFERENCE_TAKEN": (
        "Decide who has the external reference. Correct it at the source and import again, or "
        "enter it here."
    ),
    "NAME_MISSING": "Rename the group here.",
    "GROUP_NAME_TAKEN": "Rename one of the groups at the source and import again.",
    "GROUP_RESTRICTED": "Add members only if the group's permissions can apply to the whole shop.",
    "MEMBERSHIP_RESTRICTED": (
        "Add the person to a group whose permissions can apply to the whole shop."
    ),
    "CUSTOMER_WITH_PERMISSIONS": (
        "No action needed if the person is a customer. Otherwise make them staff here."
    ),
    "LANGUAGE_UNKNOWN": "No action needed. Emails to the person are in the language named.",
    "DATE_MISSING": "No action needed.",
    # passwords
    "PASSWORD_WEAK": (
        "The person sets a new password. Send a link with `passwordReset`, or wait for "
        "them to ask."
    ),
    "PASSWORD_TOO_COSTLY": "As for `PASSWORD_WEAK`.",
    "PASSWORD_TOO_LONG": "As for `PASSWORD_WEAK`.",
    "PASSWORD_MALFORMED": "As for `PASSWORD_WEAK`.",
    "PASSWORD_UNKNOWN_FORMAT": "As for `PASSWORD_WEAK`.",
    "PASSWORD_EXPIRED": "As for `PASSWORD_WEAK`.",
    "PASSWORD_CHANGED": "No action needed. The newer password of the person, set here, works.",
    # addresses and avatars
    "ADDRESS_WITHOUT_OWNER": "No action needed. People don't have these addresses.",
    "ADDRESS_SHARED": "No action needed. Each person has a copy with another ID.",
    "DEFAULT_OF_OTHER": "Add the address to the person here, if it is theirs.",
    "OWNER_LEFT_OUT": "As for the person who was left out.",
    "COUNTRY_INVALID": "Enter the country here.",
    "DEFAULT_TAKEN": "No action needed. The person chose another default address here.",
    "AVATARS_SKIPPED": "Import again with `--media`.",
    "AVATAR_UNUSABLE": "No action needed. The person can upload an image again.",
    "AVATAR_SET_HERE": "No action needed. The person uploaded an image here.",
    # apps
    "APP_REMOVED": "No action needed. The app was gone at the source, too.",
    "APP_MISSING": "No action needed if the app was deleted here. Otherwise import apps first.",
    "APP_TYPE_UNKNOWN": "Check the app here.",
    "APP_NOT_INSTALLED": "Activate the app here if it works, or delete it and install it again.",
    "NAME_EMPTY": "Rename the app here.",
    "COLUMN_NOT_SUPPORTED": "No action needed if the app works without.",
    "IDENTIFIER_TAKEN": "Delete the one that isn't used.",
    "PERMISSION_NOT_FOR_APPS": "Let staff do what the app did with it.",
    "TOKEN_HASH_UNSUPPORTED": "Create a new token, and configure the app with it.",
    "TOKEN_WITHOUT_LAST_FOUR": "Create a new token, and configure the app with it.",
    "EXTENSION_URL_INVALID": "Install the app again once its manifest is corrected.",
    "EXTENSION_PLACE_INVALID": "No action needed. Dashboards don't show it there.",
    "SETTINGS_INVALID": "Install the app again once its manifest is corrected.",
    # webhooks
    "TARGET_URL_INVALID": "Correct it at the source and import again, or create the webhook here.",
    "TARGET_SCHEME_UNSUPPORTED": "Create a webhook here that sends the events to an https URL.",
    "TARGET_PRIVATE": (
        "List its network in `OUTGOING_ALLOWED_NETWORKS`, then enable the webhook."
    ),
    "FILTERED_BY_CHANNEL": "Enable it if it can receive the events of all channels.",
    "EVENT_NOT_SUPPORTED": "No action needed if other events suffice.",
    "EVENT_NOT_PERMITTED": "Grant the app the permission. Apps can't have MANAGE_APPS.",
    "NO_EVENT_LEFT": "Subscribe it to events that are sent here, then enable it.",
    "QUERY_REFUSED": "Correct the subscription query, then enable the webhook.",
    "HEADER_REFUSED": "No action needed if the endpoint works without the headers.",
    # settings
    "SETTING_REFUSED": (
        "Set it here. For a URL, list its host in `ALLOWED_CLIENT_HOSTS` and import again."
    ),
    "NO_PLACE": "Keep the data elsewhere.",
    "SITE_NOT_CHOSEN": "Check that the imported settings are those of your site.",
    "LOGIN_MODE_LOCKS_OUT": (
        "Set up SSO for staff before the switch, or run `flask shop set "
        "password-login-mode ENABLED`."
    ),
    # single sign-on
    "PROVIDER_NOT_CHOSEN": "Check that the imported configuration is the right one.",
    "PROVIDER_SETTING_REFUSED": "Correct it with `flask oidc set`.",
    "PROVIDER_SETTING_UNKNOWN": "No action needed.",
    "PROVIDER_INCOMPLETE": (
        "Set what is missing with `flask oidc set`, then `flask oidc set active true`."
    ),
    "PROVIDER_WITHOUT_AUDIENCE": (
        "`flask oidc set audience …`, if storefronts send the provider's access tokens."
    ),
    "PROVIDER_SET_UP_HERE": (
        "Clear the settings here and import again, if the plugin's provider is to take its place."
    ),
    "PROVIDER_DIFFERS": "Set `oauth_authorization_url` back to the plugin's, and import again.",
    "DEFAULT_GROUP_MISSING": "Create the group with its permissions, or clear the setting.",
    "DEFAULT_GROUP_RESTRICTED": "Choose another group with `flask oidc set`.",
    "SUBJECT_INVALID": "No action needed. The person is linked by email at the next SSO sign-in.",
    "SUBJECT_SHARED": (
        "Find out whose subject it is, remove it from the others at the source and import again."
    ),
    "SUBJECT_TAKEN": "Compare the two accounts. Delete the one that was created by mistake.",
    "SUBJECT_WITHOUT_USER": "Import people first, then `--only sso`.",
    "SUBJECT_OF_OTHER_PROVIDER": "Delete the metadata if the provider is no longer used.",
    # files
    "COLUMN_UNKNOWN": "Rename the column if it holds something that can be imported.",
    "STATE_COLUMN_UNKNOWN": (
        "If it says who can't sign in, rename it to `is_active`, `disabled` or `is_confirmed`. "
        "Otherwise no action needed."
    ),
    "STATE_UNKNOWN": (
        "Rename the column to `is_active` or `disabled`, or remove it if it says something else, "
        "and import again."
    ),
    "VALUE_INVALID": "Correct the value in the file and import again.",
    "ROW_MALFORMED": "Correct the line in the file and import again.",
    "ROW_SHORT": "Check that nothing is missing in the line.",
    "LINE_REPEATED": "Decide which line is right, and remove the other.",
    "STAFF_NOT_WANTED": "Import again with `--staff` if the person is staff.",
    "GROUP_UNKNOWN": "Create the group, then add the person to it.",
    "CHANGED_IN_FILE": "Change the row here if the file is right.",
    "NAME_UNKNOWN": "No action needed if this version doesn't have the permission or event.",
    "TAKEN": "Decide which row stays. Change or delete the other one, and import again.",
    "OWNER_MISSING": "Import what the row belongs to first.",
    "PASSWORD_WITHHELD": "Export with `--with-secrets`, or let the person set a new password.",
    "METADATA_WITHHELD": (
        "Export with `--with-secrets`, or let the app store again what it keeps there."
    ),
    "SECRET_WITHHELD": (
        "Set the secret here, then enable it. Or export with `--with-secrets` and import into an "
        "empty shop."
    ),
}
"""In the order in which they are explained; backquotes are for the documentation."""
