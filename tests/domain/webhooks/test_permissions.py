"""Whose rights a webhook has."""

from datetime import UTC, datetime

from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.webhooks import UNKNOWN_SAVER, Saver, is_within_limit, may_receive_link, saver_of
from tests.fixtures.cases import cases

APPS, ORDERS, PAGES, STAFF = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_PAGES,
    Permission.MANAGE_STAFF,
)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
OF_APP = frozenset({ORDERS, PAGES})
WHOLE_TOKEN = Actor(ActorKind.APP, app_id=1, name="Till", permissions=OF_APP)
LIMITED = Actor(
    ActorKind.APP,
    app_id=1,
    name="Till",
    permissions=frozenset({ORDERS}),
    token_limit=frozenset({ORDERS, STAFF}),
)
PERSON = Actor(ActorKind.USER, user_id=1, name="desk@example.com", permissions=frozenset({APPS}))


def person(*permissions: Permission, is_staff: bool = False, is_superuser: bool = False) -> User:
    held = ALL_PERMISSIONS if is_superuser else frozenset(permissions)
    return User(
        id=1,
        email="a@example.com",
        first_name="",
        last_name="",
        is_staff=is_staff,
        is_active=True,
        is_confirmed=True,
        is_superuser=is_superuser,
        date_joined=NOW,
        updated_at=NOW,
        last_login=None,
        permissions=held,
    )


@cases(
    ("actor", "for_payloads", "for_links"),
    [
        (OPERATOR, OF_APP, OF_APP),
        (WHOLE_TOKEN, OF_APP, OF_APP),
        (LIMITED, {ORDERS}, {ORDERS}),
        (PERSON, OF_APP, set()),
    ],
)
def test_webhook_permissions_depend_on_its_saver(
    actor: Actor, for_payloads: set[Permission], for_links: set[Permission]
) -> None:
    saver = saver_of(actor)
    assert saver.payload_permissions(OF_APP) == for_payloads
    assert saver.link_permissions(OF_APP) == for_links


def test_webhook_older_than_the_record_of_its_saver_has_the_rights_of_its_app() -> None:
    assert UNKNOWN_SAVER.payload_permissions(OF_APP) == OF_APP
    assert UNKNOWN_SAVER.link_permissions(OF_APP) == OF_APP


def test_limited_token_manages_webhooks_saved_with_no_more() -> None:
    narrower = Saver(ActorKind.APP, "Till", frozenset({STAFF}))
    wider = Saver(ActorKind.APP, "Till", frozenset({ORDERS, PAGES}))
    reached = [narrower, saver_of(LIMITED)]
    beyond = [wider, saver_of(WHOLE_TOKEN), saver_of(PERSON), saver_of(OPERATOR), UNKNOWN_SAVER]
    assert [is_within_limit(LIMITED, saver) for saver in reached + beyond] == [True] * 2 + [
        False
    ] * 5
    for actor in (WHOLE_TOKEN, PERSON, OPERATOR):
        assert all(is_within_limit(actor, saver) for saver in reached + beyond)


@cases(
    ("permissions", "subject", "allowed"),
    [
        ({STAFF}, person(), True),
        ({STAFF}, None, True),
        (set(), person(), False),
        ({STAFF}, person(is_staff=True), True),
        ({STAFF}, person(ORDERS, is_staff=True), False),
        ({STAFF, ORDERS}, person(ORDERS, is_staff=True), True),
        (ALL_PERMISSIONS - {APPS}, person(is_staff=True, is_superuser=True), False),
    ],
)
def test_link_needs_every_right_of_its_subject(
    permissions: set[Permission], subject: User | None, *, allowed: bool
) -> None:
    assert may_receive_link(frozenset(permissions), STAFF, subject) is allowed


def test_staff_status_is_needed_for_staff_links() -> None:
    permissions = frozenset({Permission.MANAGE_USERS})
    needed = Permission.MANAGE_USERS
    assert may_receive_link(permissions, needed, person())
    assert not may_receive_link(permissions, needed, person(is_staff=True))
