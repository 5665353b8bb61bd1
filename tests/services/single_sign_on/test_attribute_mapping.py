"""The mapping preview: what a provider's token would give, without bringing anybody in."""

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_users import MappedKind, MappedTo, MappingPreview
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.keys import ring
from app.services.single_sign_on.provider_checks import preview_mapping
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import actor_of, change_user, make_group, make_staff, make_user
from tests.builders.providers import identities
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL, who

ORDERS, PLUGINS = Permission.MANAGE_ORDERS, Permission.MANAGE_PLUGINS


def preview(ports: Ports, token: str) -> MappingPreview:
    return preview_mapping(ports, OPERATOR, "default", token)


def change(ports: Ports, **settings: str | None) -> None:
    save_provider(ports, OPERATOR, "default", ProviderUpdate(settings))


def rows(ports: Ports) -> tuple[int, int]:
    """How many people there are, and entries in the trail."""
    people, trail = select(func.count(models.User.id)), select(func.count(models.AuditEntry.id))
    with ports.database.reading() as session:
        return session.scalars(people).one(), session.scalars(trail).one()


def test_preview_of_a_new_person_creates_no_account(ports: Ports, provider: OwnProvider) -> None:
    token = provider.access_token()
    ring(ports)  # our own keys, which no provider may have, are made at their first use
    before = rows(ports)
    found = preview(ports, f"Bearer {token}\n")
    assert (found.kind, found.outcome) == (MappedKind.ACCESS, MappedTo.MADE)
    assert (found.email, found.name, found.user_id) == (EMAIL, "Alice Sso", None)
    assert (found.is_staff, found.permissions, found.groups) == (False, (), ())
    assert (rows(ports), identities(ports)) == (before, [])


def test_preview_matches_the_real_sign_in(ports: Ports, provider: OwnProvider) -> None:
    change(
        ports,
        audience=AUDIENCE,
        staff_user_domains="sso.example",
        default_group_name_for_new_staff_users="Newcomers",
    )
    make_group(ports, "Newcomers", ORDERS)
    token = provider.access_token()
    found = preview(ports, token)
    assert (found.is_staff, found.becomes_staff) == (True, True)
    assert (found.joins, found.permissions) == (("Newcomers",), (ORDERS,))
    actor = who(ports, token).actor
    assert actor.is_staff
    assert actor.permissions == {ORDERS}
    second = preview(ports, token)
    assert (second.outcome, second.user_id) == (MappedTo.KNOWN, actor.user_id)
    assert (second.becomes_staff, second.groups, second.joins) == (False, ("Newcomers",), ())
    assert second.permissions == (ORDERS,)


def test_preview_shows_the_account_to_be_linked(ports: Ports, provider: OwnProvider) -> None:
    user_id = make_user(ports, EMAIL, is_staff=True, permissions=[ORDERS])
    change(ports, audience=AUDIENCE)
    found = preview(ports, provider.access_token())
    assert (found.outcome, found.user_id) == (MappedTo.LINKED, user_id)
    assert (found.is_staff, found.permissions) == (True, (ORDERS,))
    assert identities(ports) == []


def test_provider_scopes_replace_local_permissions(ports: Ports, provider: OwnProvider) -> None:
    change(ports, use_oauth_scope_permissions="true", audience="shop")
    make_user(ports, EMAIL, is_staff=True, permissions=[PLUGINS])
    token = provider.access_token(aud="shop", scope="openid latchkey:manage_orders")
    found = preview(ports, token)
    assert (found.provider_rules, found.permissions) == (True, (ORDERS,))
    assert who(ports, token).actor.permissions == {ORDERS}


@pytest.mark.parametrize(
    ("person", "reason"),
    [
        ({"email_verified": False}, "hasn't verified your email"),
        ({"email": ...}, "didn't return an email"),
        ({"sub": "bob"}, "response is about another person"),
    ],
)
def test_refused_sign_in_is_previewed_with_the_reason(
    ports: Ports, provider: OwnProvider, person: dict[str, object], reason: str
) -> None:
    make_user(ports, EMAIL)
    token = provider.access_token()
    claims = {**provider.people[token], **person}
    provider.people[token] = {name: value for name, value in claims.items() if value is not ...}
    found = preview(ports, token)
    assert found.outcome is MappedTo.NOBODY
    assert reason in found.reason
    assert who(ports, token).actor.fault is not None


def test_inactive_unconfirmed_and_signed_out_accounts_are_refused(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    user_id = make_user(ports, EMAIL, is_confirmed=False)
    token = provider.access_token()
    assert "isn't confirmed yet" in preview(ports, token).reason
    change_user(ports, user_id, is_confirmed=True, is_active=False)
    assert "not active" in preview(ports, token).reason
    change_user(ports, user_id, is_active=True)
    who(ports, token)
    clock.pass_(seconds=2)
    change_user(ports, user_id, tokens_valid_after=clock.now())
    assert "signed out everywhere" in preview(ports, token).reason


@pytest.mark.both_databases
def test_invalid_tokens_are_previewed_with_reasons(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    assert "can't be trusted" in preview(ports, f"{provider.access_token()}x").reason
    second_process = provider.access_token(iss="https://elsewhere.example")
    assert "another issuer" in preview(ports, second_process).reason
    token = provider.access_token()
    provider.server.answer("/userinfo", Reply(500))
    assert "response couldn't be used" in preview(ports, token).reason
    clock.pass_(hours=1)
    assert "has expired" in preview(ports, token).reason


def test_id_token_is_read_without_calls_and_has_no_scopes(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.sign(provider.id_claims("a nonce"))
    found = preview(ports, token)
    assert (found.kind, found.outcome, found.email) == (MappedKind.ID, MappedTo.MADE, EMAIL)
    assert found.permissions == ()
    assert "/userinfo" not in [request.path for request in provider.server.received]
    change(ports, use_oauth_scope_permissions="true", audience="shop")
    assert preview(ports, token).permissions is None


def test_opaque_token_is_read_by_its_provider(ports: Ports, provider: OwnProvider) -> None:
    found = preview(ports, provider.known("opaque"))
    assert (found.kind, found.outcome, found.email) == (MappedKind.OPAQUE, MappedTo.MADE, EMAIL)
    assert preview(ports, "another").outcome is MappedTo.NOBODY
    change(ports, audience="shop")
    assert "doesn't show its audience" in preview(ports, "opaque").reason


def test_inactive_provider_can_be_previewed(ports: Ports, provider: OwnProvider) -> None:
    save_provider(ports, OPERATOR, "default", ProviderUpdate({}, active=False))
    assert preview(ports, provider.access_token()).outcome is MappedTo.MADE


def test_preview_permissions_are_shown_to_user_managers(
    ports: Ports, provider: OwnProvider
) -> None:
    make_user(ports, EMAIL, is_staff=True, permissions=[ORDERS])
    change(ports, audience=AUDIENCE)
    actor = actor_of(ports, make_staff(ports, "admin@example.com", PLUGINS))
    found = preview_mapping(ports, actor, "default", provider.access_token())
    assert (found.rights_hidden, found.permissions) == (True, None)


def test_groups_are_shown_to_those_who_see_rights_wherever_permissions_come_from(
    ports: Ports, provider: OwnProvider
) -> None:
    secret = make_group(ports, "Secret", ORDERS)
    make_user(ports, EMAIL, is_staff=True, groups=[secret])
    staff = Permission.MANAGE_STAFF
    narrow, wide = (
        actor_of(ports, make_staff(ports, f"{len(held)}@example.com", *held))
        for held in ([PLUGINS], [PLUGINS, staff])
    )
    scope, table = "use_oauth_scope_permissions", '{"shop": "Secret"}'
    id_token = provider.sign(provider.id_claims("a nonce", email=EMAIL, email_verified=True))
    for settings, token, permissions in (
        ({scope: "true", "audience": AUDIENCE}, provider.access_token(scope="openid"), ()),
        ({scope: "true", "audience": AUDIENCE}, id_token, None),
        ({"audience": AUDIENCE}, provider.access_token(), (ORDERS,)),
    ):
        change(ports, **settings)
        seen = preview_mapping(ports, wide, "default", token)
        hidden = preview_mapping(ports, narrow, "default", token)
        assert (seen.groups, seen.rights_hidden) == (("Secret",), False), seen
        assert seen.permissions == permissions
        assert (hidden.groups, hidden.joins, hidden.rights_hidden) == ((), (), True)
        assert hidden.permissions == (permissions if settings.get(scope) else None)
        change(ports, **{scope: "false"})
    # Nor does the table tell what its groups can do.
    change(ports, audience=AUDIENCE, group_mapping=table)
    newcomer = provider.access_token("eve", groups=["shop"])
    provider.known(newcomer, "eve", email="eve@example.com", groups=["shop"])
    seen, hidden = (preview_mapping(ports, one, "default", newcomer) for one in (wide, narrow))
    assert (seen.joins, seen.permissions) == (("Secret",), (ORDERS,))
    assert (hidden.joins, hidden.permissions, hidden.rights_hidden) == ((), None, True)


def test_missing_arguments_are_refused(ports: Ports, provider: OwnProvider) -> None:
    with pytest.raises(Refused) as refused:
        preview(ports, "  ")
    assert refused.value.problems[0].field == "token"
    with pytest.raises(Refused):
        preview_mapping(ports, OPERATOR, "nobody", "x")
    orders = actor_of(ports, make_staff(ports, "staff@example.com", ORDERS))
    with pytest.raises(PermissionDenied):
        preview_mapping(ports, orders, "default", provider.access_token())
