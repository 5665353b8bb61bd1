"""Every form of the console that edits something says what it showed, or saves nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from flask import Flask
from typing_extensions import override

from app.ports import Ports
from tests.console.populated_shop import ADMIN, open_console
from tests.console.route_requests import all_routes, records
from tests.console.staff_client import ConsoleClient

pytestmark = pytest.mark.first

EDITS_NOTHING = {
    "account.ask_for_email": "asks for another email, by a link",
    "account.save_password": "replaces what is never shown",
    "app_clients.link": "links a client",
    "app_installation.index": "fetches a manifest",
    "app_tokens.rotate": "says when the old token ends",
    "deliveries.redeliver_chosen": "chooses rows",
    "deliveries.replay": "chooses deliveries",
    "device.index": "looks up the code of a device",
    "dry_run.run": "runs a query",
    "events.send": "sends an event",
    "inspector.index": "reads a token",
    "emails.send_test": "sends an email",
    "passwords.choose": "sets what is never shown",
    "passwords.forgotten": "asks for a link",
    "provider_checks.preview": "reads a token",
    "provider_editing.new": "adds a provider",
    "second_factors.confirm": "confirms a code",
    "sign_in.prove": "asks for a proof",
    "staff.groups.add_member": "adds a member",
    "saved_filters.save": "saves a filter",
    "webhooks.test": "sends an event",
}
"""Forms with fields that change nothing that the page shows, and why."""

MUST_EDIT = {
    "access.set_storefront",
    "account.save_name",
    "apps.save_details",
    "apps.save_permissions",
    "channels.save",
    "company_address.save",
    "customers.save_details",
    "emails.save_look",
    "emails.save_sending",
    "mail_templates.save",
    "metadata.save_of_person",
    "oauth_clients.save_details",
    "oauth_clients.save_sign_in",
    "provider_editing.edit",
    "saved_filters.rename",
    "shop_settings.save",
    "shop_settings.set_second_factor",
    "staff.groups.save",
    "staff.save_groups",
    "webhook_editing.edit",
}
"""Forms that the walk must have found."""

DIALOGS = (
    "/console/access/?ask=storefront&open=false",
    "/console/deliveries/?status=failed&ask=edit-filter",
    "/console/settings/second-factor?ask=second-factor&factor=REQUIRED&grace=3",
)
"""Dialogs that no link leads to, but a form."""

_HIDDEN = ("hidden", "submit", "search", "file", "password", "button")
_ASKING = re.compile(r'href="(/console/[^"]*\b(?:ask|view|edit)=[^"]*)"')


@dataclass
class Form:
    """A form of a page: where it is sent, and its fields."""

    action: str
    edits: bool = False
    values: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class Forms(HTMLParser):
    """Reads the forms of a page that change something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._page = page
        self._open: Form | None = None
        self._textarea = ""

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form" and values.get("method") == "post":
            self._open = Form((values.get("action") or self._page).partition("?")[0])
            self.found.append(self._open)
        name = values.get("name")
        if self._open is None or not name or "disabled" in values:
            return
        if tag == "input":
            self._input(self._open, name, values)
        elif tag in ("select", "textarea"):
            self._open.edits = True
            self._open.values.setdefault(name, [])
            self._textarea = name if tag == "textarea" else ""

    def _input(self, form: Form, name: str, values: dict[str, str]) -> None:
        kind = values.get("type", "text")
        form.edits = form.edits or kind not in _HIDDEN
        if kind in ("checkbox", "radio"):
            if "checked" in values:
                form.values.setdefault(name, []).append(values.get("value", "on"))
        elif kind != "submit":
            form.values.setdefault(name, []).append(values.get("value", ""))
            if kind == "text" and "readonly" not in values:
                form.texts.append(name)

    @override
    def handle_data(self, data: str) -> None:
        if self._textarea and self._open is not None:
            self._open.values[self._textarea] = [data.strip()]
            self._open.texts.append(self._textarea)
            self._textarea = ""

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        self._textarea = ""


def all_forms(console_app: Flask, console: ConsoleClient) -> Iterator[tuple[str, Form]]:
    """Yield every form of every page and dialog, once for each endpoint that it is sent to."""
    pages = [route.address for route in all_routes(console_app) if route.method == "GET"]
    pages += DIALOGS
    seen: set[tuple[str, str]] = set()
    for address in pages:
        shown = console.open(address)
        if shown.status != 200 or shown.response.mimetype != "text/html":
            continue
        pages += [link for link in _links(shown.html) if link not in pages]
        reader = Forms(address)
        reader.feed(shown.html)
        for form in reader.found:
            endpoint, _ = console_app.url_map.bind("localhost").match(form.action, "POST")
            key = (endpoint, form.action)
            carries = form.edits or "loaded" in form.values
            if carries and key not in seen:
                seen.add(key)
                yield endpoint.removeprefix("console."), form


def _links(html: str) -> Iterator[str]:
    for link in _ASKING.findall(html):
        yield link.replace("&amp;", "&")


def test_every_edit_form_carries_what_it_showed_and_overwrites_nothing_else(
    console_app: Flask, populated_shop: Ports
) -> None:
    console = open_console(console_app, populated_shop, ADMIN)
    failed = {"name": "Failed", "query": "status=failed"}
    console.send("/console/saved-filters/deliveries/save", failed, seen_at="/console/deliveries/")
    found = list(all_forms(console_app, console))
    edits = {name for name, form in found if "loaded" in form.values}
    creates = {name for name, form in found if "submission" in form.values}
    assert {name for name, _ in found} - edits - creates - EDITS_NOTHING.keys() == set()
    assert edits & EDITS_NOTHING.keys() == set()
    assert edits >= MUST_EDIT
    before = records(populated_shop)
    with_texts = [named for named in found if "loaded" in named[1].values and named[1].texts]
    assert len(with_texts) > 8
    for name, form in with_texts:
        changed = {text: [f"{form.values[text][0]}x"] for text in form.texts[-1:]}
        answer = console.client.post(
            form.action, data={**form.values, **changed, "loaded": "another"}
        )
        assert answer.status_code == 409, name
    assert records(populated_shop) == before
