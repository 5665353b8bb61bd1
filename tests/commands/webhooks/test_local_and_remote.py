"""Every command twice, here and against a server: equal results, and those that were agreed on."""

import json

import pytest

from app.domain.values.ids import to_global_id
from tests.commands import golden_files
from tests.commands.webhooks.paired_shops import QUERY, Shops, comparable_output

GOLDEN = golden_files.GOLDEN / "webhook"
TARGET = "https://new.example.com/hook"
PRODUCT = to_global_id("Product", 1)
DELIVERY = to_global_id("EventDelivery", 2)
CASES = {
    "list": ("list",),
    "list-of-an-app": ("list", "--app", "Bookkeeping"),
    "list-of-nothing": ("list", "--inactive"),
    "list-of-fields": ("list", "--fields", "name,hasSecret,appId"),
    "show": ("show", "asking"),
    "show-nothing": ("show", "nothing"),
    "events": ("events",),
    "create": (
        *("create", "--app", "Warehouse", "--target-url", TARGET, "--name", "new"),
        *("--event", "product-updated", "--event", "ORDER_PAID", "--header", "X-Team: stock"),
    ),
    "create-with-a-secret": (
        *("create", "--app", "Warehouse", "--target-url", TARGET),
        *("--query", QUERY, "--secret", "generate", "--inactive"),
    ),
    "create-refused": (
        *("create", "--app", "Warehouse", "--target-url", "https://app.example.com/"),
        *("--query", "subscription { event { nothing } }"),
    ),
    "create-of-no-event": (
        *("create", "--app", "Warehouse", "--target-url", TARGET, "--event", "ORDER_PAYED"),
    ),
    "create-unheard": (
        *("create", "--app", "Bookkeeping", "--target-url", TARGET),
        *("--event", "PRODUCT_UPDATED", "--event", "CUSTOMER_CREATED"),
    ),
    "create-on-this-machine": (
        *("create", "--app", "Warehouse", "--target-url", "http://10.0.0.1:3123/hook"),
        *("--event", "PRODUCT_UPDATED"),
    ),
    "edit": ("edit", "plain", "--name", "renamed", "--event", "PRODUCT_CREATED", "--inactive"),
    "edit-refused": ("edit", "plain", "--target-url", "nowhere"),
    "edit-unheard": ("edit", "plain", "--event", "ORDER_PAID", "--event", "PRODUCT_DELETED"),
    "edit-on-this-machine": ("edit", "plain", "--target-url", "http://10.0.0.1:3123/hook"),
    "edit-without-effect": ("edit", "asking", "--event", "PRODUCT_CREATED"),
    "update": ("update", "--domain", "app.example.com", "localhost:3000", "--yes"),
    "update-previewed": ("update", "--app", "Warehouse", "--inactive", "--preview"),
    "update-refused": ("update", "--domain", "app.example.com", "10.0.0.1", "--yes"),
    "update-secrets": ("update", "--webhook", "silent", "--rotate-secret", "--yes"),
    "delete": ("delete", "silent", "--yes"),
    "dry-run": ("dry-run", "--query", QUERY),
    "dry-run-of-several": (
        *("dry-run", "--webhook", "asking", "--object-id", PRODUCT),
        *("--object-id", to_global_id("Product", 2), "--object-id", to_global_id("Product", 99)),
    ),
    "dry-run-compared": ("dry-run", "--webhook", "asking", "--diff-last"),
    "dry-run-refused": ("dry-run", "--query", "subscription {"),
    "trigger": ("trigger", "asking", "--object-id", PRODUCT),
    "trigger-newest": ("trigger", "asking"),
    "trigger-event": ("trigger", "asking", "--event", "product-updated", "--object-id", PRODUCT),
    "trigger-another-event": ("trigger", "asking", "--event", "ORDER_PAID"),
    "trigger-nothing": ("trigger", "silent"),
    "trigger-refused": ("trigger", "asking", "--object-id", "nothing"),
    "deliveries": ("deliveries",),
    "deliveries-filtered": (
        *("deliveries", "asking", "--status", "failed", "--event", "PRODUCT_UPDATED"),
        *("--code", "500", "--payload"),
    ),
    "deliveries-of-late": ("deliveries", "--since", "2h"),
    "retry": ("retry", DELIVERY),
    "retry-refused": ("retry", to_global_id("EventDelivery", 99)),
    "replay-preview": ("replay", "asking", "--since", "2026-01-01", "--preview"),
    "send-waiting": ("send-waiting", "asking"),
    "pause": ("pause", "asking"),
    "resume": ("resume", "asking"),
    "edit-rate": ("edit", "plain", "--max-rate", "5"),
    "deliveries-retrying": ("deliveries", "--status", "retrying"),
    "replay": ("replay", "asking", "--since", "2026-01-01", "--failed"),
}
FORMS = {"json": ("--json",), "short": ("--short",), "plain": ()}


@pytest.mark.one_of("form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_here_and_there_come_to_the_same_in_every_form(shops: Shops, case: str, form: str) -> None:
    result = shops.twice("webhook", *CASES[case], *FORMS[form])
    code, out, err = comparable_output(result)
    if form == "json":
        json.loads(out)
    transcript = f"exit {code}\n--- standard output\n{out}--- standard error\n{err}"
    assert transcript == golden_files.agreed(GOLDEN / f"{case}.{form}", transcript)


def test_no_agreed_output_is_left_over() -> None:
    names = {f"{case}.{form}" for case in CASES for form in FORMS}
    assert {file.name for file in GOLDEN.iterdir()} == names
