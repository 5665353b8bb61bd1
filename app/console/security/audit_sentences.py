"""Entries of the audit log in words: as sentences, and each recorded field with its values.

``FIELDS`` knows every recorded field; ``tests/fixtures/audit_fields.py`` checks what tests write.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from babel import Locale

from app.console.frame.formatting import capitalize_first, exact, permission_label, setting_text
from app.console.people.person_page import FACTOR_TYPES
from app.domain.audit import REFERENCES, AuditEntry, Names
from app.domain.commerce.sales import OrderStatus
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.domain.imports.exports import Section
from app.domain.keys import KeyState
from app.domain.mails.mail import KIND_LABELS, MailSender
from app.domain.shop.setting_table import SETTINGS as SHOP_SETTINGS
from app.domain.shop.setting_table import SettingKind
from app.domain.shop.settings import PasswordLoginMode, StaffSecondFactor
from app.domain.single_sign_on.group_mapping import describe_group_mapping
from app.domain.single_sign_on.provider_settings import SETTINGS as PROVIDER_SETTINGS
from app.domain.single_sign_on.provider_settings import SettingType
from app.domain.values.text import Sentence, translatable
from app.web.translation import enumeration, language_name, page_language, reason_text, text

ACTIONS = {
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
    "address.update_metadata": translatable("edited the metadata of an address of"),
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
    "oauth_client.logout_failed": translatable("could not report an ended session to"),
    "oauth_client.rotate_secret": translatable("replaced the secret of"),
    "oauth_client.update": translatable("edited the OAuth client"),
    "oauth_consent.allow": translatable("connected a program to the account of"),
    "oauth_consent.allow_device": translatable("let in a device for the account of"),
    "oauth_consent.deny_device": translatable("refused a device for the account of"),
    "oauth_consent.revoke": translatable("disconnected a program from the account of"),
    "app.update_metadata": translatable("edited the metadata of"),
    "user.update_metadata": translatable("edited the metadata of"),
    "mail.retry": translatable("retried the email"),
    "mail.test": translatable("sent a test email to"),
    "mail_template.reset": translatable("went back to the default of the email template"),
    "mail_template.save": translatable("saved the email template"),
    "order.cancel": translatable("canceled the order"),
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
    "shop.dismiss_setup": translatable("dismissed the setup checklist"),
    "shop.address": translatable("changed the company address"),
    "shop.update_metadata": translatable("edited the metadata of the shop"),
    "shop.logo": translatable("changed the logo in emails"),
    "shop.update": translatable("edited the settings of the shop"),
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
    "user.keep_groups": translatable("kept the groups of"),
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
    "webhook.fail": translatable("noticed failures of the webhook"),
    "webhook.recover": translatable("noticed the recovery of the webhook"),
    "shop.resume": translatable("resumed held deliveries"),
    "webhook.replay": translatable("replayed deliveries of"),
    "webhook.send_waiting": translatable("sent waiting deliveries of"),
    "webhook.trigger": translatable("triggered the webhook"),
    "webhook.update": translatable("edited the webhook"),
}
"""What is done by the action that a use case records."""

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
    "Webhook": translatable("Webhook"),
    "MailTemplate": translatable("Email template"),
    "Import": translatable("Import"),
    "Export": translatable("Export"),
    "Channel": translatable("Channel"),
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


_NEEDS_A_NAME = ("to", "of", "for", "from")
"""The last words of actions that say nothing without their subject."""


def who_did(entry: AuditEntry) -> str:
    """Return who made the change; for a request of an identity provider, the provider."""
    provider = entry.after.get("provider")
    if entry.actor_kind == "anonymous" and isinstance(provider, str):
        return provider
    return text(_WHO[entry.actor_kind]) if entry.actor_kind in _WHO else entry.actor_name


def what_was_done(entry: AuditEntry) -> str:
    """Return what they did in words; an unknown action is returned as its name."""
    if entry.action == "shop.update":
        switched = [text(_SWITCHES[key]) for key in _SWITCHES if entry.after.get(key[0]) == key[1]]
        if switched:
            return enumeration(switched)
    if not entry.subject_name and entry.action in _UNNAMED:
        return text(_UNNAMED[entry.action])
    if entry.action in ACTIONS:
        return text(ACTIONS[entry.action])
    return entry.action.replace(".", " ").replace("_", " ")


def done_to(entry: AuditEntry) -> str:
    """Return what the action was done to; empty where ``what_was_done`` says it all."""
    if entry.action.startswith(("shop.", "keys.", "demo.")):
        return ""
    if entry.action.startswith("order.") and entry.subject_name:
        return text("#{number}", number=entry.subject_name)
    if not entry.subject_name and ACTIONS.get(entry.action, "").endswith(_NEEDS_A_NAME):
        if entry.action in _UNNAMED:
            return ""
        kind = subject_kind(entry.subject_type)
        return text("{kind} {id}", kind=kind, id=entry.subject_id)
    return named_subject(entry)


def act(entry: AuditEntry) -> str:
    """Return what was done, and to what, as a title: ``Edited the app Labels``."""
    action, subject = capitalize_first(what_was_done(entry)), done_to(entry)
    return text("{action} {subject}", action=action, subject=subject) if subject else action


def sentence(entry: AuditEntry) -> str:
    """Return the entry as one sentence: who, what and to what."""
    values = {"actor": who_did(entry), "action": what_was_done(entry), "subject": done_to(entry)}
    if not values["subject"]:
        return text("{actor} {action}", **values)
    return text("{actor} {action} {subject}", **values)


def subject_kind(subject_type: str) -> str:
    """Return what a type of subjects is called on pages."""
    return text(_SUBJECTS[subject_type]) if subject_type in _SUBJECTS else subject_type


def named_subject(entry: AuditEntry) -> str:
    """Return the subject's name, in words where it is the name of a kind."""
    if entry.subject_type == "EventDelivery":
        return _event(entry.subject_name)
    if entry.subject_type == "Mail":
        return text(entry.subject_name) if entry.subject_name else ""
    if entry.subject_type == "MailTemplate":
        language, _, kind = entry.subject_id.rpartition("/")
        label = text(KIND_LABELS[kind]) if kind in KIND_LABELS else entry.subject_name
        values = {"template": label, "language": language_name(language)}
        return text("{template} ({language})", **values) if language else label
    return entry.subject_name


_Format = Callable[[object], str]
_plain: _Format = setting_text
"""What shows a text that people entered, a number, or a switch."""


def _moment(value: object) -> str:
    """Return a time in the reader's zone; Unix seconds were recorded once."""
    if isinstance(value, (int, float)):
        return exact(datetime.fromtimestamp(value, UTC))
    return exact(datetime.fromisoformat(value)) if isinstance(value, str) and value else ""


def _word(value: object) -> str:
    label = _WORDS.get(value) if isinstance(value, str) else None
    return capitalize_first(text(label)) if label else setting_text(value)


def _words(value: object) -> str:
    """Return several words, also of a text with commas between them."""
    items = value.split(", ") if isinstance(value, str) else value
    return _listed(_word(one) for one in items) if isinstance(items, list) else ""


def _switch(value: object) -> str:
    """Return a switch that is stored as a text."""
    return setting_text(value == "true" if isinstance(value, str) else value)


def _fact(value: object) -> str:
    """Return whether something is so: what isn't a switch is neither on nor off."""
    if not isinstance(value, bool):
        return setting_text(value)
    return text("Yes") if value else text("No")


def _reason(value: object) -> str:
    """Return a sentence that was stored in English."""
    return reason_text(value) if isinstance(value, str) else setting_text(value)


def _format_list(show: Callable[[str], str]) -> _Format:
    """Return what shows several texts, each by ``show``."""
    return lambda value: (
        _listed(show(str(one)) for one in value)
        if isinstance(value, list)
        else setting_text(value)
    )


_listed: Callable[[Iterable[str]], str] = ", ".join
_permissions, _texts = _format_list(permission_label), _format_list(str)
_reasons = _format_list(reason_text)  # stored in English


def _secret(value: object) -> str:
    is_another = isinstance(value, str) and bool(value.strip("*"))
    return text("another secret") if is_another else setting_text(value)


def _language(value: object) -> str:
    return language_name(value) if isinstance(value, str) else ""


def _country(value: object) -> str:
    return str(Locale.parse(page_language()).territories.get(str(value), value))


def _events(value: object) -> str:
    return _listed(map(_event, map(str, value if isinstance(value, list) else [value])))


def _event(name: str) -> str:
    return text(EventType(name).label) if name in EventType.__members__ else name


def _field_names(value: object) -> str:
    return _listed(field_label(str(one)) for one in value) if isinstance(value, list) else ""


def _referred(kind: str, value: object, names: Names) -> str:
    """Return the names of records by their keys."""
    keys = value if isinstance(value, list) else [value]
    return _listed(_named(kind, key, names) for key in keys)


def _named(kind: str, key: object, names: Names) -> str:
    if isinstance(key, dict):  # a deletion keeps what it had as it was
        return str(key.get("name") or key.get("id"))
    if (kind, key) in names:
        return names[kind, key] or str(key)
    return text("{id} (deleted)", id=str(key))


@dataclass(frozen=True, slots=True)
class Field:
    """What a recorded field is called, and how its values are shown."""

    label: Sentence
    format: _Format = _plain


def field_label(name: str) -> str:
    """Return the label of a recorded field; an unknown one is shown by its name."""
    known = FIELDS.get(name)
    return text(known.label) if known else capitalize_first(name.replace("_", " ").lower())


def field_value(name: str, value: object, names: Names) -> str:
    """Return a recorded value in words; empty for none."""
    if value is None:
        return ""
    if isinstance(value, dict):
        counts = {key: count for key, count in value.items() if isinstance(count, int) and count}
        return _listed(f"{field_label(key)}: {count}" for key, count in counts.items())
    if name in REFERENCES:
        return _referred(REFERENCES[name], value, names)
    return FIELDS[name].format(value) if name in FIELDS else setting_text(value)


_WORDS: Mapping[str, Sentence] = {
    **KIND_LABELS,
    OrderStatus.UNCONFIRMED: translatable("Unconfirmed"),
    OrderStatus.UNFULFILLED: translatable("Unfulfilled"),
    OrderStatus.FULFILLED: translatable("Fulfilled"),
    OrderStatus.CANCELED: translatable("Canceled"),
    DeliveryStatus.PENDING: translatable("Pending"),
    DeliveryStatus.SUCCESS: translatable("Delivered"),
    DeliveryStatus.FAILED: translatable("Failed"),
    PasswordLoginMode.ENABLED: translatable("Enabled"),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable("Customers only"),
    PasswordLoginMode.DISABLED: translatable("Disabled"),
    StaffSecondFactor.OPTIONAL: translatable("Optional"),
    StaffSecondFactor.REQUIRED: translatable("Required"),
    MailSender.OURS: translatable("This shop"),
    MailSender.APP: translatable("An app"),
    MailSender.BOTH: translatable("Both"),
    **FACTOR_TYPES,
    KeyState.NEXT: translatable("next"),
    KeyState.ACTIVE: translatable("active"),
    KeyState.RETIRED: translatable("retired"),
    KeyState.WITHDRAWN: translatable("withdrawn"),
    "billing": translatable("Billing address"),
    "shipping": translatable("Shipping address"),
    "deliveries": translatable("Deliveries"),
    "emails": translatable("Emails"),
    "installations": translatable("App installations"),
    Section.SETTINGS: translatable("Settings"),
    Section.SSO: translatable("SSO"),
    Section.PEOPLE: translatable("People"),
    Section.STAFF: translatable("Staff"),
    Section.APPS: translatable("Apps"),
    Section.WEBHOOKS: translatable("Webhooks"),
    "edited": translatable("Edited, not saved"),
    "stored": translatable("Saved"),
    "default": translatable("Default"),
}
"""Recorded constants as words."""

_BY_KIND: Mapping[SettingKind | SettingType, _Format] = {
    SettingKind.MOMENT: _moment,
    SettingKind.LOGIN_MODE: _word,
    SettingKind.SECOND_FACTOR: _word,
    SettingKind.MAIL_SENDER: _word,
    SettingKind.LANGUAGE: _language,
    SettingType.BOOLEAN: _switch,
    SettingType.MULTILINE: describe_group_mapping,
    SettingType.SECRET: _secret,
}

FIELDS: Mapping[str, Field] = {
    **{one.name: Field(one.label, _BY_KIND.get(one.kind, _plain)) for one in SHOP_SETTINGS},
    **{one.name: Field(one.label, _BY_KIND.get(one.type, _plain)) for one in PROVIDER_SETTINGS},
    "active": Field("Active", _fact),
    "address": Field("Address"),
    "allows_devices": Field("Device codes"),
    "pairwise": Field("Pairwise subjects", _fact),
    "app": Field("App"),
    "app_extension": Field("App extensions"),
    "app_id": Field("App"),
    "app_token": Field("App tokens"),
    "authenticator_app": Field("Authenticator app"),
    "avatar": Field("Avatar"),
    "backchannel_logout_uri": Field("Back-channel logout URI"),
    "before": Field("Entries before", _moment),
    "blocked_until": Field("Blocked until", _moment),
    "changed": Field("Changed fields", _field_names),
    "channels": Field("Channels"),
    "checkout": Field("Cart"),
    "city": Field("City"),
    "client": Field("Program"),
    "city_area": Field("City area"),
    "company_name": Field("Company"),
    "count": Field("Number"),
    "country": Field("Country", _country),
    "country_area": Field("State or region"),
    "created": Field("Created"),
    "currency": Field("Currency"),
    "client_credentials_only": Field("Client credentials only", _fact),
    "contact_email": Field("Contact email"),
    "custom_headers": Field("Custom headers", _texts),
    "date_joined": Field("Created", _moment),
    "default_billing_address": Field("Default billing address"),
    "default_shipping_address": Field("Default shipping address"),
    "deliveries": Field("Deliveries", _texts),
    "device": Field("Device"),
    "email": Field("Email"),
    "emails": Field("Emails"),
    "entries": Field("Entries"),
    "exported": Field("Exported"),
    "ends": Field("Old token expires", _moment),
    "event": Field("Event", _events),
    "events": Field("Events", _events),
    "expires_at": Field("Expires", _moment),
    "external_identity": Field("Linked SSO accounts"),
    "external_reference": Field("External reference"),
    "failures": Field("Failed sign-ins"),
    "findings": Field("Findings"),
    "first_name": Field("First name"),
    "first_party": Field("First party", _fact),
    "group": Field("Group"),
    "groups": Field("Groups"),
    "has_note": Field("Has a note", _fact),
    "has_password": Field("Has password", _fact),
    "has_secret": Field("Has a secret", _fact),
    "id": Field("ID"),
    "identifier": Field("Identifier"),
    "identities_unlinked": Field("SSO identities unlinked"),
    "identity_provider": Field("Identity providers"),
    "installations": Field("App installations"),
    "is_active": Field("Active", _fact),
    "is_confirmed": Field("Email confirmed", _fact),
    "is_paid": Field("Paid", _fact),
    "is_paused": Field("Paused", _fact),
    "is_public": Field("Without a secret", _fact),
    "is_published": Field("Published", _fact),
    "is_staff": Field("Staff member", _fact),
    "is_superuser": Field("Superuser", _fact),
    "kept": Field("Kept"),
    "key_set": Field("Public keys"),
    "kind": Field("Email", _word),
    "known_failures": Field("Failed sign-ins of known devices"),
    "language": Field("Language", _language),
    "language_code": Field("Language", _language),
    "last_four": Field("Last four characters"),
    "last_login": Field("Last sign-in", _moment),
    "last_name": Field("Last name"),
    "left_out": Field("Left out"),
    "logo": Field("Logo"),
    "manifest_url": Field("Manifest URL"),
    "max_rate": Field("Maximum requests per second"),
    "message": Field("Message", _reason),
    "metadata": Field("Metadata", _texts),
    "name": Field("Name"),
    "next": Field("Next key"),
    "note": Field("Note"),
    "notice": Field("Reported email", _word),
    "oauth_client": Field("OAuth client"),
    "object_id": Field("Object ID"),
    "orders_moved_to": Field("Orders moved to"),
    "overlap_seconds": Field("Seconds the old secret works"),
    "passkey": Field("Passkey"),
    "passkeys": Field("Passkeys"),
    "passwords_waiting": Field("Passwords not used yet"),
    "people": Field("People"),
    "permissions": Field("Permissions", _permissions),
    "phone": Field("Phone"),
    "post_logout_redirect_uris": Field("Post-logout redirect URIs", _texts),
    "postal_code": Field("Postal code"),
    "price": Field("Price"),
    "private": Field("Private metadata", _texts),
    "private_metadata": Field("Private metadata", _texts),
    "problems": Field("Problems", _texts),
    "provider": Field("Identity provider"),
    "public": Field("Public metadata", _texts),
    "query": Field("Query"),
    "read": Field("Read"),
    "reason": Field("Reason", _reason),
    "recovery_codes": Field("Recovery codes"),
    "redirect_uris": Field("Redirect URIs", _texts),
    "removed": Field("Removed"),
    "response_status": Field("Response code"),
    "retrying": Field("Retrying"),
    "saved_by": Field("Saved by"),
    "scope": Field("Scopes", _permissions),
    "scopes": Field("Scopes", _permissions),
    "secrets_ended": Field("Secrets ended"),
    "sections": Field("Sections", _words),
    "sent": Field("Sent", _words),
    "session": Field("Session"),
    "sessions": Field("Sessions"),
    "sessions_ended": Field("Sessions ended"),
    "shop_settings": Field("Shop settings"),
    "since": Field("Since", _moment),
    "slug": Field("Slug"),
    "state": Field("Status", _word),
    "status": Field("Status", _word),
    "stopped": Field("Stopped", _reasons),
    "street_address_1": Field("Street"),
    "street_address_2": Field("Street, second line"),
    "subject": Field("Subject (sub)"),
    "subjects": Field("Subjects (sub)", _texts),
    "target_url": Field("Endpoint URL"),
    "template": Field("Template", _word),
    "text": Field("Text"),
    "time_zone": Field("Time zone"),
    "type": Field("Type", _word),
    "unchanged": Field("Unchanged"),
    "until": Field("Until", _moment),
    "updated": Field("Updated"),
    "updated_at": Field("Updated", _moment),
    "user": Field("People"),
    "users": Field("Members"),
    "version": Field("Version"),
    "webhook": Field("Webhooks"),
    "webhook_id": Field("Webhook"),
    "with_failed": Field("Failed deliveries"),
    "with_missing": Field("Missed events"),
    "with_secrets": Field("With secrets"),
}
