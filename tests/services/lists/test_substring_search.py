"""A piece of text is found in whatever case, and stands for nothing but itself."""

import pytest
from sqlalchemy import literal, select

from app.ports import Ports
from app.services.lists.filters import contains_text
from tests.fixtures.cases import cases

pytestmark = pytest.mark.both_databases


@cases(
    ("stored", "text", "is_there"),
    [
        ("Warehouse", "HOUSE", True),
        ("Warehouse", "home", False),
        ("50% off", "0% O", True),
        ("500 off", "50%", False),
        ("house_keeper", "e_k", True),
        ("housekeeper", "e_k", False),
        ("a/b", "A/B", True),
        ("ab", "a/b", False),
        ("a\\b", "\\", True),
        ("anything", "", True),
    ],
)
def test_text_is_searched_literally(
    ports: Ports, stored: str, text: str, *, is_there: bool
) -> None:
    with ports.database.reading() as session:
        assert session.scalar(select(contains_text(literal(stored), text))) is is_there
