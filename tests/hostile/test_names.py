"""A name that others see never contains what can't be seen or turns the text around it."""

import json
import re
from collections.abc import Iterator
from string import Template
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, GraphQLNonNull, GraphQLScalarType

from app.domain.apps.manifests import read_manifest
from app.domain.single_sign_on.provider_users import read_person
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Refused
from app.domain.values.text_rules import line_problem, prose_problem
from app.ports import Ports
from tests.builders.people import make_user, sign_in
from tests.graphql.matrix.invalid_values import arguments_in
from tests.graphql.matrix.queries import QUERIES
from tests.graphql.matrix.sample_shop import one_of_everything
from tests.graphql.shop_client import ApiClient
from tests.graphql.test_invalid_input import SCHEMA, TABLES, document

pytestmark = pytest.mark.first

DISGUISES = {
    "right-to-left override": "Parcel\u202etsoP",
    "isolate": "Parcel \u2066Post\u2069",
    "mark": "\u200eParcel Post",
    "arabic letter mark": "Parcel Post\u061c",
    "zero width space": "Parcel\u200bPost",
    "zero width non-joiner": "Parcel\u200cPost",
    "zero width joiner": "Parcel\u200dPost",
    "byte order mark": "\ufeffParcel Post",
    "soft hyphen": "Par\u00adcel Post",
    "tag": "Parcel Post\U000e0041",
    "variation selector": "Parcel\ufe0f Post",
    "hangul filler": "\u3164",
    "blank braille pattern": "\u2800\u2800",
    "grapheme joiner": "Parcel\u034f Post",
    "escape sequence": "Parcel \x1b[2JPost",
}
LEGITIMATE = [
    "Parcel Post",
    "Früchte & Gemüse — № 1",
    "דואר חבילות",
    "متجر الكتب",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "क्\u200dष",
    "葛\U000e0100城市",
    "👩🏽\u200d🚀 Store",
    "❤\ufe0f Store",
    "1\ufe0f\u20e3 Store",
]
_NAMES = re.compile(r"(^|[a-z])(name|Name|label|author)$")
_LOOKUPS = {"pluginUpdate.input.configuration.name"}
_MUTATIONS = {
    name: row
    for table in TABLES.values()
    for name, row in table.items()
    if " " not in name and name not in QUERIES
}


def _name_paths(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where the input type has names, as paths of field names."""
    while isinstance(kind, GraphQLNonNull):
        kind = kind.of_type
    if isinstance(kind, GraphQLInputObjectType):
        for name, field in kind.fields.items():
            yield from _name_paths(field.type, (*path, name))
    elif isinstance(kind, GraphQLScalarType) and kind.name == "String" and _NAMES.search(path[-1]):
        yield path


def _with(values: dict[str, Any], path: tuple[str, ...], text: str) -> dict[str, Any]:
    inner = values.get(path[0]) or {}
    return {**values, path[0]: text if len(path) == 1 else _with(inner, path[1:], text)}


def _named_fields() -> list[tuple[str, tuple[str, ...]]]:
    root = SCHEMA.mutation_type
    assert root is not None
    return [
        (mutation, path)
        for mutation in _MUTATIONS
        for argument, definition in root.fields[mutation].args.items()
        for path in _name_paths(definition.type, (argument,))
        if ".".join((mutation, *path)) not in _LOOKUPS
    ]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_mutation_stores_a_name_with_invisible_characters(ports: Ports) -> None:
    api, names = ApiClient(ports), one_of_everything(ports)
    credential = sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access
    root = SCHEMA.mutation_type
    assert root is not None
    fields = _named_fields()

    def problems(mutation: str, path: tuple[str, ...], text: str) -> list[dict[str, str]]:
        call = _MUTATIONS[mutation].call.replace("$$file", "null")
        good = arguments_in(Template(call).substitute(names))
        query = document("mutation", mutation, root.fields[mutation])
        body = json.dumps({"query": query, "variables": _with(good, path, text)}).encode()
        response = api.send(body, credential).json
        assert "errors" not in response, (mutation, path, response)
        found: list[dict[str, str]] = response["data"][mutation]["errors"]
        return [problem for problem in found if problem["field"] == path[-1]]

    assert len(fields) > 10
    bad = [DISGUISES[name] for name in ("right-to-left override", "zero width space")]
    taken = [(*field_, text) for field_ in fields for text in bad if not problems(*field_, text)]
    assert taken == []
    emoji = LEGITIMATE[-3]
    refused = [(*field_, found) for field_ in fields for found in problems(*field_, emoji)]
    assert [refusal for refusal in refused if "characters" in refusal[-1]["message"]] == []


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
def test_no_manifest_brings_a_disguised_name(text: str) -> None:
    def codes(**members: object) -> set[str | None]:
        manifest = {"id": "app", "name": "App", "version": "1", "appUrl": "https://a.example/"}
        try:
            read_manifest({**manifest, **members}, "latchkey")
        except Refused as refused:
            return {problem.field for problem in refused.problems}
        return set()

    extension = {"label": text, "mount": "PRODUCT_DETAILS_ACTIONS", "url": "/x"}
    webhook = {
        "name": text,
        "targetUrl": "https://a.example/",
        "query": "subscription{event{__typename}}",
    }
    assert codes() == set()
    assert codes(name=text) == {"name"}
    assert codes(author=text) == {"author"}
    assert codes(extensions=[extension]) == {"extensions"}
    assert codes(extensions=[{**extension, "label": "Open"}]) == set()
    assert codes(webhooks=[webhook]) == {"webhooks"}


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
def test_no_provider_brings_a_disguised_name(text: str) -> None:
    provider = Provider(1, "a", "A", active=True)
    person = read_person({"sub": "1", "given_name": text, "family_name": "Doe"}, provider)
    assert (person.first_name, person.last_name) == ("", "Doe")


@pytest.mark.parametrize("text", LEGITIMATE)
def test_names_in_every_script_are_accepted(text: str) -> None:
    assert line_problem(text, "name", max_length=100) is None


@pytest.mark.parametrize("text", ["a \u202eb", "a\n\u2066b", "\u2069"])
def test_prose_cannot_change_the_text_direction(text: str) -> None:
    assert prose_problem(text, "description", max_length=100) is not None
    assert (
        prose_problem("שלום\u200f, עולם\n\u0645\u06cc\u200c\u062e", "description", max_length=100)
        is None
    )
