"""The schema explains itself: all fields and arguments are described, and what is outdated."""

from graphql import GraphQLInputObjectType, GraphQLInterfaceType, GraphQLObjectType

from app.graphql.schema import describables, schema
from tests.fixtures.cases import cases

SCHEMA = schema.graphql_schema


def test_every_field_and_argument_has_a_description() -> None:
    missing = {
        names[0] for _, names, described in describables(SCHEMA) if not described.description
    }
    assert missing == set(), "describe them where they are declared"


def test_every_shared_description_is_used() -> None:
    tables = {id(table): table for table, _, _ in describables(SCHEMA)}
    used = {
        (id(table), name)
        for table, names, described in describables(SCHEMA)
        for name in names
        if table.get(name) == described.description
    }
    unused = [name for key, table in tables.items() for name in table if (key, name) not in used]
    assert unused == []


def _deprecations(type_name: str) -> dict[str, str]:
    kind = SCHEMA.type_map[type_name]
    assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType)
    return {
        name: field.deprecation_reason
        for name, field in kind.fields.items()
        if field.deprecation_reason
    }


@cases(
    ("type_name", "deprecated"),
    [
        ("CreateToken", {"accountErrors": "Use `errors`."}),
        ("ExternalVerify", {"accountErrors": "Use `errors`."}),
        ("UpdateMetadata", {"metadataErrors": "Use `errors`."}),
        ("Webhook", {"events": "Use `asyncEvents` or `syncEvents`."}),
        ("WebhookCreateInput", {"events": "Use `asyncEvents` or `syncEvents`."}),
        ("WebhookUpdateInput", {"events": "Use `asyncEvents` or `syncEvents`."}),
    ],
)
def test_outdated_fields_name_their_successor(type_name: str, deprecated: dict[str, str]) -> None:
    assert _deprecations(type_name) == deprecated


def test_every_older_name_of_errors_is_deprecated() -> None:
    older, seen = {"accountErrors", "metadataErrors"}, set[str]()
    for kind in SCHEMA.type_map.values():
        if isinstance(kind, GraphQLObjectType):
            found = older & set(kind.fields)
            assert found == found & set(_deprecations(kind.name)), kind.name
            seen |= found
    assert seen == older
