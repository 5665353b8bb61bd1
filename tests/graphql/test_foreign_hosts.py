"""No mail leads anybody to a host that the operator has not named; generated from the schema."""

from collections.abc import Iterator
from string import Template
from typing import Any

from graphql import GraphQLInputObjectType, get_named_type

from app.graphql.schema import schema
from app.ports import Ports
from tests.builders.outbox import mails
from tests.builders.people import make_user, sign_in
from tests.graphql.matrix.invalid_values import arguments_in
from tests.graphql.matrix.mutations import MUTATIONS
from tests.graphql.matrix.sample_shop import one_of_everything
from tests.graphql.shop_client import ApiClient

MUTATION = schema.graphql_schema.mutation_type
FOREIGN = (
    "https://evil.example/",
    "//evil.example/",
    "http://localhost.evil.example/",
    "http://localhost@evil.example/",
    "http://evil.example\\@localhost/",
    "http://evil.example#@localhost/",
    "http://localhost:3000/\r\nBcc: all@example.com",
    "http://loc\u00adalhost/",
    "javascript:alert(1)//localhost",
    "data:text/html,localhost",
    "http://[::1",
    "localhost",
)


def leading_somewhere() -> Iterator[str]:
    """The mutations that are told where a mail is to lead."""
    assert MUTATION is not None
    for name, field in MUTATION.fields.items():
        for argument, definition in field.args.items():
            kind = get_named_type(definition.type)
            within = kind.fields if isinstance(kind, GraphQLInputObjectType) else {}
            if "redirectUrl" in (argument, *within):
                yield name


def test_mutations_with_urls_are_listed() -> None:
    assert {*leading_somewhere()} >= {"requestPasswordReset", "accountRegister", "staffCreate"}


def test_mails_lead_to_no_foreign_host(ports: Ports) -> None:
    assert MUTATION is not None
    names, api = one_of_everything(ports), ApiClient(ports)
    by_staff = sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access
    by_customer = sign_in(ports, make_user(ports, "someone@example.com")).access
    for name in leading_somewhere():
        field = MUTATION.fields[name]
        call = Template(MUTATIONS[name].call).substitute(names)
        declared = ", ".join(f"${name}: {argument.type}" for name, argument in field.args.items())
        arguments = ", ".join(f"{argument}: ${argument}" for argument in field.args)
        query = f"mutation({declared}) {{ {name}({arguments}) {{ errors {{ field code }} }} }}"
        credential = by_staff if name in {"staffCreate", "customerCreate"} else by_customer
        for url in FOREIGN:
            response = api.run(query, credential, **leading_to(arguments_in(call), url))
            refused = [{"field": "redirectUrl", "code": "INVALID"}]
            assert response["errors"] == refused, (name, url)
    assert mails(ports) == []


def leading_to(arguments: dict[str, Any], url: str) -> dict[str, Any]:
    if "input" in arguments:
        return {**arguments, "input": {**arguments["input"], "redirectUrl": url}}
    return {**arguments, "redirectUrl": url}
