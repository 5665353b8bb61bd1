"""The GraphQL reference describes every operation and every type, once."""

import re
from collections import Counter

from app.graphql.schema import schema
from docs import FOLDER
from docs.api_subjects import SUBJECTS

_DESCRIBED = re.compile(r"^(?:### (\w+) \(\w+\)|Returns `(\w+)`:)$", re.MULTILINE)
_PAGES = [FOLDER / "reference" / "graphql" / f"{name}.md" for name in SUBJECTS]


def test_every_operation_belongs_to_one_subject() -> None:
    listed = [name for subject in SUBJECTS.values() for name in subject.operations]
    graphql = schema.graphql_schema
    roots = (graphql.query_type, graphql.mutation_type, graphql.subscription_type)
    assert sorted(listed) == sorted(name for root in roots if root for name in root.fields)


def test_every_type_is_described_once() -> None:
    described = Counter(
        name
        for page in _PAGES
        for names in re.findall(
            r"^(?:### (\w+) \(\w+\)|Returns `(\w+)`:)$", page.read_text(), re.MULTILINE
        )
        for name in names
        if name
    )
    roots = {"Query", "Mutation", "Subscription"}
    types = {name for name in schema.graphql_schema.type_map if not name.startswith("__")}
    assert described == Counter(types - roots)


def test_every_operation_says_who_can_call_it() -> None:
    for page in _PAGES:
        for part in re.split(r"^### ", page.read_text(), flags=re.MULTILINE)[1:]:
            name = part.partition("\n")[0]
            assert "(" in name or name == "event" or "**Who:**" in part, name
