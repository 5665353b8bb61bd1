"""What the list of apps and an app's page say, made of apps without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.frame.parts import Pill
from app.console.frame.permissions import NO_APP, NOT_HELD, Chip, by_area, dashed_note
from app.console.integrations.app_page import (
    AppPage,
    AppParts,
    make_app_page,
    make_grant_question,
    make_question,
    make_secret,
)
from app.console.integrations.apps import app_columns, installation_notice, installing_words
from app.domain.apps.apps import App, AppToken, AppType, Installation, JobStatus
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.services.apps.app_lists import AppSummary, AppWebhook
from app.services.webhooks.app_reach import UnconfirmedWebhook
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APP = App(
    id=1,
    name="Labels <b>",
    identifier="",
    type=AppType.LOCAL,
    is_active=True,
    created_at=NOW - timedelta(minutes=3),
    permissions=frozenset(),
)
INSTALLED = replace(APP, type=AppType.THIRDPARTY, version="2.1", app_url="https://l.example.com")
TOKEN = AppToken(
    id=4,
    app_id=1,
    name="",
    last_four="5tXq",
    created_at=NOW - timedelta(minutes=2),
    expires_at=None,
    last_used_at=None,
)
HOOK = AppWebhook(
    id=2,
    name="",
    target_url="https://l.example.com/?a=1&b=2",
    is_active=True,
    is_failing=False,
    disabled_reason="",
    events=(EventType.ORDER_PAID,),
)
SUMMARY = AppSummary(tokens=1, last_four="5tXq", last_used_at=None, webhooks=0, failing=0)
FAILED = Installation(
    id=3,
    app_name="Courier",
    manifest_url="https://c.example.com",
    status=JobStatus.FAILED,
    message="",
    permissions=frozenset(),
    activate=True,
    created_at=NOW - timedelta(minutes=1),
    updated_at=NOW,
)


def shown(app: App = APP, parts: AppParts | None = None) -> AppPage:
    return make_app_page(app, parts or AppParts(), NOW)


@pytest.mark.usefixtures("translated_page")
@cases(
    ("from_where", "kind"),
    [
        (APP, "Custom"),
        (INSTALLED, "Installed · 2.1"),
        (replace(INSTALLED, version=""), "Installed"),
    ],
)
def test_row_says_where_the_app_comes_from(from_where: App, kind: str) -> None:
    assert cell_text(app_columns(None), "App", from_where).endswith(kind)


@cases(
    ("permissions", "words"),
    [
        ((), "None"),
        ((Permission.MANAGE_ORDERS,), "Manage orders"),
        (tuple(Permission)[:2], "Manage staff, Manage users"),
        (tuple(Permission)[:4], "Impersonate user, Manage apps, +2"),
    ],
)
def test_row_names_two_permissions(permissions: tuple[Permission, ...], words: str) -> None:
    app = replace(APP, permissions=frozenset(permissions))
    assert cell_text(app_columns(None), "Permissions", app) == words


@cases(
    ("summary", "token", "more", "webhooks"),
    [
        (replace(SUMMARY, tokens=0, last_four=""), "No token", "", Pill("off", "None")),
        (replace(SUMMARY, webhooks=1), "…5tXq", "", Pill("ok", "1 webhook")),
        (replace(SUMMARY, tokens=3, webhooks=2), "…5tXq", "+2", Pill("ok", "2 webhooks")),
        (replace(SUMMARY, webhooks=2, failing=1), "…5tXq", "", Pill("bad", "1 of 2 failing")),
    ],
)
def test_row_counts_tokens_and_webhooks(
    summary: AppSummary, token: str, more: str, webhooks: Pill
) -> None:
    columns = app_columns({1: summary})
    assert cell_text(columns, "Token (last 4)", APP) == f"{token} {more}".strip()
    assert cell_text(columns, "Webhooks", APP) == webhooks.words


def test_people_without_manage_apps_see_no_tokens() -> None:
    assert len(app_columns({})) == len(app_columns(None)) + 3


@cases(
    ("installation", "title", "detail"),
    [
        (FAILED, "could not be installed.", "The app gave no reason. No app was created."),
        (replace(FAILED, message="Not here."), "could not", "Not here. No app was created."),
        (replace(FAILED, status=JobStatus.PENDING), "Installing Courier …", "1 min ago</time>."),
    ],
)
def test_installation_says_how_it_goes(
    installation: Installation, title: str, detail: str
) -> None:
    notice = installation_notice(installation, NOW)
    assert title in notice.title
    assert notice.detail.endswith(detail)


@cases(
    ("installations", "sentence"),
    [
        ([], ""),
        ([FAILED], ""),
        ([replace(FAILED, status=JobStatus.PENDING), FAILED], "Installing Courier …"),
    ],
)
def test_installations_in_progress_are_said(
    installations: list[Installation], sentence: str
) -> None:
    assert installing_words([installation_notice(one, NOW) for one in installations]) == sentence


def test_token_row_tells_its_state() -> None:
    rotated = replace(TOKEN, name="Till", permissions=frozenset(), replaced_at=NOW)
    plain, old = shown(parts=AppParts([TOKEN, rotated])).tokens
    assert (plain.name, plain.label, plain.last_four) == ("Unnamed token", "token …5tXq", "…5tXq")
    assert len(plain.notes) == 1
    assert plain.can_rotate
    assert old.notes[1:] == ("Rotated; this token works until it expires", "Limited to: none")
    assert not old.can_rotate


def test_page_says_to_which_tokens_permissions_apply() -> None:
    limited = replace(TOKEN, permissions=frozenset({Permission.MANAGE_ORDERS}))
    assert shown(parts=AppParts([TOKEN])).token_reach == (
        "Permissions apply to all of this app's tokens."
    )
    assert "1 token is limited" in shown(parts=AppParts([TOKEN, limited])).token_reach


def test_app_with_imported_tokens_says_that_none_was_used_here() -> None:
    never = replace(SUMMARY, last_used_at=None)
    imported = app_columns({1: replace(never, unused_imports=1)})
    assert cell_text(imported, "Last used", APP) == "Not used here yet"
    assert cell_text(app_columns({1: never}), "Last used", APP) == "Never"


def test_imported_token_says_whether_it_was_used_here() -> None:
    unused = replace(TOKEN, awaits_first_use=True)
    imported, used = shown(parts=AppParts([unused, TOKEN])).tokens
    assert (imported.unused, used.unused) == ("Not used here yet", "Never")
    assert imported.notes[0].startswith("Imported ")


@cases(
    ("hook", "state"),
    [
        (HOOK, Pill("ok", "Active")),
        (replace(HOOK, is_failing=True), Pill("bad", "Failing")),
        (replace(HOOK, is_active=False), Pill("off", "Disabled")),
        (replace(HOOK, is_active=False, disabled_reason="Failed."), Pill("bad", "Disabled")),
    ],
)
def test_webhook_has_one_state(hook: AppWebhook, state: Pill) -> None:
    assert shown(parts=AppParts(webhooks=[hook])).webhooks[0].state == state


@cases(
    ("events", "sends"),
    [
        ((), "No events to https://l.example.com/?a=1&amp;b=2"),
        (tuple(EventType)[:1], "</code> to https://l"),
        (tuple(EventType)[:5], "</code>, +3 to https://l"),
    ],
)
def test_webhook_names_two_events(events: tuple[EventType, ...], sends: str) -> None:
    parts = AppParts(webhooks=[replace(HOOK, events=events)])
    assert sends in shown(parts=parts).webhooks[0].sends.replace("<wbr>", "")


def test_facts_leave_out_what_is_missing() -> None:
    assert [fact.label for fact in shown().facts] == ["Type", "Created", "API ID"]
    installed = shown(INSTALLED).facts
    assert [fact.label for fact in installed] == [
        "Type",
        "Version",
        "Website",
        "Installed",
        "API ID",
    ]


@cases(
    ("of_app", "parts", "effect"),
    [
        (APP, AppParts(), "Deactivating stops the app until you activate it again."),
        (APP, AppParts([TOKEN]), "stops its 1 token until"),
        (APP, AppParts([TOKEN, TOKEN], [HOOK]), "stops its 2 tokens and 1 webhook until"),
        (replace(APP, is_active=False), AppParts(), "Its tokens are rejected"),
    ],
)
def test_effect_of_deactivating_counts_what_stops(
    of_app: App, parts: AppParts, effect: str
) -> None:
    assert effect in shown(of_app, parts).effect


def sentences(question_name: str, parts: AppParts, token: AppToken | None = None) -> list[str]:
    question = make_question(APP, parts, NOW, question_name, token)
    assert question is not None
    return [one.sentence for one in question.consequences]


def test_deactivating_an_app_without_parts_stops_nothing_else() -> None:
    assert len(sentences("deactivate", AppParts())) == 1
    assert len(sentences("deactivate", AppParts([TOKEN], [HOOK]))) == 3


@cases(
    ("parts", "deleted"),
    [
        (AppParts(), "Labels <b> is deleted. This can't be undone."),
        (AppParts([TOKEN]), "Labels <b> is deleted with 1 token. This can't be undone."),
        (AppParts([TOKEN], [HOOK]), "is deleted with 1 token and 1 webhook."),
    ],
)
def test_deleting_names_what_goes_with_the_app(parts: AppParts, deleted: str) -> None:
    assert deleted in sentences("remove", parts)[0]


@cases(
    ("token", "rejected"),
    [
        (TOKEN, "It was never used."),
        (replace(TOKEN, awaits_first_use=True), "It hasn't been used here yet."),
        (replace(TOKEN, last_used_at=NOW - timedelta(minutes=1)), "1 min ago</time>."),
        (replace(TOKEN, last_used_at=NOW, last_used_address="192.0.2.1"), "from 192.0.2.1."),
    ],
)
def test_revoking_says_when_the_token_was_used(token: AppToken, rejected: str) -> None:
    assert sentences("revoke", AppParts([token]), token)[0].endswith(rejected)


@cases(
    ("tokens", "rest"),
    [(1, "This is the only token"), (2, "1 other token of"), (3, "2 other tokens of")],
)
def test_revoking_says_what_is_left(tokens: int, rest: str) -> None:
    assert sentences("revoke", AppParts([TOKEN] * tokens), TOKEN)[1].startswith(rest)


@cases("question_name", ["rotate", "revoke", "nonsense", None])
def test_without_a_token_there_is_no_question(question_name: str | None) -> None:
    assert make_question(APP, AppParts(), NOW, question_name, None) is None


def test_question_before_a_grant_carries_the_permissions() -> None:
    hook = UnconfirmedWebhook(2, "", "https://l.example.com", "Ada", (Permission.MANAGE_USERS,))
    question = make_grant_question(APP, frozenset({Permission.MANAGE_USERS}), [hook], "{}")
    carried = (("confirmed", "yes"), ("loaded", "{}"))
    assert question.hidden == (*carried, ("permissions", "MANAGE_USERS"))
    assert [one.state for one in question.consequences] == ["bad", "warn"]
    assert "An unnamed webhook sends to" in question.consequences[0].sentence
    assert "the webhook counts" in question.consequences[1].sentence


@cases(("name", "title"), [("", "Token created"), ("Till", "Token “Till” created")])
def test_secret_comes_with_its_header(name: str, title: str) -> None:
    secret = make_secret(replace(TOKEN, name=name), "lkapp_1")
    assert (secret.title, secret.header) == (title, "Authorization: Bearer lkapp_1")
    assert "lkapp_1" not in repr(secret)


def dashed(count: int, why_not: str) -> list[Chip]:
    return [Chip(one, is_chosen=False, why_not=why_not) for one in list(Permission)[:count]]


@cases(
    ("chips", "note"),
    [
        (dashed(2, ""), ""),
        (dashed(1, NO_APP), "Apps can't have Manage users."),
        (dashed(1, NOT_HELD), "You can't grant Manage users because you don't have it."),
        (dashed(4, NOT_HELD), "You can't grant permissions that you don't have."),
        (
            [*dashed(2, NOT_HELD), *dashed(1, NO_APP)],
            (
                "You can't grant Manage users and Manage staff because you don't have them. "
                "Apps can't have Manage users."
            ),
        ),
    ],
)
def test_note_says_why_permissions_are_dashed(chips: list[Chip], note: str) -> None:
    assert dashed_note(chips) == note


def test_permissions_are_counted_by_area() -> None:
    held = (Permission.MANAGE_ORDERS, Permission.MANAGE_SHIPPING)
    shown = [Chip(one, one in held) for one in Permission]
    counts = [(area.label, area.count) for area in by_area(shown)]
    assert counts == [
        ("Sales", "1 of 9"),
        ("Catalog", "0 of 5"),
        ("Shipping", "1 of 1"),
        ("People", "0 of 4"),
        ("Shop", "0 of 6"),
    ]


def test_area_without_permissions_is_left_out() -> None:
    (area,) = by_area([Chip(Permission.MANAGE_SHIPPING, is_chosen=False)])
    assert (area.label, area.count) == ("Shipping", "0 of 1")
