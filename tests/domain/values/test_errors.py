"""How a rule says no, as clients will read it."""

import pytest

from app.domain.values.errors import (
    PermissionDenied,
    Problem,
    Refused,
    TokenFault,
    TokenRejected,
    TrafficClosed,
    refuse_any,
)
from tests.fixtures.cases import cases


@cases(
    ("fault", "code"),
    [
        (TokenFault.EXPIRED, "ExpiredSignatureError"),
        (TokenFault.SIGNATURE, "InvalidSignatureError"),
        (TokenFault.ALGORITHM, "InvalidAlgorithmError"),
        (TokenFault.IMMATURE, "ImmatureSignatureError"),
        (TokenFault.UNDECODABLE, "InvalidTokenError"),
        (TokenFault.INVALID, "InvalidTokenError"),
    ],
)
def test_invalid_credential_has_the_error_code_that_clients_expect(
    fault: TokenFault, code: str
) -> None:
    assert fault.code == code


def test_expired_token_has_the_contracts_message() -> None:
    assert str(TokenRejected(TokenFault.EXPIRED)) == "Signature has expired"


def test_every_fault_has_its_own_message() -> None:
    messages = [fault.message for fault in TokenFault]
    assert all(messages)
    assert len(set(messages)) == len(messages)


def test_closed_storefront_has_the_contracts_message() -> None:
    assert str(TrafficClosed()) == "Storefront traffic is not allowed."
    assert TrafficClosed.CODE == "STOREFRONT_TRAFFIC_NOT_ALLOWED"


def test_denial_names_every_sufficient_permission() -> None:
    denied = PermissionDenied("MANAGE_APPS", "AUTHENTICATED_APP")

    assert denied.required == ("MANAGE_APPS", "AUTHENTICATED_APP")
    assert "MANAGE_APPS, AUTHENTICATED_APP" in str(denied)


def test_denial_with_own_message_names_the_required_permissions() -> None:
    denied = PermissionDenied("MANAGE_APPS", message="Apps manage no apps.")

    assert str(denied) == "Apps manage no apps."
    assert denied.required == ("MANAGE_APPS",)


def test_refusal_carries_all_of_its_problems() -> None:
    refused = Refused(Problem("A", "One thing."), Problem("B", "Another.", "field"))

    assert [problem.code for problem in refused.problems] == ["A", "B"]
    assert str(refused) == "One thing.; Another."


def test_existing_problems_are_refused_together() -> None:
    first, second = Problem("INVALID", "Wrong.", "name"), Problem("REQUIRED", "Enter it.", "url")
    with pytest.raises(Refused) as caught:
        refuse_any(first, None, second)
    assert caught.value.problems == (first, second)
    refuse_any(None, None)
    refuse_any()
