"""Our executor gives what the library's own gives."""

import json

import pytest
from graphql import execute_sync, parse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.values.errors import TokenFault
from app.graphql.context import RequestContext
from app.graphql.schema import schema
from app.graphql.server.execution.executor import Unservable, execute, refuse
from app.graphql.server.execution.variables import coerce_variables
from app.graphql.server.operations import Document
from app.services.identity.identify import Visitor
from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.fake_identity import Callers
from tests.graphql.sample_schema import LIBRARY

LEAVES = [
    "always",
    "greeting",
    "broken",
    "denied",
    "complaint",
    "misfit",
    "endless",
    "a: always",
    "hollow { title tags }",
]
BOOK = ["title", "tags", "__typename", "t: tags", "author { name }", "reviews { title }"]
LEAFLET = [
    *("title", "pages", "missing", "failing", "fault", "misfit", "empty", "blank", "nothing"),
    *("__typename", "p: pages", "author { name }", "title @skip(if: $yes)"),
]


def selected(field: str, inner: list[str]) -> st.SearchStrategy[str]:
    """Return some of the fields ``inner``, in any order, of an object at ``field``."""
    lists = st.lists(st.sampled_from(inner), min_size=1)
    return lists.map(lambda fields: f"{field} {{ {' '.join(fields)} }}")


FIELDS = st.lists(
    st.sampled_from(LEAVES)
    | st.sampled_from(["brokenAlways", "...F", "... on Query { greeting }", "__typename"])
    | selected("book", BOOK)
    | selected("leaflet", LEAFLET)
    | selected("leaflets", LEAFLET)
    | st.sampled_from(["always @skip(if: $yes)", "always @include(if: $yes)"]),
    min_size=1,
)


@pytest.fixture
def context(installation: Installation, callers: Callers) -> RequestContext:
    ports = installation.ports
    return RequestContext(ports, Visitor(), callers.identify(ports, Visitor()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=FIELDS, yes=st.booleans())
def test_data_and_errors_equal_the_librarys(
    context: RequestContext, fields: list[str], yes: bool
) -> None:
    query = f"query($yes: Boolean = true) {{ always @skip(if: $yes) {' '.join(fields)} ...F }}"
    query += " fragment F on Query { book { title } }"
    tree = parse(query)
    theirs = execute_sync(LIBRARY, tree, context_value=context, variable_values={"yes": yes})
    data, errors = execute(Document(LIBRARY, tree).operation(None), {"yes": yes}, context)
    assert data == theirs.data
    assert json.dumps(data) == json.dumps(theirs.data)  # in the same order
    assert sorted(str(error.path) for error in errors) == sorted(
        str(error.path) for error in theirs.errors or []
    )


@pytest.mark.parametrize("field", ["misfit", "endless"])
def test_invalid_field_value_is_an_internal_error(context: RequestContext, field: str) -> None:
    operation = Document(LIBRARY, parse(f"{{ {field} }}")).operation(None)
    data, (error,) = execute(operation, {}, context)
    assert data == {field: None}
    assert isinstance(error.original_error, Unservable)


def test_refusal_lists_the_fields_included_by_variables() -> None:
    query = "query($yes: Boolean!) { greeting @skip(if: $yes) caller @include(if: $yes) }"
    operation = Document(LIBRARY, parse(query)).operation(None)
    for yes, name in ((True, "caller"), (False, "greeting")):
        data, errors = refuse(operation, {"yes": yes}, TokenFault.EXPIRED)
        assert data == {name: None}
        assert [error.path for error in errors] == [[name]]


def test_variables_are_coerced_with_their_defaults() -> None:
    query = "query($n: Int = 5, $s: String) { greeting(name: $s) books(first: $n) { totalCount } }"
    operation = Document(LIBRARY, parse(query)).operation(None)
    assert coerce_variables(operation, {"s": "x"}) == {"n": 5, "s": "x"}
    problems = coerce_variables(operation, {"n": "five", "s": 1})
    assert len(problems) == 2


@cases("name", ["İ", "serch", "a" * 10_000])
def test_unknown_field_of_a_variable_is_refused(name: str) -> None:
    """Development found similar names, at which the library failed for some."""
    query = "query($f: ProductFilterInput) { products(first: 1, filter: $f) { totalCount } }"
    operation = Document(schema.graphql_schema, parse(query)).operation(None)

    problems = coerce_variables(operation, {"f": {name: 1}})

    assert isinstance(problems, list)
    assert ["is not defined by type" in problem.message for problem in problems] == [True]


@cases(
    "variables",
    [
        {"s": ["sesame"]},
        {"s": {"password": "sesame"}},
        {"s": [[{"a": ["sesame"]}]]},
        {"n": "sesame"},
    ],
)
def test_variable_error_leaves_out_the_value(variables: dict[str, object]) -> None:
    query = "query($n: Int = 5, $s: String) { greeting(name: $s) books(first: $n) { totalCount } }"
    operation = Document(LIBRARY, parse(query)).operation(None)

    problems = coerce_variables(operation, variables)

    assert isinstance(problems, list)
    assert [problem for problem in problems if "sesame" in problem.message] == []
    assert "got an invalid value" in problems[0].message
