"""The page of errors has every code that clients can get, and no other."""

import re

from app.domain.values.errors import TokenFault, TooManyRequests, TrafficClosed
from app.graphql import errors
from app.web.errors import UNAVAILABLE_CODE
from docs.error_meanings import CODES, COMMON, QUERIES, REQUESTS, UNUSED
from docs.errors import error_enums, meaning_of
from tests.house.sources import ROOT

_DECLARATIONS = ROOT / "app/graphql/types/error_codes.py"


def test_every_code_of_the_schema_has_a_meaning() -> None:
    for name, enum in error_enums().items():
        assert all(meaning_of(name, code) for code in enum.values)


def test_every_meaning_is_of_a_code_of_the_schema() -> None:
    enums = error_enums()
    assert set(CODES) == set(enums)
    for name, meanings in CODES.items():
        assert set(meanings) - set(enums[name].values) == set(), name
    declared = {code for enum in enums.values() for code in enum.values}
    assert {*COMMON, *QUERIES} - declared == set()


ONLY_ELSEWHERE = {
    ("AccountErrorCode", "CHANNEL_INACTIVE"),
    ("AccountErrorCode", "MISSING_CHANNEL_SLUG"),
    ("AppProblemDismissErrorCode", "OUT_OF_SCOPE_APP"),
    ("ChannelErrorCode", "ALREADY_EXISTS"),
    ("ShopErrorCode", "ALREADY_EXISTS"),
    ("ChannelErrorCode", "DUPLICATED_INPUT_ITEM"),
    ("SendConfirmationEmailErrorCode", "MISSING_CHANNEL_SLUG"),
}
"""Codes that are sent for another enum alone, such as the channel of a cart."""


def test_codes_that_are_never_sent_say_so() -> None:
    modules = set((ROOT / "app").rglob("*.py")) - {_DECLARATIONS}
    texts = "\n".join(path.read_text() for path in modules)
    sent = set(re.findall(r'["\']([A-Z][A-Z_]+)["\']', texts))
    for name, enum in error_enums().items():
        for code in enum.values:
            unsent = code not in sent or (name, code) in ONLY_ELSEWHERE
            assert (meaning_of(name, code) is UNUSED) == unsent, f"{name}.{code}"


def test_every_code_of_a_request_has_a_meaning() -> None:
    tokens = {fault.code for fault in TokenFault}
    own = {TooManyRequests.CODE, TrafficClosed.CODE, UNAVAILABLE_CODE}
    graphql = {errors.SYNTAX_ERROR, errors.REQUEST_ERROR, "PermissionDenied"}
    assert set(REQUESTS) == {*tokens, *own, *graphql, "PERSISTED_QUERY_NOT_SUPPORTED", "(none)"}
