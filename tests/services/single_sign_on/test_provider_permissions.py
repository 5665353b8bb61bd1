"""What may be done with a provider's token: scopes where it rules, groups kept here otherwise."""

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.ports import Ports
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import make_group, make_user
from tests.builders.providers import set_up
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL, who


def test_verified_email_of_a_staff_domain_makes_staff_with_a_group(
    ports: Ports, provider: OwnProvider
) -> None:
    make_group(ports, "New staff", Permission.MANAGE_ORDERS)
    set_up(
        ports,
        provider,
        audience=AUDIENCE,
        staff_user_domains="other.example, SSO.example",
        default_group_name_for_new_staff_users="New staff",
    )

    actor = who(ports, provider.access_token()).actor

    assert (actor.is_staff, actor.permissions) == (True, frozenset({Permission.MANAGE_ORDERS}))
    doubtful = provider.sign(provider.claims("bob"))
    provider.known(doubtful, "bob", email_verified=False)
    assert who(ports, doubtful).actor.is_staff is False
    second_process = provider.sign(provider.claims("eve"))
    provider.known(second_process, "eve", email="eve@evilsso.example")
    assert who(ports, second_process).actor.is_staff is False


def test_default_group_is_created_without_permissions(ports: Ports, provider: OwnProvider) -> None:
    group = {"default_group_name_for_new_staff_users": "Newcomers"}
    set_up(ports, provider, audience=AUDIENCE, staff_user_domains="sso.example", **group)
    user = who(ports, provider.access_token()).user
    assert user is not None
    assert [(entry.name, entry.permissions) for entry in user.groups] == [
        ("Newcomers", frozenset())
    ]
    assert [entry.subject_name for entry in trail(ports, "group.create")] == ["Newcomers"]
    joined = {"group": "Newcomers", "provider": "OpenID Connect"}
    assert [entry.after for entry in trail(ports, "user.join")] == [joined]
    requested = [entry.type for entry in events(ports)]
    assert requested.count(EventType.PERMISSION_GROUP_CREATED) == 1


SCOPES = [
    # scope, permissions, what they may do, and whether they are staff
    ("openid", None, set(), False),
    ("openid latchkey:manage_products", None, {Permission.MANAGE_PRODUCTS}, True),
    (
        "openid latchkey:manage_products",
        ["latchkey:manage_users"],
        {Permission.MANAGE_PRODUCTS},
        True,
    ),
    ("openid", ["latchkey:manage_users", "other"], {Permission.MANAGE_USERS}, True),
    ("openid latchkey:staff", None, set(), True),
    ("openid latchkey:unknown", None, set(), False),
    ("openid another:manage_products", None, set(), False),
    ("openid LATCHKEY:MANAGE_PRODUCTS", None, set(), False),
    (["openid", "latchkey:manage_products"], None, {Permission.MANAGE_PRODUCTS}, True),
    (["openid", 5], {"latchkey:manage_users": True}, set(), False),
]


def test_scope_permissions_are_never_merged_with_local_ones(
    ports: Ports, provider: OwnProvider
) -> None:
    make_user(ports, EMAIL, is_staff=True, permissions=[Permission.MANAGE_APPS])
    set_up(ports, provider, audience=AUDIENCE, use_oauth_scope_permissions="true")
    for scope, listed, granted, is_staff in SCOPES:
        claims = {"scope": scope, "permissions": ... if listed is None else listed}
        actor = who(ports, provider.access_token(**claims)).actor
        assert (actor.permissions, actor.is_staff) == (frozenset(granted), is_staff), scope


def test_scopes_grant_nothing_without_audience(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, use_oauth_scope_permissions="true")
    actor = who(ports, provider.access_token(scope="openid latchkey:manage_products")).actor
    assert (actor.is_user, actor.permissions, actor.is_staff) == (True, frozenset(), False)


def test_local_permissions_count_without_scope_permissions(
    ports: Ports, provider: OwnProvider
) -> None:
    make_user(ports, EMAIL, is_staff=True, permissions=[Permission.MANAGE_APPS])
    set_up(ports, provider, audience=AUDIENCE)
    actor = who(ports, provider.access_token(scope="openid latchkey:manage_products")).actor
    assert (actor.permissions, actor.is_staff) == (frozenset({Permission.MANAGE_APPS}), True)


def test_provider_with_its_own_scope_prefix_grants_by_that_only(
    ports: Ports, provider: OwnProvider
) -> None:
    prefix = {"use_oauth_scope_permissions": "true", "scope_prefix": "saleor"}
    set_up(ports, provider, audience=AUDIENCE, **prefix)
    for scope, granted in (
        ("saleor:manage_products", {Permission.MANAGE_PRODUCTS}),
        ("latchkey:manage_products", set()),
        ("saleor:manage_products latchkey:manage_users", {Permission.MANAGE_PRODUCTS}),
    ):
        actor = who(ports, provider.access_token(scope=f"openid {scope}")).actor
        assert actor.permissions == granted, scope
