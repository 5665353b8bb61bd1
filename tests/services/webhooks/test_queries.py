"""What is wrong with a subscription query, and where."""

from app.domain.authorization.actor import OPERATOR
from app.domain.events import EventType
from app.ports import Ports
from app.services.webhooks.payloads import check_query
from tests.fixtures.cases import cases


def test_valid_query_names_its_events(ports: Ports) -> None:
    found = check_query(
        ports, OPERATOR, "subscription { event { ... on OrderPaid { order { id } } } }"
    )
    assert found.events == (EventType.ORDER_PAID,)
    assert found.problem is None


@cases(
    ("query", "code", "lines"),
    [
        ("subscription {\n  event {", "SYNTAX", (2,)),
        ("subscription {\n event { ... on OrderPaid {\n nothing } } }", "GRAPHQL_ERROR", (3,)),
        ("{ shop { name } }", "MISSING_SUBSCRIPTION", ()),
    ],
)
def test_invalid_query_is_reported_with_its_lines(
    ports: Ports, query: str, code: str, lines: tuple[int, ...]
) -> None:
    problem = check_query(ports, OPERATOR, query).problem
    assert problem is not None
    assert (problem.code, problem.lines) == (code, lines)
