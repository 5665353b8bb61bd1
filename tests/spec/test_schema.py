"""Existing clients speak a floor of names and types: ours holds it all and may have more."""

from docs import printed_schema
from tests.spec.floor import incompatible, missing
from tests.spec.unbuilt import unbuilt


def test_types_missing_from_the_floor_are_the_unbuilt_ones() -> None:
    lacking = missing(printed_schema())
    assert unbuilt() - lacking == set(), "these are built: take them off the list in unbuilt.py"
    assert lacking - unbuilt() == set(), "these belong to types that are built, and are missing"


def test_required_schema_is_served_unchanged() -> None:
    assert incompatible(printed_schema()) == []
