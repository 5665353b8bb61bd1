"""The token inspector says when a missing second factor takes the permissions away."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.inspector import CheckName, CheckOutcome, LossReason
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.inspector.inspect import inspect_token
from tests.builders.people import ISSUER, make_staff, make_user, sign_in, visit
from tests.builders.providers import set_up
from tests.builders.second_factor_rule import MFA, require_second_factor
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL

ORDERS = Permission.MANAGE_ORDERS
INSPECTOR = replace(OPERATOR, issuer=ISSUER)


@pytest.mark.parametrize("amr", [(), MFA])
@pytest.mark.parametrize("required", [False, True])
def test_rights_agree_with_those_of_a_request(
    ports: Ports, amr: tuple[str, ...], required: bool
) -> None:
    token = sign_in(ports, make_staff(ports, "tom@example.com", ORDERS), amr=amr).access
    if required:
        require_second_factor(ports)
    found = inspect_token(ports, INSPECTOR, token)

    assert found.effective == tuple(identify(ports, visit(token)).actor.permissions)
    checks = {check.name: check.outcome for check in found.checks}
    outcome = CheckOutcome.PASSED if amr else CheckOutcome.WARNING
    assert checks.get(CheckName.SECOND_FACTOR) == (outcome if required else None)
    assert found.rights is not None
    lost = LossReason.SECOND_FACTOR if required and not amr else None
    assert [right.lost_by for right in found.rights] == [lost]


def test_customers_have_no_such_check(ports: Ports) -> None:
    require_second_factor(ports)
    found = inspect_token(ports, INSPECTOR, sign_in(ports, make_user(ports)).access)
    assert CheckName.SECOND_FACTOR not in [check.name for check in found.checks]
    assert found.is_valid


@pytest.mark.parametrize(("amr", "lost"), [(["mfa"], None), (["pwd"], LossReason.SECOND_FACTOR)])
def test_provider_token_is_judged_by_its_claims(
    ports: Ports, provider: OwnProvider, amr: list[str], lost: LossReason | None
) -> None:
    set_up(ports, provider, audience=AUDIENCE, second_factor_amr="mfa")
    make_staff(ports, EMAIL, ORDERS)
    require_second_factor(ports)
    token = provider.access_token(amr=amr)
    actor = identify(ports, visit(token)).actor
    assert actor.origin is SessionOrigin.OIDC
    found = inspect_token(ports, INSPECTOR, token)
    assert found.effective == tuple(actor.permissions)
    assert found.rights is not None
    assert [right.lost_by for right in found.rights] == [lost]
