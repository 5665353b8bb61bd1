"""Ways around a required second factor: old sessions, refreshes, extensions, the own rule."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopUpdate, StaffSecondFactor
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.shop.settings import show_settings, update_shop
from app.services.sign_in.tokens import refresh_token
from tests.builders.people import NOBODY, make_staff, make_user, sessions_of, sign_in, visit
from tests.builders.second_factor_rule import MFA, require_second_factor, set_methods
from tests.builders.second_factors import make_authenticator_app
from tests.builders.tokens import claims_in
from tests.graphql.shop_client import ApiClient
from tests.services.extension_setup import acts, set_scene

SETTINGS = Permission.MANAGE_SETTINGS
SET_RULE = """mutation ($input: ShopSettingsInput!) {
  shopSettingsUpdate(input: $input) { shop { secondFactorRequiredFrom } errors { field code } }
}"""
TWICE = """mutation {
  first: shopSettingsUpdate(input: {staffSecondFactor: REQUIRED, secondFactorGraceDays: 0}) {
    errors { code }
  }
  second: shopSettingsUpdate(input: {staffSecondFactor: OPTIONAL}) { errors { code } }
}"""


@pytest.fixture
def boss(ports: Ports) -> int:
    return make_staff(ports, "boss@example.com", SETTINGS)


@pytest.mark.parametrize("origin", [SessionOrigin.PASSWORD, SessionOrigin.OIDC])
def test_old_session_gets_nothing_by_its_token_or_a_refresh(
    ports: Ports, boss: int, origin: SessionOrigin
) -> None:
    pair = sign_in(ports, boss, origin)
    require_second_factor(ports)
    assert identify(ports, visit(pair.access)).actor.permissions == frozenset()
    for _ in range(2):
        refreshed = refresh_token(ports, NOBODY, token=pair.refresh)
        assert refreshed.user.is_staff is False
        assert refreshed.user.permissions == frozenset()
        assert "amr" not in claims_in(ports, refreshed.access)
        assert identify(ports, visit(refreshed.access)).actor.permissions == frozenset()


def test_factor_of_the_account_gives_nothing_to_a_session_without_it(
    ports: Ports, boss: int
) -> None:
    pair = sign_in(ports, boss, SessionOrigin.OIDC)
    make_authenticator_app(ports, boss)
    require_second_factor(ports)
    assert not identify(ports, visit(pair.access)).actor.holds(SETTINGS)
    set_methods(ports, sessions_of(ports, boss)[0].id)
    assert identify(ports, visit(pair.access)).actor.holds(SETTINGS)


def test_extension_token_of_a_session_without_a_factor_loses_its_rights(ports: Ports) -> None:
    scene = set_scene(ports)
    before = acts(ports, scene.token).permissions
    assert before
    require_second_factor(ports)
    assert acts(ports, scene.token).permissions == frozenset()
    for stored in sessions_of(ports, scene.user):
        set_methods(ports, stored.id)
    assert acts(ports, scene.token).permissions == before


@pytest.mark.both_databases
@pytest.mark.parametrize("is_superuser", [False, True])
def test_rule_in_force_cannot_be_taken_back_without_a_factor(
    ports: Ports, is_superuser: bool
) -> None:
    user_id = make_user(
        ports, "root@example.com", is_staff=True, is_superuser=is_superuser, permissions=[SETTINGS]
    )
    bare, proven = sign_in(ports, user_id).access, sign_in(ports, user_id, amr=MFA).access
    require_second_factor(ports)
    api = ApiClient(ports)
    for change in ({"staffSecondFactor": "OPTIONAL"}, {"secondFactorGraceDays": 365}):
        assert api.code(SET_RULE, bare, input=change) == "PermissionDenied"
    assert api.code("{ shop { staffSecondFactor } }", bare) == "PermissionDenied"
    optional = api.run(SET_RULE, proven, input={"staffSecondFactor": "OPTIONAL"})
    assert optional == {"shop": {"secondFactorRequiredFrom": None}, "errors": []}


def test_second_field_of_a_document_has_lost_the_rights(ports: Ports, boss: int) -> None:
    answer = ApiClient(ports).ask(TWICE, sign_in(ports, boss).access)
    assert answer["data"]["first"] == {"errors": []}
    assert answer["data"]["second"] is None
    assert answer["errors"][0]["extensions"]["exception"]["code"] == "PermissionDenied"


@pytest.mark.both_databases
def test_longer_grace_period_of_another_manager_gives_rights_back(ports: Ports, boss: int) -> None:
    """The control: the rule is nothing but its moment."""
    bare = identify(ports, visit(sign_in(ports, boss).access)).actor
    proven = identify(ports, visit(sign_in(ports, boss, amr=MFA).access)).actor
    rule = ShopUpdate(staff_second_factor=StaffSecondFactor.REQUIRED, second_factor_grace_days=0)
    update_shop(ports, proven, rule)
    with pytest.raises(PermissionDenied):
        update_shop(ports, bare, ShopUpdate(name="Taken over"))
    update_shop(ports, proven, ShopUpdate(second_factor_grace_days=3))
    begins = show_settings(ports, proven).second_factor_from
    assert begins == ports.clock.now() + timedelta(days=3)
    assert update_shop(ports, bare, ShopUpdate(name="Fine")).name == "Fine"
