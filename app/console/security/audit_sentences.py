"""Entries of the audit log as sentences."""

from app.domain.audit import AuditEntry
from app.domain.values.text import translatable
from app.web.translation import text

_DID = {
    "account.avatar": translatable("changed the avatar of"),
    "account.confirm": translatable("confirmed the account"),
    "account.delete": translatable("deleted their own account"),
    "account.deletion_request": translatable("requested to delete the account"),
    "account.email_change": translatable("changed the email of"),
    "account.email_change_request": translatable("requested another email for"),
    "account.register": translatable("registered"),
    "account.secure": translatable("reported an unknown change and secured the account"),
    "account.update": translatable("edited the account"),
    "address.create": translatable("added an address to the account"),
    "address.delete": translatable("deleted an address of"),
    "address.set_default": translatable("changed the default address of"),
    "address.update": translatable("edited an address of"),
    "app.activate": translatable("activated the app"),
    "app.create": translatable("created the app"),
    "app.deactivate": translatable("deactivated the app"),
    "app.delete": translatable("deleted the app"),
    "app.problem_dismiss": translatable("dismissed problems of the app"),
    "app.install": translatable("installed the app"),
    "app.update": translatable("edited the app"),
    "app_installation.ask": translatable("started installing"),
    "app_installation.delete": translatable("dismissed the installation of"),
    "app_installation.fail": translatable("failed to install"),
    "app_installation.retry": translatable("retried installing"),
    "app_client.link": translatable("linked a client to"),
    "app_client.unlink": translatable("unlinked a client of"),
    "app_token.create": translatable("created a token for"),
    "app_token.revoke": translatable("revoked a token of"),
    "app_token.rotate": translatable("replaced a token of"),
    "audit.prune": translatable("deleted old entries of the audit log"),
    "channel.create": translatable("created the channel"),
    "channel.delete": translatable("deleted the channel"),
    "channel.update": translatable("edited the channel"),
    "channel.update_metadata": translatable("edited the metadata of"),
    "checkout.attach": translatable("attached a cart to"),
    "customer.create": translatable("created the customer"),
    "customer.delete": translatable("deleted the customer"),
    "customer.invite": translatable("sent an invitation to"),
    "customer.update": translatable("edited the customer"),
    "delivery.retry": translatable("resent the delivery"),
    "demo.fill": translatable("loaded demo data"),
    "export.create": translatable("exported data of the installation"),
    "group.create": translatable("created the group"),
    "group.delete": translatable("deleted the group"),
    "group.update": translatable("edited the group"),
    "import.finish": translatable("finished the import from"),
    "import.run": translatable("imported data from"),
    "keys.create": translatable("created a signing key"),
    "keys.forget": translatable("deleted a signing key"),
    "keys.rotate": translatable("rotated the signing key"),
    "keys.withdraw": translatable("withdrew a signing key"),
    "oauth_client.create": translatable("created the OAuth client"),
    "oauth_client.delete": translatable("deleted the OAuth client"),
    "oauth_client.rotate_secret": translatable("replaced the secret of"),
    "oauth_client.update": translatable("edited the OAuth client"),
    "oauth_consent.allow": translatable("connected a program to the account of"),
    "oauth_consent.revoke": translatable("disconnected a program from the account of"),
    "app.update_metadata": translatable("edited the metadata of"),
    "user.update_metadata": translatable("edited the metadata of"),
    "mail.retry": translatable("retried the email"),
    "mail.test": translatable("sent a test email to"),
    "mail_template.reset": translatable("went back to the default of the email template"),
    "mail_template.save": translatable("saved the email template"),
    "order.cancel": translatable("cancelled the order"),
    "order.confirm": translatable("confirmed the order"),
    "order.fulfill": translatable("fulfilled the order"),
    "order.pay": translatable("recorded the payment of the order"),
    "password.change": translatable("changed the password of"),
    "password.reset_link": translatable("sent a password link to"),
    "password.set": translatable("set the password of"),
    "product.create": translatable("created the product"),
    "product.delete": translatable("deleted the product"),
    "product.update": translatable("edited the product"),
    "provider.confirm": translatable("confirmed the settings of the identity provider"),
    "provider.create": translatable("added the identity provider"),
    "provider.update": translatable("edited the identity provider"),
    "recovery_codes.replace": translatable("replaced the recovery codes of"),
    "recovery_codes.use": translatable("used a recovery code of"),
    "second_factor.add": translatable("added a second factor to"),
    "second_factor.cloned": translatable("tried a copied passkey of"),
    "second_factor.remove": translatable("removed a second factor of"),
    "second_factor.rename": translatable("renamed a passkey of"),
    "second_factor.replace": translatable("moved the authenticator app of"),
    "second_factor.reset": translatable("reset the second factors of"),
    "session.end": translatable("ended a session of"),
    "session.end_others": translatable("ended all other sessions of"),
    "shop.dismiss_setup": translatable("dismissed the setup checklist of"),
    "shop.address": translatable("changed the company address of"),
    "shop.update_metadata": translatable("edited the metadata of"),
    "shop.logo": translatable("changed the logo in emails"),
    "shop.update": translatable("edited the settings of"),
    "staff.create": translatable("created the staff member"),
    "staff.delete": translatable("deleted the staff member"),
    "staff.invite": translatable("sent an invitation to"),
    "staff.invite_link": translatable("created an invitation link for"),
    "staff.promote": translatable("gave staff status to"),
    "staff.update": translatable("edited the staff member"),
    "throttle.unblock": translatable("unblocked the IP address"),
    "tokens.deactivate_all": translatable("ended every session of"),
    "user.activate": translatable("activated the account"),
    "user.create": translatable("created the account"),
    "user.deactivate": translatable("deactivated the account"),
    "user.erase": translatable("erased the data of"),
    "user.export": translatable("exported the data of"),
    "user.join": translatable("assigned a group to"),
    "user.link": translatable("linked an SSO identity to"),
    "user.promote": translatable("gave staff status to"),
    "user.sign_out": translatable("ended every session of"),
    "user.sync": translatable("synced the account"),
    "user.unblock": translatable("unblocked the account"),
    "user.unlink": translatable("removed an SSO identity of"),
    "webhook.confirm": translatable("confirmed the webhook"),
    "webhook.create": translatable("created the webhook"),
    "webhook.delete": translatable("deleted the webhook"),
    "webhook.disable": translatable("disabled the webhook"),
    "shop.resume": translatable("sent again what was held"),
    "webhook.replay": translatable("replayed deliveries of"),
    "webhook.send_waiting": translatable("sent waiting deliveries of"),
    "webhook.trigger": translatable("triggered the webhook"),
    "webhook.update": translatable("edited the webhook"),
}
_SWITCHES = {
    ("password_login_mode", "ENABLED"): translatable("allowed password login for everyone"),
    ("password_login_mode", "CUSTOMERS_ONLY"): translatable("limited password login to customers"),
    ("password_login_mode", "DISABLED"): translatable("turned off password login"),
    ("allow_storefront_traffic", True): translatable("opened the storefront"),
    ("allow_storefront_traffic", False): translatable("closed the storefront"),
    ("staff_second_factor", "OPTIONAL"): translatable("made a second factor optional for staff"),
    ("staff_second_factor", "REQUIRED"): translatable("required a second factor for staff"),
}
_UNNAMED = {
    "delivery.retry": translatable("resent deliveries"),
    "password.reset_link": translatable("sent a password link"),
    "session.end": translatable("ended a session"),
    "session.end_others": translatable("ended all other sessions"),
    "tokens.deactivate_all": translatable("ended all sessions"),
    "user.sign_out": translatable("ended all sessions"),
    "webhook.replay": translatable("replayed deliveries"),
    "webhook.send_waiting": translatable("sent waiting deliveries"),
}
"""The words of actions whose entry doesn't name the subject."""

_WHO = {
    "operator": translatable("Server administrator"),
    "worker": "Latchkey",
    "anonymous": translatable("Anonymous visitor"),
}
_SUBJECTS = {
    "App": translatable("App"),
    "Group": translatable("Group"),
    "Order": translatable("Order"),
    "Product": translatable("Product"),
    "Shop": translatable("Shop"),
    "Address": translatable("IP address"),
    "AppInstallation": translatable("App installation"),
    "AppToken": translatable("App token"),
    "EventDelivery": translatable("Delivery"),
    "IdentityProvider": translatable("Identity provider"),
    "Mail": translatable("Email"),
    "SigningKey": translatable("Signing key"),
    "User": translatable("Account"),
}


def who_did(entry: AuditEntry) -> str:
    """Return who made the change."""
    return text(_WHO[entry.actor_kind]) if entry.actor_kind in _WHO else entry.actor_name


def what_was_done(entry: AuditEntry) -> str:
    """Return what they did in words; an unknown action is returned as its name."""
    if entry.action == "shop.update":
        switched = [text(_SWITCHES[key]) for key in entry.after.items() if key in _SWITCHES]
        if len(switched) > 1:
            return text("{first} and {second}", first=switched[0], second=switched[1])
        if switched:
            return switched[0]
    if not entry.subject_name and entry.action in _UNNAMED:
        return text(_UNNAMED[entry.action])
    if entry.action in _DID:
        return text(_DID[entry.action])
    return entry.action.replace(".", " ").replace("_", " ")


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
    return text(_SUBJECTS[subject_type]) if subject_type in _SUBJECTS else subject_type
