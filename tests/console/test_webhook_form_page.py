"""What the form of a webhook offers, made without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime

from app.console.integrations.events import Group
from app.console.integrations.missing_permissions import MissingPermissions
from app.console.integrations.webhook_editing import WebhookFormPage, make_webhook_form_page
from app.domain.apps.apps import App, AppType
from app.domain.authorization.permissions import Permission
from app.domain.events import SUBJECTS, EventType
from app.domain.webhooks import Webhook
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LABELS = App(
    id=1,
    name="Labels",
    identifier="",
    type=AppType.LOCAL,
    is_active=True,
    created_at=NOW,
    permissions=frozenset({Permission.MANAGE_PRODUCTS}),
)
OLD = replace(LABELS, id=2, name="Old", is_active=False)
HOOK = Webhook(
    id=7,
    app_id=1,
    name="Stock",
    identifier="",
    target_url="https://labels.example.com/hooks",
    is_active=True,
    query="",
    events=(EventType.PRODUCT_UPDATED,),
    header_names=(),
    created_at=NOW,
)


def page_of(hook: Webhook | None, *chosen: str, owner: App | None = LABELS) -> WebhookFormPage:
    return make_webhook_form_page(hook, owner, [LABELS, OLD], [], chosen)


def group_of(noun: str, page: WebhookFormPage) -> Group:
    return next(group for group in page.groups if group.noun == noun)


@cases(
    ("hook", "title", "save"),
    [
        (None, "Create webhook", "Create webhook"),
        (HOOK, "Edit Stock", "Save webhook"),
        (replace(HOOK, name=""), "Edit webhook", "Save webhook"),
    ],
)
def test_form_is_named_for_its_act(hook: Webhook | None, title: str, save: str) -> None:
    page = page_of(hook)
    assert (page.title, page.save) == (title, save)


def test_inactive_apps_are_marked() -> None:
    options = [(one.label, one.is_chosen) for one in page_of(None).apps]
    assert options == [("Labels", True), ("Old (inactive)", False)]


@cases(("has_secret", "hint"), [(False, "Optional. Use the"), (True, "Leave empty to keep the")])
def test_hint_tells_whether_there_is_a_secret(has_secret: bool, hint: str) -> None:
    assert page_of(replace(HOOK, has_secret=has_secret)).secret_hint.startswith(hint)


def test_events_are_grouped_by_subject() -> None:
    page = page_of(HOOK)
    assert {group.noun for group in page.groups} == {subject.heading for subject in SUBJECTS}
    listed = [entry.name for group in page.groups for entry in group.entries]
    assert sorted(["ANY_EVENTS", *listed]) == sorted(event.value for event in EventType)


def test_group_counts_selected_events_and_is_open() -> None:
    page = page_of(HOOK, "PRODUCT_UPDATED", "PRODUCT_CREATED")
    products, orders = group_of("Products", page), group_of("Orders", page)
    assert (products.selected, products.total, products.is_open) == ("2 selected", "of 3", True)
    assert (orders.selected, orders.total, orders.is_open) == ("0 selected", "of 6", False)
    assert [one.is_chosen for one in products.entries] == [True, True, False]


def test_group_tells_the_missing_permission() -> None:
    page = page_of(HOOK)
    products, orders = group_of("Products", page), group_of("Orders", page)
    assert (products.needs, products.is_missing) == ("Requires Manage products.", False)
    assert orders.needs == "Requires Manage orders, which Labels doesn't have."
    assert orders.is_missing
    without_app = page_of(None, owner=None)
    assert not any(group.is_missing for group in without_app.groups)


@cases(("chosen", "is_any"), [((), False), (("ANY_EVENTS",), True)])
def test_all_events_can_be_selected(chosen: tuple[str, ...], is_any: bool) -> None:
    assert page_of(None, *chosen).chooses_any_event is is_any


def test_missing_permission_can_be_granted_with_the_form() -> None:
    orders = frozenset({Permission.MANAGE_ORDERS})
    missing = MissingPermissions(orders, "Title", "Detail", "Grant Manage orders")
    not_grantable = replace(missing, grant="")
    labels = [
        make_webhook_form_page(None, LABELS, [LABELS], [], (), one).grant_label
        for one in (None, missing, not_grantable)
    ]
    assert labels == ["", "Grant Manage orders and save", ""]
