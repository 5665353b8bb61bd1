"""Rate limits by client IP: every limit of the service, and who is counted as one client."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_network

from app.domain.values.ip_addresses import Network, parse_address

TRUSTED_FACTOR = 100
"""How many times as much a client of ``RATE_LIMIT_TRUSTED_CLIENTS`` can do."""

UNKNOWN_CLIENT = "unknown"
"""Callers whose IP address cannot be told are counted together, as one client."""

OFF = "off"

_IPV6_PREFIX = 64
_RATE = re.compile(r"(\d{1,9})/(second|minute|hour|day)")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many uses per ``unit``, the name of a unit of time."""

    times: int
    unit: str

    @property
    def text(self) -> str:
        """As settings and the ``limits`` library spell it."""
        return f"{self.times}/{self.unit}"


Rates = tuple[Rate, ...]
"""Rates that all hold at once; none: unlimited."""


def parse_rates(text: str) -> Rates:
    """The rates that ``text`` spells, for example ``20/minute;200/hour``, or ``off`` for none.

    Raises ``ValueError`` for anything else.
    """
    if text.strip().lower() == OFF:
        return ()
    found = [_RATE.fullmatch(part.strip().lower()) for part in text.split(";")]
    rates = tuple(Rate(int(match[1]), match[2]) for match in found if match is not None)
    if len(rates) != len(found) or any(rate.times < 1 for rate in rates):
        raise ValueError(f"{text!r} must look like 20/minute or 20/minute;200/hour, or be off")
    return rates


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A limit per client, and its purpose."""

    rates: Rates
    purpose: str


def _limit(rates: str, purpose: str) -> RateLimit:
    return RateLimit(parse_rates(rates), purpose)


API_LIMITS: Mapping[str, RateLimit] = {
    "accountRegister": _limit("20/minute;200/hour", "Hashes a password and sends an email."),
    "confirmAccount": _limit("30/minute;300/hour", "Looks up a token."),
    "setPassword": _limit("30/minute;300/hour", "Hashes a password and starts a session."),
    "secondFactorVerify": _limit("30/minute;300/hour", "Can compare a recovery code."),
    "passkeyChallengeCreate": _limit("120/minute;2000/hour", "Stores a challenge."),
    "passkeyVerify": _limit("60/minute;1000/hour", "Verifies a signature."),
    "secondFactorChallengeCreate": _limit("60/minute;600/hour", "Stores a challenge."),
    "emailCodeRequest": _limit("20/minute;100/hour", "Sends an email."),
    "emailCodeVerify": _limit("30/minute;300/hour", "Compares a code."),
    "requestPasswordReset": _limit("20/minute;100/hour", "Sends an email."),
    "passwordChange": _limit("30/minute;300/hour", "Hashes two passwords."),
    "requestEmailChange": _limit("20/minute;100/hour", "Hashes a password, sends an email."),
    "sendConfirmationEmail": _limit("20/minute;100/hour", "Sends an email."),
    "accountRequestDeletion": _limit("20/minute;100/hour", "Sends an email."),
    "userAvatarUpdate": _limit("30/minute;300/hour", "Decodes and resizes a picture."),
    "externalAuthenticationUrl": _limit("120/minute;2000/hour", "Stores a sign-in."),
    "externalObtainAccessTokens": _limit(
        "120/minute;2000/hour", "Calls the identity provider and starts a session."
    ),
    "externalRefresh": _limit("300/minute;6000/hour", "Calls the identity provider."),
    "externalLogout": _limit("120/minute;2000/hour", "Ends a session."),
    "checkoutCreate": _limit("120/minute;2000/hour", "Stores a checkout."),
    "checkoutLinesAdd": _limit("300/minute;6000/hour", "Changes a checkout."),
    "checkoutLinesUpdate": _limit("300/minute;6000/hour", "Changes a checkout."),
    "checkoutLinesDelete": _limit("300/minute;6000/hour", "Changes a checkout."),
    "checkoutEmailUpdate": _limit("120/minute;2000/hour", "Changes a checkout."),
    "checkoutComplete": _limit("120/minute;2000/hour", "Places an order."),
}
"""Mutations, by field name, that cost something and that everybody can reach.

Apps and staff are counted by ``CALLER_LIMITS`` instead. ``tokenCreate`` has the login
throttle; ``tokenRefresh``, ``tokenVerify``, ``externalVerify`` and ``appTokenVerify`` check a
token and store nothing for strangers.
"""

CONSOLE_FORM = "console.form"
HOSTED_FORM = "hosted.form"

PAGE_LIMITS: Mapping[str, RateLimit] = {
    "static": _limit("6000/minute", "Sends a file."),
    "media.avatar": _limit("6000/minute", "Reads a picture."),
    "media.logo": _limit("6000/minute", "Reads a picture."),
    "playground": _limit("60/minute", "Renders the playground."),
    "backchannel.log_out": _limit("600/minute", "Verifies a logout token and ends sessions."),
    "demo_provider.token": _limit("600/minute", "Signs tokens; in development only."),
    "console.sign_in.index": _limit("60/minute;1000/hour", "Hashes a password."),
    "console.sign_in.begin": _limit("60/minute;1000/hour", "Stores a sign-in."),
    "console.sign_in.finish": _limit("60/minute;1000/hour", "Calls the identity provider."),
    "console.sign_in.passkey_options": _limit("60/minute;1000/hour", "Stores a challenge."),
    "console.sign_in.with_passkey": _limit("60/minute;1000/hour", "Verifies a signature."),
    "console.sign_in_code.index": _limit("30/minute;300/hour", "Can compare a code's hash."),
    "console.sign_in_code.use_passkey": _limit("60/minute;1000/hour", "Verifies a signature."),
    "console.sign_in_code.passkey_options": _limit(
        "60/minute;1000/hour", "Stores a passkey's challenge."
    ),
    "console.sign_in.proof_options": _limit("60/minute", "Stores a passkey's challenge."),
    "console.sign_in.prove": _limit("30/minute;300/hour", "Hashes a password."),
    "console.passwords.forgotten": _limit("20/minute;100/hour", "Sends an email."),
    "console.passwords.choose": _limit("30/minute;300/hour", "Hashes a password."),
    "console.account.save_password": _limit("30/minute;300/hour", "Hashes two passwords."),
    "console.account.ask_for_email": _limit(
        "20/minute;100/hour", "Hashes a password and sends an email."
    ),
    "console.account.save_picture": _limit("30/minute;300/hour", "Decodes and resizes a picture."),
    "console.second_factors.confirm": _limit("30/minute;300/hour", "Hashes ten recovery codes."),
    "console.second_factors.new_codes": _limit(
        "10/minute;60/hour", "Hashes ten recovery codes and sends an email."
    ),
    "console.device.index": _limit("30/minute;300/hour", "Looks up a code that a device shows."),
    "oauth.token": _limit("6000/minute", "Signs tokens."),
    "oauth.introspect": _limit("12000/minute", "Verifies a token."),
    "oauth.revoke": _limit("6000/minute", "Ends a grant."),
    "oauth.userinfo": _limit("6000/minute", "Reads a person."),
    "oauth.device_authorization": _limit("60/minute;1000/hour", "Stores codes of a device."),
    "oauth.device": _limit("30/minute;300/hour", "Looks up a code that a device shows."),
    "oauth.consent": _limit("60/minute;1000/hour", "Stores a consent and a code."),
    "hosted.sign_in.index": _limit("30/minute;300/hour", "Can send a code by email."),
    "hosted.sign_in.password": _limit("60/minute;1000/hour", "Hashes a password."),
    "hosted.sign_in.code": _limit("30/minute;300/hour", "Compares a code by email."),
    "hosted.sign_in.passkey_options": _limit("60/minute;1000/hour", "Stores a challenge."),
    "hosted.sign_in.with_passkey": _limit("60/minute;1000/hour", "Verifies a signature."),
    "hosted.sign_in.begin": _limit("60/minute;1000/hour", "Stores a sign-in."),
    "hosted.sign_in.finish": _limit("60/minute;1000/hour", "Calls the identity provider."),
    "hosted.sign_in.factor": _limit("30/minute;300/hour", "Can compare a code's hash."),
    "hosted.sign_in.factor_passkey": _limit("60/minute;1000/hour", "Verifies a signature."),
    "hosted.sign_in.factor_options": _limit("60/minute;1000/hour", "Stores a challenge."),
    "hosted.passwords.register": _limit(
        "20/minute;200/hour", "Hashes a password or asks for a code; sends an email."
    ),
    "hosted.passwords.confirm": _limit("30/minute;300/hour", "Looks up a token."),
    "hosted.passwords.forgotten": _limit("20/minute;100/hour", "Sends an email."),
    "hosted.passwords.choose": _limit("30/minute;300/hour", "Hashes a password."),
    "hosted.account.password": _limit("30/minute;300/hour", "Hashes two passwords."),
    "hosted.account.email": _limit("20/minute;100/hour", "Hashes a password and sends an email."),
    "hosted.account.confirm_email": _limit("30/minute;300/hour", "Looks up a token."),
    "hosted.account.new_passkey": _limit("60/minute", "Verifies a signature."),
    HOSTED_FORM: _limit("300/minute", "Every other form of the hosted pages, together."),
    "console.audit.export": _limit("20/minute", "Reads the audit log."),
    "console.search.index": _limit("600/minute", "Searches all lists."),
    "console.search.find": _limit("600/minute", "Searches all lists or verifies a token."),
    "console.dry_run.run": _limit("120/minute", "Runs a subscription query."),
    "console.webhook_editing.preview": _limit("240/minute", "Runs a subscription query."),
    "console.webhook_editing.check": _limit("600/minute", "Validates a subscription query."),
    "console.webhooks.test": _limit("60/minute", "Sends a delivery."),
    "console.events.send": _limit("60/minute", "Sends a delivery."),
    "console.inspector.index": _limit("60/minute", "Verifies a token."),
    "console.app_installation.index": _limit("60/minute", "Fetches a manifest."),
    "console.provider_editing.discover": _limit("60/minute", "Calls an identity provider."),
    "console.provider_checks.preview": _limit("60/minute", "Calls an identity provider."),
    "console.provider_checks.test": _limit("60/minute", "Calls an identity provider."),
    "console.staff.invitations.index": _limit("60/minute;600/hour", "Sends an email."),
    "console.emails.send_test": _limit("10/minute;60/hour", "Sends an email."),
    "console.mail_templates.send_test": _limit("10/minute;60/hour", "Sends an email."),
    "console.emails.save_logo": _limit("30/minute;300/hour", "Decodes and resizes a picture."),
    "console.mails.resend": _limit("60/minute;600/hour", "Sends an email."),
    "console.account_actions.send_link": _limit("60/minute;600/hour", "Sends an email."),
    CONSOLE_FORM: _limit("300/minute", "Every other form of the console, taken together."),
}
"""Pages and forms, by endpoint name. Where there is a form, sending it is counted."""

CUSTOMER_MUTATIONS = "mutations.customer"
STAFF_MUTATIONS = "mutations.staff"
APP_MUTATIONS = "mutations.app"

CALLER_LIMITS: Mapping[str, RateLimit] = {
    CUSTOMER_MUTATIONS: _limit("300/minute;6000/hour", "Changes of one customer."),
    STAFF_MUTATIONS: _limit("1200/minute", "Changes of one staff member."),
    APP_MUTATIONS: _limit("12000/minute", "Changes of one app."),
}
"""All mutations of one signed-in person or one app, taken together, from wherever they come."""

EXTERNAL_TOKEN = "externalToken"
IMPORTED_TOKEN = "importedToken"
RESET_EMAIL = "requestPasswordReset.email"
CODE_EMAIL = "emailCodeRequest.email"
DEVICE_CODE = "oauth.device.person"

OTHER_LIMITS: Mapping[str, RateLimit] = {
    EXTERNAL_TOKEN: _limit(
        "120/minute;2000/hour",
        "Asks an identity provider about an opaque access token that was never seen before.",
    ),
    IMPORTED_TOKEN: _limit(
        "60/minute;2000/hour",
        "Compares a token with the password hash of an imported app token, before that "
        "token's first use here.",
    ),
    RESET_EMAIL: _limit(
        "20/minute",
        "Per email, from all clients together: further requests for a link are dropped.",
    ),
    CODE_EMAIL: _limit(
        "20/minute",
        "Per email, from all clients together: further requests for a code are dropped.",
    ),
    DEVICE_CODE: _limit("10/minute;60/hour", "Per person: codes that devices show."),
}
"""What is counted elsewhere than at a mutation or a page."""

RATE_LIMITS: Mapping[str, RateLimit] = {
    **API_LIMITS,
    **CALLER_LIMITS,
    **PAGE_LIMITS,
    **OTHER_LIMITS,
}
"""Every limit with its default, by the name under which ``RATE_LIMITS`` changes it."""


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """The limits in force: the defaults, what the settings change, and the trusted clients."""

    changed: Mapping[str, Rates] = field(default_factory=dict)
    trusted_clients: Sequence[Network] = ()

    def rates(self, name: str, address: str | None) -> Rates:
        """The rates of the limit ``name`` for the client at ``address``; none if unlimited."""
        changed = self.changed.get(name)
        rates = RATE_LIMITS[name].rates if changed is None else changed
        if not self._is_trusted(address):
            return rates
        return tuple(Rate(rate.times * TRUSTED_FACTOR, rate.unit) for rate in rates)

    def _is_trusted(self, address: str | None) -> bool:
        if not self.trusted_clients or address is None:
            return False
        parsed = parse_address(address)
        return parsed is not None and any(parsed in client for client in self.trusted_clients)


def client_of(address: str | None) -> str:
    """Return the client of an address: the IPv4 address, or the /64 network of an IPv6 one.

    A client usually has 2^64 IPv6 addresses.
    """
    parsed = None if address is None else parse_address(address)
    if parsed is None:
        return UNKNOWN_CLIENT
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, _IPV6_PREFIX), strict=False))
    return str(parsed)
