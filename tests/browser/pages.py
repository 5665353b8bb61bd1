"""Every page of the console, told by the application itself: a new one is among them at once."""

from collections.abc import Iterator, Mapping

from flask import Flask
from werkzeug.routing import Rule

NO_KEYS: Mapping[str, int] = {}
SAMPLES = {
    "plugin_id": "nobody.authentication.openidconnect",
    "slug": "default",
    "address": "nowhere",
    "form": "csv",
    "submission": "unknown",
    "kind": "password_reset",
    "part": "html",
    "name": "accounts",
    "list_name": "apps",
}
"""What stands in an address where it is no number; numbers are keys, and everything has a 1."""

LEAD_AWAY = (
    *("console.sign_in.begin", "console.sign_in.finish", "console.unknown_page", "console.moved"),
    "console.not_me.confirm",
    *("console.emails.framed", "console.mail_templates.framed"),
    *("console.emails.index", "console.creations.show", "console.account_actions.show"),
    *("console.account.follow", "console.not_me.follow", "console.passwords.follow"),
    *("console.sign_in.index", "console.sign_in_code.index", "console.sign_in_code.use_passkey"),
)
"""Ways to and from an identity provider, what answers for addresses that are none, the page of a
link that only an email has: without it, the page isn't found; an email in a frame; and what leads
somebody who is signed in to another page."""


def page_addresses(app: Flask, keys: Mapping[str, int] = NO_KEYS) -> Iterator[str]:
    """An address for each rule below ``/console/`` that answers GET, except files to download."""
    for rule in app.url_map.iter_rules():
        of_the_console = rule.rule.startswith("/console/") and rule.endpoint not in LEAD_AWAY
        is_file = rule.rule.endswith(".csv")
        if of_the_console and not is_file and "GET" in (rule.methods or ()):
            yield address_of(app, rule, keys)


def address_of(app: Flask, rule: Rule, keys: Mapping[str, int] = NO_KEYS) -> str:
    """An address that the rule matches; a name without a sample is an error.

    ``keys`` are those of the page groups whose first row has another key than 1.
    """
    group = rule.endpoint.split(".")[1]
    values = {
        name: SAMPLES[name] if name in SAMPLES else keys.get(group, 1) for name in rule.arguments
    }
    return app.url_map.bind("localhost").build(rule.endpoint, values)
