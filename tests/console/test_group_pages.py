"""What the pages of groups say, without HTTP."""

from dataclasses import replace

from app.console.people.groups import first_labels, group_choice, make_group_page
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, PermissionGroup
from tests.console.example_people import ADA, APPS, ORDERS, STAFF, viewer
from tests.fixtures.cases import cases

SUPPORT = PermissionGroup(1, "Support <b>", frozenset({ORDERS}), members=1)
EMPTY = PermissionGroup(2, "Empty", frozenset(), members=0)
DEVELOPERS = PermissionGroup(3, "Developers", frozenset({APPS}), members=27)


@cases(
    ("permissions", "named"),
    [
        ((), "No permissions"),
        ((ORDERS,), "Manage orders"),
        ((ORDERS, APPS), "Manage apps, Manage orders"),
    ],
)
def test_row_names_permissions(permissions: tuple[Permission, ...], named: str) -> None:
    assert first_labels(frozenset(permissions)) == named


def test_row_names_four_permissions_at_most() -> None:
    named = first_labels(ALL_PERMISSIONS)
    assert named.count(",") == 3
    assert named.endswith(f" +{len(ALL_PERMISSIONS) - 4}")


@cases(("members", "summary"), [(0, "No members"), (1, "1 member"), (1240, "1,240 members")])
def test_members_are_counted(members: int, summary: str) -> None:
    page = make_group_page(replace(SUPPORT, members=members), [ADA], viewer(ORDERS))
    assert page.summary == summary
    assert page.members[0].remove_label == "Remove Ada <i> from the group"


def test_group_beyond_the_viewer_cannot_be_deleted() -> None:
    page = make_group_page(DEVELOPERS, [], viewer(ORDERS), "delete")
    assert page.why_not == "You can't manage a group with permissions you don't have: MANAGE_APPS."
    assert page.dialog is None
    assert make_group_page(DEVELOPERS, [], viewer(APPS)).dialog is None


@cases(
    ("group", "sentence"),
    [
        (EMPTY, ""),
        (replace(EMPTY, members=3), ""),
        (replace(SUPPORT, members=0), ""),
        (
            SUPPORT,
            (
                "<b>1 member</b> loses these permissions unless another group grants them: "
                "Manage orders."
            ),
        ),
        (
            DEVELOPERS,
            (
                "<b>27 members</b> lose these permissions unless another group grants them: "
                "Manage apps."
            ),
        ),
    ],
)
def test_deletion_names_what_members_lose(group: PermissionGroup, sentence: str) -> None:
    dialog = make_group_page(group, [], viewer(ORDERS, APPS), "delete").dialog
    assert dialog is not None
    assert dialog.title == f"Delete the group {group.name}?"
    assert [one.sentence for one in dialog.consequences if one.state == "bad"] == (
        [sentence] if sentence else []
    )


@cases(
    ("held", "note"),
    [
        ((ORDERS, APPS, STAFF), "Members get the group's permissions immediately."),
        (
            (ORDERS,),
            "You can't change who is in <b>Developers</b>: it has permissions you don't have.",
        ),
        (
            (),
            (
                "You can't change who is in <b>Support &lt;b&gt;</b>, <b>Developers</b>: "
                "they have permissions you don't have."
            ),
        ),
    ],
)
def test_note_names_the_groups_that_are_fixed(held: tuple[Permission, ...], note: str) -> None:
    choice = group_choice([SUPPORT, EMPTY, DEVELOPERS], {1}, viewer(*held))
    assert str(choice.note).replace("&#39;", "'") == note
    assert [chip.is_chosen for chip in choice.chips] == [True, False, False]
    assert [chip.is_editable for chip in choice.chips] == [ORDERS in held, True, APPS in held]
    fixed = group_choice([SUPPORT], {1}, viewer(*held), is_editable=False)
    assert not fixed.chips[0].is_editable
