"""Groups that staff join and leave by a claim of their provider."""

import pytest
from sqlalchemy import Connection, Engine, delete, event, insert, select, update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.values.installation import CheckState
from app.ports import Ports
from app.services.identity.linked_accounts import KEPT
from app.services.identity.permission_holders import join
from app.services.single_sign_on.provider_checks import check_provider, preview_mapping
from app.services.single_sign_on.provider_settings import ProviderUpdate, change_provider
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL, who
from tests.services.provider_logins import begin, finish, grant

ORDERS, PRODUCTS = Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS
TABLE = '{"shop-orders": "Orders", "shop-products": ["Products", "Both"]}'


@pytest.fixture
def groups(ports: Ports) -> dict[str, int]:
    return {
        "Orders": make_group(ports, "Orders", ORDERS),
        "Products": make_group(ports, "Products", PRODUCTS),
        "Both": make_group(ports, "Both"),
        "By hand": make_group(ports, "By hand"),
    }


def map_groups(ports: Ports, provider: OwnProvider, **more: str) -> None:
    set_up(ports, provider, audience=AUDIENCE, **{"group_mapping": TABLE, **more})


def arrive(ports: Ports, provider: OwnProvider, *groups: str, sub: str = "alice") -> set[str]:
    """Bring a new access token of a person in ``groups`` there; return the groups here."""
    token = provider.sign(provider.claims(sub, jti=f"{sub} {groups}"))
    provider.known(token, sub, groups=list(groups))
    return groups_of(ports, token)


def groups_of(ports: Ports, token: str) -> set[str]:
    user = who(ports, token).user
    assert user is not None
    return {group.name for group in user.groups}


def synced(ports: Ports) -> list[models.AuditEntry]:
    return [entry for entry in trail(ports, "user.sync") if "groups" in entry.after]


def test_staff_join_and_leave_the_groups_of_the_table(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    make_user(ports, EMAIL, is_staff=True, groups=[groups["By hand"], groups["Products"]])
    map_groups(ports, provider)
    assert arrive(ports, provider, "shop-orders", "other") == {"By hand", "Orders"}
    [entry] = synced(ports)
    by_hand = groups["By hand"]
    assert entry.before["groups"] == sorted([by_hand, groups["Products"]])
    assert entry.after["groups"] == sorted([by_hand, groups["Orders"]])
    assert entry.after["provider"] == "OpenID Connect"
    assert EventType.STAFF_UPDATED in [one.type for one in events(ports)]
    assert arrive(ports, provider, "shop-products") == {"By hand", "Products", "Both"}
    assert arrive(ports, provider, "shop-products", "x") == {"By hand", "Products", "Both"}
    assert len(synced(ports)) == 2
    assert arrive(ports, provider) == {"By hand"}


def test_value_of_the_table_makes_staff_with_a_verified_email(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    map_groups(ports, provider)
    token = provider.access_token("eve", groups=["shop-orders"])
    actor = who(ports, token).actor
    assert (actor.is_staff, actor.permissions) == (True, frozenset({ORDERS}))
    customer = provider.access_token("carol", groups=["other"])
    assert who(ports, customer).actor.is_staff is False
    doubtful = provider.sign(provider.claims("dan", groups=["shop-orders"]))
    provider.known(doubtful, "dan", email_verified=False)
    assert who(ports, doubtful).actor.is_staff is False
    assert groups_of(ports, doubtful) == set()


def test_sign_in_by_code_reads_the_id_token_or_else_the_user_info(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    map_groups(ports, provider, groups_claim="roles.shop")
    for claims, info, here in (
        ({"roles": {"shop": ["shop-orders"]}}, {}, {"Orders"}),
        ({}, {"roles": {"shop": ["shop-products"]}}, {"Products", "Both"}),
        ({}, {"_claim_names": {"roles.shop": "elsewhere"}}, {"Products", "Both"}),
        ({}, {}, set()),
    ):
        started = begin(ports)
        verified = {"email": EMAIL, "email_verified": True, **claims}
        id_token = provider.sign(provider.id_claims(started["nonce"], **verified))
        access = provider.access_token(jti=str(here) + str(info))
        provider.known(access, **info)
        grant(provider, started, id_token=id_token, access_token=access)
        user = finish(ports, started["state"]).user
        assert {group.name for group in user.groups} == here


def test_table_is_not_used_while_the_provider_grants_permissions(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    make_user(ports, EMAIL, is_staff=True, groups=[groups["Products"]])
    map_groups(ports, provider, use_oauth_scope_permissions="true")
    token = provider.access_token(groups=["shop-orders"], scope="openid latchkey:staff")
    assert who(ports, token).actor.permissions == frozenset()
    assert groups_of(ports, token) == {"Products"}
    stranger = provider.access_token("eve", groups=["shop-orders"], scope="openid")
    assert who(ports, stranger).actor.is_staff is False


def test_token_of_an_unknown_client_changes_no_groups(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    make_user(ports, EMAIL, is_staff=True, groups=[groups["Products"]])
    set_up(ports, provider, group_mapping=TABLE)
    assert arrive(ports, provider, "shop-orders") == {"Products"}
    set_up(ports, provider, group_mapping=TABLE, audience=AUDIENCE)
    assert arrive(ports, provider, "shop-orders", "again") == {"Orders"}


def test_first_group_is_joined_once_unless_the_table_has_it(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    first = "default_group_name_for_new_staff_users"
    map_groups(ports, provider, **{first: "By hand"})
    assert arrive(ports, provider, "shop-orders") == {"By hand", "Orders"}
    assert arrive(ports, provider) == {"By hand"}
    map_groups(ports, provider, **{first: "Products"})
    for person, values, joined in (
        ("eve", ("shop-orders",), {"Orders"}),
        ("dan", ("shop-products",), {"Products", "Both"}),
    ):
        token = provider.access_token(person, groups=list(values))
        preview = preview_mapping(ports, OPERATOR, "default", token)
        assert set(preview.joins) == joined
        assert groups_of(ports, token) == joined
        assert arrive(ports, provider, sub=person) == set()


def test_sign_in_leaves_permissions_manageable(
    ports: Ports, provider: OwnProvider, groups: dict[str, int], clock: FakeClock
) -> None:
    managers = make_group(ports, "Managers", Permission.MANAGE_STAFF)
    table = {"group_mapping": '{"heads": "Managers", "shop-both": "Both"}'}
    make_user(ports, EMAIL, is_staff=True, groups=[managers, groups["Both"]])
    map_groups(ports, provider, **table)
    # The sign-in goes on, and other groups are left. It is recorded once a day.
    assert arrive(ports, provider, "x") == {"Managers"}
    assert arrive(ports, provider, "y") == {"Managers"}
    [entry] = trail(ports, "user.keep_groups")
    assert entry.after == {"groups": [managers], "reason": KEPT, "provider": "OpenID Connect"}
    clock.pass_(hours=24)
    assert arrive(ports, provider, "z") == {"Managers"}
    assert len(trail(ports, "user.keep_groups")) == 2
    make_user(ports, "other@example.com", is_staff=True, groups=[managers])
    assert arrive(ports, provider, "another manager") == set()


def test_people_stay_or_are_removed_when_a_claim_no_longer_decides(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    by_hand = [groups["Orders"], groups["By hand"]]
    make_user(ports, "other@example.com", is_staff=True, groups=by_hand)
    make_user(ports, "boss@example.com", is_superuser=True)
    fewer = '{"shop-products": ["Products", "Both"]}'

    def change(
        table: str = TABLE, actor: Actor = OPERATOR, *, active: bool | None = None, **more: str
    ) -> None:
        settings = {"group_mapping": table, **more}
        changes = ProviderUpdate(settings, active=active, removes_members=True)
        change_provider(ports, actor, "default", changes)

    def here(email: str = EMAIL) -> set[str]:
        members = select(models.Group.name).join(models.GroupMember).join(models.User)
        with ports.database.reading() as session:
            return set(session.scalars(members.where(models.User.email == email)))

    map_groups(ports, provider)
    everything = {"Orders", "Products", "Both"}
    assert arrive(ports, provider, "shop-orders", "shop-products") == everything
    set_up(ports, provider, group_mapping=fewer)
    assert here() == everything
    map_groups(ports, provider)
    # Removing people from groups is managing staff.
    plugins = make_staff(ports, "plugins@example.com", Permission.MANAGE_PLUGINS)
    clerk = make_staff(
        ports, "clerk@example.com", Permission.MANAGE_PLUGINS, Permission.MANAGE_STAFF
    )
    for person, code in ((plugins, "OUT_OF_SCOPE_PERMISSION"), (clerk, "OUT_OF_SCOPE_GROUP")):
        with pytest.raises(Refused) as refused:
            change(fewer, actor_of(ports, person))
        assert [(one.code, one.field) for one in refused.value.problems] == [
            (code, "group_mapping")
        ]
    assert here() == everything
    change(fewer)
    assert here() == {"Products", "Both"}
    change(fewer, active=False)
    assert here() == set()
    map_groups(ports, provider)
    assert arrive(ports, provider, "shop-products", "again") == {"Products", "Both"}
    change("")
    assert here() == set()
    map_groups(ports, provider)
    assert arrive(ports, provider, "shop-products", "once more") == {"Products", "Both"}
    change(use_oauth_scope_permissions="true")
    assert here() == set()
    assert here("other@example.com") == {"Orders", "By hand"}
    assert trail(ports, "group.update")[0].before["users"]


@pytest.mark.both_databases
def test_membership_that_another_makes_at_the_same_time_stays(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    user = make_user(ports, EMAIL, is_staff=True)
    map_groups(ports, provider)
    rows = [{"user_id": user, "group_id": groups["Orders"]}]

    def add(connection: Connection, _cursor: object, statement: str, *_rest: object) -> None:
        if rows and statement.startswith(f"INSERT INTO {models.GroupMember.__tablename__}"):
            connection.execute(insert(models.GroupMember), rows.pop())

    event.listen(Engine, "before_cursor_execute", add)
    try:
        assert arrive(ports, provider, "shop-orders") == {"Orders"}
        assert rows == []
        # A sign-in is repeated after a conflict, other changes aren't.
        rows.append({"user_id": user, "group_id": groups["By hand"]})
        with ports.database.transaction() as session:
            join(session, users=[user], groups=[groups["By hand"]])
    finally:
        event.remove(Engine, "before_cursor_execute", add)
    assert rows == []
    assert arrive(ports, provider, "shop-orders", "again") == {"Orders", "By hand"}


def test_table_names_groups_that_exist(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    with pytest.raises(Refused) as refused:
        set_up(ports, provider, group_mapping='{"a": "Orders", "b": "Nobody"}')
    assert [(one.field, one.message) for one in refused.value.problems] == [
        ("group_mapping", "There are no groups Nobody.")
    ]
    map_groups(ports, provider)


def test_check_names_groups_that_were_deleted_and_a_table_without_use(
    ports: Ports, provider: OwnProvider
) -> None:
    for name in ("Orders", "Products", "Both"):
        make_group(ports, name)
    map_groups(ports, provider)
    assert warnings(ports) == []
    with ports.database.transaction() as session:
        session.execute(delete(models.Group).where(models.Group.name == "Both"))
    assert warnings(ports) == ["No such groups: Both. Nobody joins them."]
    set_up(ports, provider, use_oauth_scope_permissions="true")
    assert warnings(ports)[0] == "Not used: the provider grants the permissions."
    make_user(ports, EMAIL)
    assert arrive(ports, provider, "shop-products") == set()


def warnings(ports: Ports) -> list[str]:
    return [
        one.message
        for one in check_provider(ports, OPERATOR, "default")
        if one.subject == "group_mapping" and one.state is CheckState.WARNING
    ]


def test_preview_matches_what_signing_in_does(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    make_user(ports, EMAIL, is_staff=True, groups=[groups["Products"], groups["By hand"]])
    map_groups(ports, provider)
    token = provider.access_token(groups=["shop-orders"])
    found = preview_mapping(ports, OPERATOR, "default", token)
    assert (found.joins, found.leaves, found.permissions) == (
        ("Orders",),
        ("Products",),
        (ORDERS,),
    )
    assert groups_of(ports, token) == {"Orders", "By hand"}
    after = preview_mapping(ports, OPERATOR, "default", token)
    assert (after.joins, after.leaves, after.permissions) == ((), (), (ORDERS,))


def test_preview_names_no_group_that_signing_in_keeps(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    """The controls: another group there, what a group that is joined gives, another manager."""
    managers = make_group(ports, "Managers", Permission.MANAGE_STAFF, PRODUCTS)
    heads = make_group(ports, "Heads", Permission.MANAGE_STAFF)
    make_user(ports, EMAIL, is_staff=True, groups=[managers, groups["Both"]])
    map_groups(
        ports,
        provider,
        group_mapping='{"a": "Managers", "b": "Both", "c": "Heads", "d": "Products"}',
    )
    for claims, joined, left in (
        ((), (), ("Both",)),
        (("c",), ("Heads",), ("Both",)),  # nobody could manage products
        (("c", "d"), ("Heads", "Products"), ("Both", "Managers")),
    ):
        token = provider.access_token(groups=list(claims))
        found = preview_mapping(ports, OPERATOR, "default", token)
        assert (found.joins, found.leaves) == (joined, left), claims
    assert groups_of(ports, provider.access_token(groups=[])) == {"Managers"}
    make_user(ports, "other@example.com", is_staff=True, groups=[managers, heads])
    token = provider.access_token("alice", jti="again", groups=[])
    assert preview_mapping(ports, OPERATOR, "default", token).leaves == ("Managers",)
    assert groups_of(ports, token) == set()


def test_preview_says_what_a_sign_in_does_that_makes_staff(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    """Former staff may still be in groups, and a group of the table may be deleted."""
    managers = make_group(ports, "Managers", Permission.MANAGE_STAFF)
    table = {"group_mapping": '{"a": "Managers", "b": "Both", "c": ["Gone", "Orders"]}'}
    make_group(ports, "Gone")
    first = {"default_group_name_for_new_staff_users": "Newcomers"}
    map_groups(ports, provider, **table, **first)
    with ports.database.transaction() as session:
        session.execute(delete(models.Group).where(models.Group.name == "Gone"))
    there = {
        "manager": [managers, groups["By hand"]],
        "other": [groups["Both"], groups["Products"]],
        "customer": [groups["Orders"]],
    }
    for name, keys in there.items():
        make_user(ports, f"{name}@sso.example", groups=keys)
    for name, claims, joined, left in (
        ("manager", ["b"], ("Both", "Newcomers"), ("By hand", "Managers")),
        ("other", ["c"], ("Newcomers", "Orders"), ("Both", "Products")),
        ("new", ["c", "b"], ("Both", "Newcomers", "Orders"), ()),
        ("customer", ["x"], (), ()),
    ):
        token = provider.access_token(name, groups=claims)
        found = preview_mapping(ports, OPERATOR, "default", token)
        assert (found.joins, found.leaves) == (joined, left), name
        assert groups_of(ports, token) == {*found.groups, *joined} - {*left}, name
        actor = who(ports, token).actor
        assert found.permissions == in_order(actor.permissions), name
        assert found.is_staff is actor.is_staff, name


def test_provider_gives_nothing_back_that_is_left_of_former_staff(
    ports: Ports, provider: OwnProvider, groups: dict[str, int]
) -> None:
    """Their role was taken by hand; the control is a group that the provider's table gives too."""
    map_groups(ports, provider)
    make_user(ports, "super@sso.example", is_superuser=True)
    make_user(ports, "direct@sso.example", permissions=[PRODUCTS])
    make_user(ports, "member@sso.example", groups=[groups["Products"], groups["Orders"]])
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(is_staff=False))
    for name, left, leaves in (
        ("super", {"is_superuser": True}, ()),
        ("direct", {"permissions": [PRODUCTS.value]}, ()),
        ("member", {"groups": sorted([groups["Orders"], groups["Products"]])}, ("Products",)),
    ):
        token = provider.access_token(name, groups=["shop-orders"])
        found = preview_mapping(ports, OPERATOR, "default", token)
        assert (found.permissions, found.leaves) == ((ORDERS,), leaves), name
        caller = who(ports, token)
        assert caller.user is not None
        assert caller.actor.permissions == {ORDERS}, name
        assert not caller.user.is_superuser, name
        assert {group.name for group in caller.user.groups} == {"Orders"}, name
        taken = trail(ports, "user.promote")[-1].before
        assert taken == {"is_staff": False, **left}, name
