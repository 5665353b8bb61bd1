"""Entries of the audit log as sentences."""

from app.domain.audit.entries import AuditEntry
from app.web.translation import text

_DID = {
    "account.avatar": "changed the avatar of",
    "account.confirm": "confirmed the account",
    "account.delete": "deleted their own account",
    "account.deletion_request": "requested to delete the account",
    "account.email_change": "changed the email of",
    "account.email_change_request": "requested another email for",
    "account.register": "registered",
    "account.secure": "reported an unknown change and secured the account",
    "account.update": "edited the account",
    "address.create": "added an address to the account",
    "address.delete": "deleted an address of",
    "address.set_default": "changed the default address of",
    "address.update": "edited an address of",
    "app.activate": "activated the app",
    "app.create": "created the app",
    "app.deactivate": "deactivated the app",
    "app.delete": "deleted the app",
    "app.install": "installed the app",
    "app.update": "edited the app",
    "app_installation.ask": "started installing",
    "app_installation.delete": "dismissed the installation of",
    "app_installation.fail": "failed to install",
    "app_installation.retry": "retried installing",
    "app_token.create": "created a token for",
    "app_token.revoke": "revoked a token of",
    "app_token.rotate": "replaced a token of",
    "customer.create": "created the customer",
    "customer.delete": "deleted the customer",
    "customer.invite": "sent an invitation to",
    "customer.update": "edited the customer",
    "delivery.retry": "resent the delivery",
    "demo.fill": "loaded demo data",
    "export.create": "exported data of the installation",
    "group.create": "created the group",
    "group.delete": "deleted the group",
    "group.update": "edited the group",
    "import.finish": "finished the import from",
    "import.run": "imported data from",
    "keys.create": "created a signing key",
    "keys.forget": "deleted a signing key",
    "keys.rotate": "rotated the signing key",
    "app.update_metadata": "edited the metadata of",
    "user.update_metadata": "edited the metadata of",
    "mail.test": "sent a test email to",
    "mail.retry": "retried the email",
    "mail_template.reset": "went back to the default of the email template",
    "mail_template.save": "saved the email template",
    "order.cancel": "cancelled the order",
    "order.confirm": "confirmed the order",
    "order.fulfill": "fulfilled the order",
    "order.pay": "recorded the payment of the order",
    "password.change": "changed the password of",
    "password.reset_link": "sent a password link to",
    "password.set": "set the password of",
    "product.create": "created the product",
    "product.delete": "deleted the product",
    "product.update": "edited the product",
    "provider.create": "added the identity provider",
    "provider.update": "edited the identity provider",
    "recovery_codes.replace": "replaced the recovery codes of",
    "recovery_codes.use": "used a recovery code of",
    "second_factor.add": "added a second factor to",
    "second_factor.cloned": "tried a copied passkey of",
    "second_factor.remove": "removed a second factor of",
    "second_factor.rename": "renamed a passkey of",
    "second_factor.replace": "moved the authenticator app of",
    "second_factor.reset": "reset the second factors of",
    "session.end": "ended a session of",
    "session.end_others": "ended all other sessions of",
    "shop.dismiss_setup": "dismissed the setup checklist of",
    "shop.logo": "changed the logo in emails",
    "shop.update": "edited the settings of",
    "staff.create": "created the staff member",
    "staff.delete": "deleted the staff member",
    "staff.invite": "sent an invitation to",
    "staff.invite_link": "created an invitation link for",
    "staff.promote": "gave staff status to",
    "staff.update": "edited the staff member",
    "throttle.unblock": "unblocked the IP address",
    "tokens.deactivate_all": "ended every session of",
    "user.activate": "activated the account",
    "user.create": "created the account",
    "user.deactivate": "deactivated the account",
    "user.erase": "erased the data of",
    "user.export": "exported the data of",
    "user.join": "assigned a group to",
    "user.link": "linked an SSO identity to",
    "user.promote": "gave staff status to",
    "user.sign_out": "ended every session of",
    "user.sync": "synced the account",
    "user.unblock": "unblocked the account",
    "user.unlink": "removed an unverified SSO identity of",
    "webhook.confirm": "confirmed the webhook",
    "webhook.create": "created the webhook",
    "webhook.delete": "deleted the webhook",
    "webhook.disable": "disabled the webhook",
    "webhook.replay": "replayed deliveries of",
    "webhook.trigger": "triggered the webhook",
    "webhook.update": "edited the webhook",
}
_SWITCHES = {
    ("password_login_mode", "ENABLED"): "allowed password login for everyone",
    ("password_login_mode", "CUSTOMERS_ONLY"): "limited password login to customers",
    ("password_login_mode", "DISABLED"): "turned off password login",
    ("allow_storefront_traffic", True): "opened the storefront",
    ("allow_storefront_traffic", False): "closed the storefront",
    ("staff_second_factor", "OPTIONAL"): "made a second factor optional for staff",
    ("staff_second_factor", "REQUIRED"): "required a second factor for staff",
}
_UNNAMED = {
    "delivery.retry": "resent deliveries",
    "password.reset_link": "sent a password link",
    "session.end": "ended a session",
    "session.end_others": "ended all other sessions",
    "tokens.deactivate_all": "ended all sessions",
    "user.sign_out": "ended all sessions",
    "webhook.replay": "replayed deliveries",
}
"""The words of actions whose entry doesn't name the subject."""

_WHO = {"operator": "Server administrator", "worker": "Latchkey", "anonymous": "Anonymous visitor"}
_SUBJECTS = {
    "Address": "IP address",
    "AppInstallation": "App installation",
    "AppToken": "App token",
    "EventDelivery": "Delivery",
    "IdentityProvider": "Identity provider",
    "Mail": "Email",
    "SigningKey": "Signing key",
    "User": "Account",
}


def who_did(entry: AuditEntry) -> str:
    """Return who made the change."""
    return _WHO.get(entry.actor_kind, entry.actor_name)


def what_was_done(entry: AuditEntry) -> str:
    """Return what they did in words; an unknown action is returned as its name."""
    if entry.action == "shop.update":
        switched = [_SWITCHES[key] for key in entry.after.items() if key in _SWITCHES]
        if len(switched) > 1:
            return text("{first} and {second}", first=switched[0], second=switched[1])
        if switched:
            return switched[0]
    if not entry.subject_name and entry.action in _UNNAMED:
        return _UNNAMED[entry.action]
    return _DID.get(entry.action, entry.action.replace(".", " ").replace("_", " "))


def done_to(entry: AuditEntry) -> str:
    """Return the subject's name; empty where ``what_was_done`` says it all."""
    if entry.action.startswith(("shop.", "keys.", "demo.")):
        return ""
    if entry.action.startswith("order.") and entry.subject_name:
        return text("#{number}", number=entry.subject_name)
    return entry.subject_name


def sentence(entry: AuditEntry) -> str:
    """Return the entry as one sentence: who, what and to what."""
    values = {"actor": who_did(entry), "action": what_was_done(entry), "subject": done_to(entry)}
    if not values["subject"]:
        return text("{actor} {action}", **values)
    return text("{actor} {action} {subject}", **values)


def subject_kind(subject_type: str) -> str:
    """Return what a type of subjects is called on pages."""
    return _SUBJECTS.get(subject_type, subject_type)
