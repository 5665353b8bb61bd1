"""What is translated: the files whose sentences are in the catalogues.

The checks of ``tests/house/test_translations.py`` hold for each file that is listed, among them
all pages of the console.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

TEMPLATES = (
    "console/**/*.html",
    "error.html",
    "mail/*.html",
    "mail/*.txt",
)
"""Below ``app/templates``."""

PAGES = (
    "adapters/mail_values.py",
    "console/**/*.py",
    "domain/authorization/permissions.py",
    "domain/deliveries/deliveries.py",
    "domain/mails/mail.py",
    "domain/mails/mail_log.py",
    "domain/values/text.py",
    "web/errors.py",
)
"""Below ``app``: modules whose sentences are in ``text`` and the other marks."""

PARTLY = {
    "console/account/passkeys.py": ("why_impossible",),
}
"""Functions that pages without a session call, of modules that such pages don't read otherwise."""

LISTED_PAGES = "console/**/*.py"
"""Below ``app``: modules whose ``Entry`` names a page."""

RULES = (
    "adapters/email_templates.py",
    "adapters/images.py",
    "adapters/own_templates.py",
    "adapters/template_folder.py",
    "domain/accounts/emails.py",
    "domain/accounts/staff.py",
    "domain/accounts/users.py",
    "domain/apps/apps.py",
    "domain/apps/manifest*.py",
    "domain/authorization/actor.py",
    "domain/events.py",
    "domain/mails/design.py",
    "domain/mails/own_templates.py",
    "domain/mails/template_contents.py",
    "domain/passwords/passwords.py",
    "domain/shop/lockouts.py",
    "domain/shop/setting_table.py",
    "domain/shop/settings.py",
    "domain/single_sign_on/provider_settings.py",
    "domain/single_sign_on/provider_tokens.py",
    "domain/single_sign_on/provider_users.py",
    "domain/single_sign_on/providers.py",
    "domain/single_sign_on/waiting_changes.py",
    "domain/urls/redirects.py",
    "domain/urls/web_urls.py",
    "domain/values/inputs.py",
    "domain/values/metadata.py",
    "domain/values/text_rules.py",
    "domain/values/times.py",
    "domain/webhooks.py",
    "graphql/payloads.py",
    "graphql/server/limits.py",
    "services/accounts/account_securing.py",
    "services/accounts/authenticator_apps.py",
    "services/accounts/avatars.py",
    "services/accounts/email_changes.py",
    "services/accounts/email_links.py",
    "services/accounts/passkeys.py",
    "services/accounts/password_changes.py",
    "services/accounts/recovery_codes.py",
    "services/accounts/reset_links.py",
    "services/apps/app_changes.py",
    "services/apps/app_tokens.py",
    "services/apps/installation_requests.py",
    "services/apps/installation_worker.py",
    "services/apps/manifests.py",
    "services/console/console_sessions.py",
    "services/console/saved_filters.py",
    "services/console/sign_in_diagnosis.py",
    "services/deliveries/dry_runs.py",
    "services/deliveries/replays.py",
    "services/identity/linked_accounts.py",
    "services/identity/manageable_users.py",
    "services/identity/provider_assertions.py",
    "services/identity/stored_apps.py",
    "services/inspector/*.py",
    "services/keys.py",
    "services/lists/substring_search.py",
    "services/operations/mail_resends.py",
    "services/people/account_blocks.py",
    "services/people/customers.py",
    "services/people/directory.py",
    "services/people/group_lists.py",
    "services/people/invitations.py",
    "services/people/memberships.py",
    "services/people/second_factor_reset.py",
    "services/people/staff.py",
    "services/people/stored_groups.py",
    "services/people/user_creation.py",
    "services/people/user_details.py",
    "services/people/user_sessions.py",
    "services/second_factors/challenges.py",
    "services/second_factors/passkey_checks.py",
    "services/second_factors/removal.py",
    "services/shop/logo.py",
    "services/shop/mail_preview.py",
    "services/shop/mail_templates.py",
    "services/sign_in/login_attempts.py",
    "services/sign_in/login_throttle.py",
    "services/sign_in/own_sessions.py",
    "services/sign_in/passkey_sign_in.py",
    "services/sign_in/password_login.py",
    "services/sign_in/password_sessions.py",
    "services/sign_in/reauthentication.py",
    "services/sign_in/second_factor_answers.py",
    "services/single_sign_on/provider_checks.py",
    "services/single_sign_on/sign_in.py",
    "services/single_sign_on/provider_changes.py",
    "services/single_sign_on/provider_settings.py",
    "services/webhooks/changes.py",
    "services/webhooks/limited_tokens.py",
    "services/webhooks/link_events.py",
    "services/webhooks/permission_grants.py",
    "services/webhooks/stored_webhooks.py",
)
"""Below ``app``: modules whose sentences are messages of ``Problem``."""


def files(patterns: tuple[str, ...], folder: str) -> Iterator[Path]:
    """Yield the files of ``patterns`` below a folder of ``app``, each pattern's in order."""
    for pattern in patterns:
        found = sorted((ROOT / "app" / folder).glob(pattern))
        if not found:
            raise FileNotFoundError(pattern)
        yield from found


SIGNED_OUT = (
    "app/adapters/mail_values.py",
    "app/templates/error.html",
    "app/templates/mail/",
    "app/templates/console/_parts.html",
    "app/templates/console/base_signed_out.html",
    "app/templates/console/error_signed_out.html",
    "app/templates/console/not_me/",
    "app/templates/console/passwords/",
    "app/templates/console/sign_in.html",
    "app/templates/console/sign_in_code.html",
    "app/console/frame/errors.py",
    "app/console/frame/forms.py",
    "app/console/account/not_me.py",
    "app/console/account/passwords.py",
    "app/console/frame/formatting.py",
    "app/console/frame/session.py",
    "app/console/account/sign_in.py",
    "app/console/account/sign_in_code.py",
    "app/console/account/sign_in_code.py",
    "app/web/",
    "app/domain/accounts/emails.py",
    "app/domain/accounts/users.py",
    "app/domain/passwords/",
    "app/domain/single_sign_on/providers.py",
    "app/services/accounts/account_securing.py",
    "app/services/accounts/email_links.py",
    "app/services/accounts/password_changes.py",
    "app/services/console/console_sessions.py",
    "app/services/identity/linked_accounts.py",
    "app/services/identity/provider_assertions.py",
    "app/services/second_factors/challenges.py",
    "app/services/second_factors/passkey_checks.py",
    "app/services/sign_in/login_attempts.py",
    "app/services/sign_in/passkey_sign_in.py",
    "app/services/sign_in/password",
    "app/services/sign_in/second_factor_answers.py",
    "app/services/single_sign_on/sign_in.py",
)
"""How the names of files begin whose sentences are read without a session, or in emails."""
