"""What the page for a missing permission says, without HTTP."""

from datetime import UTC, datetime, timedelta

from app.console.frame.errors import make_denied_page
from app.services.identity.permission_holders import PermissionGranter
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
INES = PermissionGranter(7, "ines+x@example.com", "Ines", "Duarte", ("Developers",), None)


@cases(
    ("required", "sentence"),
    [
        (
            ["MANAGE_APPS"],
            "You need the permission <b>Manage apps</b> (<code>MANAGE_APPS</code>).",
        ),
        (
            ["MANAGE_APPS", "<OTHER>"],
            (
                "You need one of these permissions: <b>Manage apps</b> "
                "(<code>MANAGE_APPS</code>), <b>&lt;OTHER&gt;</b> (<code>&lt;OTHER&gt;</code>)."
            ),
        ),
    ],
)
def test_missing_permissions_are_named(required: list[str], sentence: str) -> None:
    assert make_denied_page(required, (), NOW).missing == sentence


def test_granters_get_an_email_about_the_permission() -> None:
    (granter,) = make_denied_page(["MANAGE_APPS"], [INES], NOW).granters
    assert granter.action == "Email Ines"
    assert granter.mail_url == (
        "mailto:ines%2Bx%40example.com?subject=Latchkey%20permission%3A%20Manage%20apps"
    )


@cases(
    ("groups", "last_used_at", "start", "end"),
    [
        ((), None, "", ""),
        (("A", "<B>"), None, "A, <B>", ""),
        ((), NOW - timedelta(minutes=5), "Active <time ", "5 min ago</time>"),
        (("<B>",), NOW - timedelta(hours=2), "&lt;B&gt; · active <time ", "2 h ago</time>"),
    ],
)
def test_granters_show_groups_and_activity(
    groups: tuple[str, ...], last_used_at: datetime | None, start: str, end: str
) -> None:
    one = PermissionGranter(7, "ines@example.com", "", "", groups, last_used_at)
    (granter,) = make_denied_page(["MANAGE_APPS"], [one], NOW).granters
    assert granter.name == "ines@example.com"
    assert granter.detail.startswith(start)
    assert granter.detail.endswith(end)
