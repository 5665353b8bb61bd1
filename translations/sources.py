"""What is translated: the files whose sentences are in the catalogues.

A room of the console is added here with all its files, when its sentences are marked. The checks
of ``tests/house/test_translations.py`` hold for each file that is listed.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

TEMPLATES = (
    "console/_charts.html",
    "console/_parts.html",
    "console/account/*.html",
    "console/apps/_permissions.html",
    "console/audit/*.html",
    "console/base.html",
    "console/base_signed_out.html",
    "console/creating.html",
    "console/denied.html",
    "console/error.html",
    "console/error_signed_out.html",
    "console/inspector/*.html",
    "console/keyboard.html",
    "console/keys/*.html",
    "console/not_me/*.html",
    "console/passwords/*.html",
    "console/people/_sessions.html",
    "console/reauthenticate.html",
    "console/second_factor_required.html",
    "console/settings/*.html",
    "console/session_restricted.html",
    "console/sign_in.html",
    "console/sign_in_code.html",
    "console/sign_ins/*.html",
    "console/single_sign_on/*.html",
    "console/throttle/*.html",
    "error.html",
    "mail/*.html",
    "mail/*.txt",
)
"""Below ``app/templates``."""

PAGES = (
    "adapters/mail_values.py",
    "console/creations.py",
    "console/denied_page.py",
    "console/entered_forms.py",
    "console/errors.py",
    "console/filter_chips.py",
    "console/formatting.py",
    "console/forms.py",
    "console/lists.py",
    "console/navigation.py",
    "console/page_layout.py",
    "console/parts.py",
    "console/people/account.py",
    "console/people/account_actions.py",
    "console/people/account_page.py",
    "console/people/not_me.py",
    "console/people/passkeys.py",
    "console/people/passkeys_page.py",
    "console/people/passwords.py",
    "console/people/second_factors.py",
    "console/people/second_factors_page.py",
    "console/permissions.py",
    "console/reauthentication.py",
    "console/second_factor_rule.py",
    "console/second_factor_settings.py",
    "console/security/audit.py",
    "console/security/audit_page.py",
    "console/security/audit_sentences.py",
    "console/security/inspector.py",
    "console/security/inspector_page.py",
    "console/security/keys.py",
    "console/security/keys_page.py",
    "console/security/mapping_preview.py",
    "console/security/provider_checks.py",
    "console/security/provider_editing.py",
    "console/security/provider_questions.py",
    "console/security/providers_page.py",
    "console/security/sign_ins.py",
    "console/security/sign_ins_page.py",
    "console/security/single_sign_on.py",
    "console/security/throttle.py",
    "console/security/throttle_page.py",
    "console/security/token_claims.py",
    "console/session.py",
    "console/shop_settings.py",
    "console/shop_settings_page.py",
    "console/sign_in.py",
    "console/sign_in_code.py",
    "console/sign_in_refusals.py",
    "console/sign_in_words.py",
    "console/stack_charts.py",
    "domain/authorization/permission_areas.py",
    "domain/authorization/permissions.py",
    "web/errors.py",
)
"""Below ``app``: modules whose sentences are in ``text`` and the other marks."""

PARTLY = {
    "console/people/passkeys_page.py": ("why_impossible",),
    "console/people/person_page.py": (
        "device_words",
        "ended_sessions",
        "newest_of",
        "session_rows",
        "_end_label",
    ),
}
"""Functions that pages without a session call, of modules that such pages don't read otherwise."""

LISTED_PAGES = "console/**/*.py"
"""Below ``app``: modules whose ``Entry`` names a page."""

RULES = (
    "domain/accounts/emails.py",
    "domain/accounts/time_zones.py",
    "domain/mails/accent_color.py",
    "domain/passwords/passwords.py",
    "domain/shop/closing.py",
    "domain/shop/setting_table.py",
    "domain/single_sign_on/discovery.py",
    "domain/single_sign_on/provider_settings.py",
    "domain/single_sign_on/provider_tokens.py",
    "domain/urls/redirects.py",
    "domain/values/text_rules.py",
    "services/accounts/account_securing.py",
    "services/accounts/authenticator_apps.py",
    "services/accounts/avatars.py",
    "services/accounts/email_changes.py",
    "services/accounts/email_links.py",
    "services/accounts/passkeys.py",
    "services/accounts/password_changes.py",
    "services/accounts/recovery_codes.py",
    "services/accounts/reset_links.py",
    "services/console/console_sessions.py",
    "services/identity/linked_accounts.py",
    "services/inspector/*.py",
    "services/keys/rotation.py",
    "services/people/account_blocks.py",
    "services/people/second_factor_reset.py",
    "services/people/user_sessions.py",
    "services/second_factors/challenges.py",
    "services/second_factors/passkey_checks.py",
    "services/second_factors/removal.py",
    "services/sign_in/login_attempts.py",
    "services/sign_in/login_throttle.py",
    "services/sign_in/own_sessions.py",
    "services/sign_in/passkey_sign_in.py",
    "services/sign_in/password_login.py",
    "services/sign_in/password_sessions.py",
    "services/sign_in/reauthentication.py",
    "services/sign_in/second_factor_answers.py",
    "services/single_sign_on/attribute_mapping.py",
    "services/single_sign_on/pending_sign_ins.py",
    "services/single_sign_on/provider_checks.py",
    "services/single_sign_on/provider_settings.py",
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
    "app/adapters/",
    "app/templates/error.html",
    "app/templates/mail/",
    "app/templates/console/_parts.html",
    "app/templates/console/base_signed_out.html",
    "app/templates/console/error_signed_out.html",
    "app/templates/console/not_me/",
    "app/templates/console/passwords/",
    "app/templates/console/sign_in.html",
    "app/templates/console/sign_in_code.html",
    "app/console/errors.py",
    "app/console/forms.py",
    "app/console/people/not_me.py",
    "app/console/people/passwords.py",
    "app/console/formatting.py",
    "app/console/session.py",
    "app/console/sign_in.py",
    "app/console/sign_in_code.py",
    "app/console/sign_in_refusals.py",
    "app/web/",
    "app/domain/accounts/",
    "app/domain/passwords/",
    "app/services/accounts/account_securing.py",
    "app/services/accounts/email_links.py",
    "app/services/accounts/password_changes.py",
    "app/services/console/",
    "app/services/identity/",
    "app/services/second_factors/challenges.py",
    "app/services/second_factors/passkey_checks.py",
    "app/services/sign_in/login_attempts.py",
    "app/services/sign_in/passkey_sign_in.py",
    "app/services/sign_in/password",
    "app/services/sign_in/second_factor_answers.py",
    "app/services/single_sign_on/pending_sign_ins.py",
)
"""How the names of files begin whose sentences are read without a session, or in emails."""
