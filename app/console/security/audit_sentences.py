"""Entries of the audit trail as sentences."""

from app.domain.audit.entries import AuditEntry

_DID = {
    "account.avatar": "changed the picture of",
    "account.confirm": "confirmed the account",
    "account.delete": "deleted their own account",
    "account.deletion_request": "asked to delete the account",
    "account.email_change": "moved to another email",
    "account.email_change_request": "asked to change the email of",
    "account.register": "registered",
    "account.update": "changed the account",
    "app.activate": "activated the app",
    "app.create": "made the app",
    "app.deactivate": "deactivated the app",
    "app.delete": "removed the app",
    "app.install": "installed the app",
    "app.update": "changed the app",
    "app_installation.ask": "asked to install",
    "app_installation.delete": "dismissed the installation of",
    "app_installation.fail": "could not install",
    "app_installation.retry": "tried again to install",
    "app_token.create": "made a token for",
    "app_token.revoke": "revoked a token of",
    "app_token.rotate": "replaced a token of",
    "customer.create": "made the customer",
    "customer.delete": "deleted the customer",
    "customer.update": "changed the customer",
    "delivery.retry": "redelivered to",
    "demo.fill": "filled the demo shop",
    "group.create": "made the group",
    "group.delete": "deleted the group",
    "group.update": "changed the group",
    "keys.create": "made a signing key",
    "keys.forget": "forgot a signing key",
    "keys.rotate": "rotated the signing key",
    "order.cancel": "cancelled the order",
    "order.confirm": "confirmed the order",
    "order.fulfill": "fulfilled the order",
    "order.pay": "marked as paid the order",
    "password.change": "changed the password of",
    "password.reset_link": "sent a link to set a password to",
    "password.set": "set the password of",
    "product.create": "made the product",
    "product.delete": "deleted the product",
    "product.update": "changed the product",
    "provider.create": "set up the identity provider",
    "provider.update": "changed the identity provider",
    "session.end": "ended a session of",
    "session.end_others": "ended all other sessions of",
    "shop.update": "changed the settings of",
    "staff.create": "made the member of the staff",
    "staff.delete": "removed from the staff",
    "staff.promote": "made staff of",
    "staff.update": "changed the member of the staff",
    "throttle.unblock": "unblocked the address",
    "tokens.deactivate_all": "ended every session of",
    "user.activate": "let in again",
    "user.create": "made the account",
    "user.deactivate": "locked out",
    "user.join": "put into a group",
    "user.link": "linked to single sign-on",
    "user.promote": "made staff of",
    "user.sign_out": "signed out everywhere",
    "user.sync": "brought up to date from the provider",
    "user.unlink": "removed an unverified SSO identity of",
    "webhook.confirm": "confirmed the webhook",
    "webhook.create": "made the webhook",
    "webhook.delete": "deleted the webhook",
    "webhook.disable": "switched off the webhook",
    "webhook.replay": "replayed deliveries of",
    "webhook.trigger": "sent by hand to",
    "webhook.update": "changed the webhook",
}
_SWITCHES = {
    ("password_login_mode", "ENABLED"): "allowed passwords for everyone",
    ("password_login_mode", "CUSTOMERS_ONLY"): "kept passwords for customers only",
    ("password_login_mode", "DISABLED"): "turned off password login",
    ("allow_storefront_traffic", True): "opened the storefront",
    ("allow_storefront_traffic", False): "closed the storefront",
}
_WHO = {"operator": "Whoever runs the server", "worker": "Latchkey", "anonymous": "Somebody"}


def who_did(entry: AuditEntry) -> str:
    """Who made the change, as people call them."""
    return _WHO.get(entry.actor_kind, entry.actor_name)


def what_was_done(entry: AuditEntry) -> str:
    """What they did, in words; the name of an action that has none yet stays as it is."""
    if entry.action == "shop.update":
        told = [_SWITCHES[key] for key in entry.after.items() if key in _SWITCHES]
        if told:
            return " and ".join(told)
    return _DID.get(entry.action, entry.action.replace(".", " ").replace("_", " "))


def done_to(entry: AuditEntry) -> str:
    """To what; empty where the words have said it."""
    if entry.action.startswith(("shop.", "keys.", "demo.")):
        return ""
    return f"#{entry.subject_name}" if entry.action.startswith("order.") else entry.subject_name
