"""Mutants of the rules about accounts, identity providers and apps."""

from tests.mutations.mutant import Mutant

ACCOUNTS = (
    Mutant(
        "A password has at least 8 characters",
        "app/domain/passwords/passwords.py",
        "if len(password) < MIN_LENGTH:",
        "if len(password) < MIN_LENGTH - 1:",
        "domain/passwords/test_passwords.py",
    ),
    Mutant(
        "A password is not common",
        "app/domain/passwords/passwords.py",
        "    if is_common(password):",
        "    if not password:",
        "domain/passwords/test_passwords.py",
    ),
    Mutant(
        "A link for a password dies with the password",
        "app/domain/passwords/email_links.py",
        "parts.append(account.password_hash)",
        "parts.append(account.is_confirmed)",
        "domain/passwords/test_email_links.py",
    ),
    Mutant(
        "A link is for one purpose",
        "app/domain/passwords/email_links.py",
        "parts: list[object] = [purpose.value, account.email, account.is_active]",
        "parts: list[object] = [account.email, account.is_active]",
        "domain/passwords/test_email_links.py",
    ),
    Mutant(
        "A link expires",
        "app/services/accounts/email_links.py",
        "return link.expires_at > ports.clock.now() and link.state == now_state",
        "return link.state == now_state",
        "services/accounts/test_set_password.py",
    ),
    Mutant(
        "A link from a mail leads to a listed host",
        "app/domain/urls/redirects.py",
        "return address.host == name",
        "return address.host.endswith(name)",
        "domain/urls/test_redirects.py",
    ),
    Mutant(
        "A link from a mail is https in production",
        "app/domain/urls/redirects.py",
        'if not development and address.scheme != "https":',
        'if development and address.scheme != "https":',
        "domain/urls/test_redirects.py",
    ),
    Mutant(
        "A wildcard host has a dot before it",
        "app/domain/urls/redirects.py",
        "return address.host.endswith(name[1:])",
        "return address.host.endswith(name[2:])",
        "domain/urls/test_redirects.py",
    ),
    Mutant(
        "A link is its owner's",
        "app/services/accounts/email_changes.py",
        "if opened.user.id != own_id(actor):",
        "if not opened.user.id:",
        "services/accounts/test_email_changes.py",
    ),
    Mutant(
        "A superuser is deleted by the operator alone",
        "app/domain/accounts/staff.py",
        'your own account.", "id")\n    if user.is_superuser and not actor.is_trusted:',
        'your own account.", "id")\n    if user.is_superuser and actor.is_trusted:',
        "domain/accounts/test_staff.py",
    ),
)

SINGLE_SIGN_ON = (
    Mutant(
        "A provider's token is for our audience",
        "app/domain/single_sign_on/provider_tokens.py",
        "if provider.audience and provider.audience not in _audience(claims):",
        "if provider.audience and not _audience(claims):",
        "domain/single_sign_on/test_provider_tokens.py",
    ),
    Mutant(
        "A provider's token is of its issuer",
        "app/domain/single_sign_on/provider_tokens.py",
        "if provider.issuer and issuer != provider.issuer:",
        "if provider.issuer and not issuer:",
        "domain/single_sign_on/test_provider_tokens.py",
    ),
    Mutant(
        "A provider's token expires",
        "app/domain/single_sign_on/provider_tokens.py",
        "if expires <= now:",
        "if expires < now:",
        "domain/single_sign_on/test_provider_tokens.py",
    ),
    Mutant(
        "An ID token is of this sign-in",
        "app/domain/single_sign_on/provider_tokens.py",
        'or (nonce is not None and claims.get("nonce") != nonce)',
        'or (nonce is not None and "nonce" not in claims)',
        "domain/single_sign_on/test_provider_tokens.py",
    ),
    Mutant(
        "An ID token is no access token",
        "app/domain/single_sign_on/provider_tokens.py",
        "if any(name in claims for name in _OF_ID_TOKENS):",
        "if all(name in claims for name in _OF_ID_TOKENS):",
        "domain/single_sign_on/test_provider_tokens.py",
    ),
    Mutant(
        "Scopes count with an audience only",
        "app/domain/single_sign_on/provider_tokens.py",
        'known = provider.audience != ""',
        "known = True",
        "domain/single_sign_on/test_provider_tokens.py"
        " services/single_sign_on/test_provider_permissions.py",
    ),
    Mutant(
        "Only a verified email links an account",
        "app/services/identity/linked_accounts.py",
        "    if not person.is_verified:\n        return _TAKEN\n",
        "",
        "services/single_sign_on/test_sign_in.py services/accounts/test_account_takeover.py",
    ),
    Mutant(
        "Somebody inactive doesn't arrive by single sign-on",
        "app/services/identity/linked_accounts.py",
        "    if not user.is_active:\n        raise Refused(INACTIVE)\n",
        "",
        "services/single_sign_on/test_sign_in.py",
    ),
    Mutant(
        "A sign-in at a provider takes 10 minutes at most, and is that provider's",
        "app/services/single_sign_on/pending_sign_ins.py",
        "row.expires_at <= ports.clock.now() or row.provider_id != provider.id:",
        "row.provider_id != provider.id:",
        "services/single_sign_on/test_sign_in.py",
    ),
    Mutant(
        "A trusted account keeps no unverified identity",
        "app/services/identity/account_trust.py",
        "ExternalIdentityRecord.is_verified.is_(False),",
        "ExternalIdentityRecord.is_verified.is_(True),",
        "services/accounts/test_account_takeover.py",
    ),
    Mutant(
        "A provider's silence about an email verifies nothing",
        "app/domain/single_sign_on/provider_users.py",
        "return said is True or (said is None and provider.trust_emails)",
        "return said is not False",
        "domain/single_sign_on/test_provider_users.py",
    ),
    Mutant(
        "A permission list counts only without scopes",
        "app/domain/authorization/scopes.py",
        "found = _known(scoped, shop) or _known(listed, shop)",
        "found = _known(scoped, shop) | _known(listed, shop)",
        "domain/authorization/test_scopes.py",
    ),
)

APPS = (
    Mutant(
        "A limited token has its limit's rights",
        "app/domain/apps/apps.py",
        "return granted if narrowed is None else granted & narrowed",
        "return granted",
        "domain/apps/test_apps.py",
    ),
    Mutant(
        "An app token's checksum is right",
        "app/domain/apps/app_tokens.py",
        "return match is not None and _checksum(match[1]) == match[2]",
        "return match is not None",
        "domain/apps/test_app_tokens.py",
    ),
    Mutant(
        "An expired app token is worth nothing",
        "app/services/authorization/app_rights.py",
        "if row.app_id is None or (expires is not None and expires <= ports.clock.now()):",
        "if row.app_id is None:",
        "services/apps/test_app_tokens.py",
    ),
    Mutant(
        "A token that was replaced is not rotated again",
        "app/domain/apps/apps.py",
        "if token.replaced_at is not None:",
        "if token.replaced_at is None and token.expires_at is token:",
        "domain/apps/test_apps.py services/apps/test_app_tokens.py",
    ),
    Mutant(
        "An extension gets no token for another",
        "app/services/apps/extension_tokens.py",
        "if not actor.is_account_owner or actor.user_id is None:",
        "if actor.user_id is None:",
        "services/apps/test_extension_tokens.py",
    ),
    Mutant(
        "An extension's token ends with its session",
        "app/services/apps/extension_tokens.py",
        "        expires = min(expires, ends.timestamp())\n",
        "        pass\n",
        "services/apps/test_extension_tokens.py services/apps/test_extension_token_expiry.py",
    ),
    Mutant(
        "A token older than the app is not the app's",
        "app/domain/apps/extensions.py",
        "return claims.iat + CLOCK_LEEWAY < app_created",
        "return claims.iat + 99 * CLOCK_LEEWAY < app_created",
        "services/apps/test_extension_tokens.py services/identity/test_extension_callers.py"
        " services/apps/test_extension_token_expiry.py services/apps/test_extension_rights.py",
    ),
)
