"""`RefreshToken.refreshToken`: null today, the next token once refresh tokens are single-use."""

from dataclasses import replace
from typing import Any

import pytest

from app.graphql.context import RequestContext
from app.graphql.schema import schema
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.people import make_user, sign_in, visit
from tests.fakes.clock import FakeClock

REFRESH = """
    mutation ($token: String) {
      tokenRefresh(refreshToken: $token) { token refreshToken errors { field code } }
    }
"""


def _refresh(ports: Ports, token: str) -> dict[str, Any]:
    visitor = visit()
    context = RequestContext(ports, visitor, identify(ports, visitor))
    result = schema.execute(REFRESH, variables={"token": token}, context=context)
    assert result.errors is None
    refreshed: dict[str, Any] = result.data["tokenRefresh"]
    return refreshed


@pytest.mark.parametrize("single_use", [False, True])
def test_refresh_returns_a_refresh_token_when_single_use(
    ports: Ports, clock: FakeClock, single_use: bool
) -> None:
    configuration = replace(ports.configuration, single_use_refresh_tokens=single_use)
    ports = replace(ports, configuration=configuration)
    pair = sign_in(ports, make_user(ports))

    first = _refresh(ports, pair.refresh)
    clock.pass_(minutes=1)
    second = _refresh(ports, pair.refresh)

    assert (first["errors"], bool(first["token"])) == ([], True)
    assert (first["refreshToken"] is not None) is single_use
    refused = [{"field": None, "code": "JWT_INVALID_TOKEN"}]
    assert second["errors"] == (refused if single_use else [])
