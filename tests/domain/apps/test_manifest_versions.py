"""A manifest may ask for a version of the interface, and for names of its own in each list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.apps.manifests import is_version_within, read_manifest
from app.domain.values.errors import Refused
from tests.domain.apps.test_manifests import document, extension, refused, webhook
from tests.fixtures.cases import cases

HERE = "3.23"


@cases(
    ("text", "fits"),
    [
        ("3.23", True),
        ("v3.23.0", True),
        ("=3.23", True),
        ("3.22", False),
        ("^3.20", True),
        ("^3", True),
        ("^3.23.1", False),
        ("^4", False),
        ("^0.23", False),
        ("~3.23", True),
        ("~3.22", False),
        ("~3", True),
        (">=3.22 <4", True),
        (">= 3.13", True),
        (">3.23", False),
        (">3.22", True),
        ("<3.23", False),
        ("<=3.23", True),
        ("^3.13 <3.20", False),
        ("3.x", True),
        ("3.21.*", False),
        ("*", True),
        ("", True),
        ("3.20 - 3.23", True),
        ("3.20 - 3.22", False),
        ("3.24 - 4", False),
        ("2.x || ^3.23", True),
        ("2.x || 4.x", False),
        ("3.23.0-a.0", True),
        ("3.23-rc", True),
        (">=3.23.0-rc.1 <3.24.0-0", True),
        ("<3.23.0-rc.1", False),
        (">3.23.0-rc.1", False),
        ("3.23.0+build.5", True),
        ("3.21.x || 3.23", True),
        ("3.21.x||3.22", False),
    ],
)
def test_range_follows_npm_semantics(text: str, fits: bool) -> None:
    assert is_version_within(HERE, text) is fits


@cases(
    ("version", "text", "fits"),
    [
        ("0.2.5", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("0.0.3", "^0.0.3", True),
        ("0.0.4", "^0.0.3", False),
        ("0.9.9", "^0", True),
        ("1.0.0", "^0", False),
    ],
)
def test_caret_range_below_version_1(version: str, text: str, fits: bool) -> None:
    assert is_version_within(version, text) is fits


@cases(
    "text", ["latest", ">>3", "3.23,4", "^3.20 || newest", "3.2.1.0", "9" * 9, "-1", "3-1 - x y"]
)
def test_text_that_is_not_a_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version range"):
        is_version_within(HERE, text)


@given(st.text(alphabet="0123xX*v=<>~^|-+. a", max_size=40))
def test_any_text_is_a_range_or_refused(text: str) -> None:
    try:
        assert is_version_within(HERE, text) in (True, False)
    except ValueError as error:
        assert "is not a version range" in str(error)  # noqa: PT017 - most texts are no ranges


def test_app_for_another_version_is_refused_by_that_field() -> None:
    wanting = document(requiredSaleorVersion="^4.0")
    assert refused(wanting) == [("requiredSaleorVersion", "UNSUPPORTED_SALEOR_VERSION")]
    assert refused(document(requiredSaleorVersion="newest")) == [
        ("requiredSaleorVersion", "INVALID")
    ]
    assert read_manifest(document(requiredSaleorVersion="^3.20"), "saleor").identifier


def test_required_version_can_be_given_by_either_vendors_name() -> None:
    with pytest.raises(Refused, match=r"The app requires API version \^4\.0"):
        read_manifest(document(requiredSaleorVersion="^4.0"), "latchkey")
    with pytest.raises(Refused, match=r"The app requires API version \^4\.0"):
        read_manifest(document(requiredLatchkeyVersion="^4.0"), "latchkey")


def test_extension_identifier_is_unique() -> None:
    twice = [extension(identifier="edit"), extension(), extension(identifier="edit"), extension()]
    assert refused(document(extensions=twice)) == [
        ("extensions", "DUPLICATED_EXTENSION_IDENTIFIER")
    ]


def test_webhook_identifier_is_unique() -> None:
    twice = [webhook(identifier="staff"), webhook(identifier="staff"), webhook(), webhook()]
    assert refused(document(webhooks=twice)) == [("webhooks", "DUPLICATED_WEBHOOK_IDENTIFIER")]


def test_all_problems_are_reported_at_once() -> None:
    wrong = document(
        id=...,
        appUrl="javascript:alert(1)",
        permissions=["MANAGE_NOTHING"],
        extensions=[extension(url="https://x.example/"), extension(mount="")],
        webhooks=[webhook(query="", targetUrl="/hook")],
    )
    assert sorted(refused(wrong), key=str) == [
        ("appUrl", "INVALID_URL_FORMAT"),
        ("extensions", "REQUIRED"),
        ("id", "REQUIRED"),
        ("permissions", "INVALID_PERMISSION"),
        ("webhooks", "INVALID_URL_FORMAT"),
        ("webhooks", "REQUIRED"),
    ]
