"""An app finds out nothing about the problems of other apps."""

from typing import Any

import pytest

from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.graphql.shop_client import ApiClient
from tests.graphql.test_app_problems import DISMISS, report


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: the rule stands above it."""
    return sqlite_url


def test_problem_of_another_app_is_dismissed_like_an_unknown_one(ports: Ports) -> None:
    """Else an app could count what goes wrong with the others."""
    api = ApiClient(ports)
    (_, token), (_, other) = make_app(ports, "Curious"), make_app(ports, "Other")
    own, foreign = report(api, token)["id"], report(api, other)["id"]
    unknown = to_global_id("AppProblem", 999_999)

    def dismiss(*ids: str) -> dict[str, Any]:
        answer: dict[str, Any] = api.run(DISMISS, token, input={"byApp": {"ids": [*ids]}})
        return answer

    for known in ((), (own,)):
        answer = dismiss(*known, foreign)
        assert answer == dismiss(*known, unknown)
        assert answer["errors"][0]["field"] == "ids"
    assert dismiss(own) == {"errors": []}
    # What was dismissed before is still known.
    assert dismiss(own, own) == {"errors": []}
