"""JSON objects that other servers send: read strictly, with the true reason where refused."""

import pytest

from app.domain.sign_in.jws import read_members
from app.domain.values.errors import TokenRejected
from app.domain.values.json_values import BOM, NoJsonObject, read_json_object
from tests.fixtures.cases import cases

MANY = b"{" + b",".join(b'"m%d":1' % place for place in range(20_000)) + b',"m7":2}'


@cases("mark", [b"", BOM])
def test_byte_order_mark_is_skipped(mark: bytes) -> None:
    assert read_json_object(mark + b' {"a": null}\n') == {"a": None}


@cases(
    ("data", "reason"),
    [
        (b"", "returned an empty response"),
        (b" \n", "returned an empty response"),
        ('{"a": 1}'.encode("utf-16"), "returned JSON in UTF-16; it must be UTF-8"),
        (b'{"a": 1, "a": 2}', "returned JSON in which 'a' appears twice"),
        (b'{"b": {"a": 1, "a": 2}}', "returned JSON in which 'a' appears twice"),
        (MANY, "returned JSON in which 'm7' appears twice"),
        (b"[]", "didn't return a JSON object"),
        (b"<html>", "didn't return a JSON object"),
        (b'{"a": NaN}', "didn't return a JSON object"),
        (b'{"a": "\xff"}', "didn't return a JSON object"),
        (BOM + BOM + b"{}", "didn't return a JSON object"),
        (b"[" * 100_000, "didn't return a JSON object"),
    ],
)
def test_refusal_says_what_is_wrong(data: bytes, reason: str) -> None:
    with pytest.raises(NoJsonObject) as refused:
        read_json_object(data)
    assert str(refused.value) == reason


def test_part_of_a_token_has_no_byte_order_mark() -> None:
    assert read_members(b'{"a": 1}') == {"a": 1}
    with pytest.raises(TokenRejected):
        read_members(BOM + b'{"a": 1}')
