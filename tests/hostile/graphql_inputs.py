"""GraphQL requests of an anonymous client that are as large as the limits allow.

Each multiplies two things that the client chooses: fields and the length of a value, errors and
the length of a document, operations and fragments.
"""

import base64
from collections.abc import Callable
from typing import Any

import orjson
from graphql import get_introspection_query

TEXT = 900_000
"""Characters that are left for one value of a body."""

TOKENS = 5000
LINES = """mutation($lines: [CheckoutLineInput!]!) {
  checkoutCreate(input: {lines: $lines}) { errors { field } } }"""
REGISTER = """mutation($input: AccountRegisterInput!) {
  accountRegister(input: $input) { errors { field } } }"""
SET_PASSWORD = """mutation($email: String!, $password: String!, $token: String!) {
  setPassword(email: $email, password: $password, token: $token) { errors { field } } }"""

Body = Callable[[], Any]


def query(text: str, **variables: Any) -> dict[str, Any]:
    return {"query": text, "variables": variables}


def repeated(make: Callable[[int], str], count: int) -> str:
    return " ".join(make(number) for number in range(count))


def aliased(field: str, count: int = 100) -> str:
    return repeated(lambda number: f"a{number}: {field}", count)


def batch(make: Callable[[int], str], count: int = 10) -> list[dict[str, Any]]:
    return [query(f"#{number}\n{make(number)}") for number in range(count)]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


VARIABLES: dict[str, Body] = {
    "wrong values in every item": lambda: query(
        LINES, lines=[{"quantity": f"q{n}", "productId": n} for n in range(6_000)]
    ),
    "wrong values in a body full of them": lambda: query(
        LINES, lines=[{"quantity": f"q{n}", "productId": n} for n in range(20_000)]
    ),
    "missing values": lambda: query(LINES, lines=[None] * 19_000),
    "a list of nulls as long as the body": lambda: query(LINES, lines=[None] * 200_000),
    "unknown members": lambda: query(LINES, lines=[{f"unknown{n}": n for n in range(19_000)}]),
    "an unknown member beside a long text": lambda: query(
        REGISTER, input={"email": "x" * TEXT} | {f"unknown{n}": n for n in range(30)}
    ),
    "enums": lambda: query(
        "mutation($i: PermissionGroupCreateInput!)"
        " { permissionGroupCreate(input: $i) { errors { code } } }",
        i={"name": "x", "addPermissions": ["MANAGE_NOTHING"] * 19_000},
    ),
    "lists in every mutation": lambda: query(
        "mutation($lines: [CheckoutLineInput!]!) {"
        + aliased("checkoutCreate(input: {lines: $lines}) { errors { field } }", 10)
        + "}",
        lines=[{"quantity": 1, "productId": encoded("Product:1")}] * 6_000,
    ),
    "empty lists": lambda: query("{ shop { name } }", values=[[]] * 300_000),
    "deep lists": lambda: query("{ shop { name } }", values=[_nested(90)] * 3_000),
    "a name as long as the body": lambda: query(
        f"query(${'z' * (TEXT // 2)}: [Int]) {{ __typename }}", **{"z" * (TEXT // 2): ["x"] * 50}
    ),
    "cursors in every field": lambda: query(
        "query($c: String) {" + aliased("products(first: 1, after: $c) { totalCount }") + "}",
        c=encoded("[" + "1," * 300_000 + "1]"),
    ),
    "ids in every field": lambda: query(
        "query($i: ID!) {" + aliased("checkout(id: $i) { id }") + "}",
        i=encoded("Checkout:" + "9" * 600_000),
    ),
    "slugs in every field": lambda: query(
        "query($s: String) {" + aliased("product(slug: $s) { id }") + "}", s="a" * TEXT
    ),
    "searches in every field": lambda: query(
        "query($s: String) {" + aliased("products(first: 1, search: $s) { totalCount }") + "}",
        s="\ufdfa b " * 150_000,
    ),
}

DOCUMENTS: dict[str, Body] = {
    "errors behind a million blanks": lambda: query(
        "{" + " " * TEXT + repeated(lambda n: f"x{n}", 4_900) + "}"
    ),
    "errors on half a million lines": lambda: query(
        "{" + "\n" * (TEXT // 2) + repeated(lambda n: f"x{n}", 4_900) + "}"
    ),
    "errors with a thousand places each": lambda: query(
        "query(" + "\n" * (TEXT // 2) + "$v: String " * 1_200 + ") { __typename }"
    ),
    "failing fields behind a million blanks": lambda: query(
        "{" + "," * TEXT + aliased("customers(first: 1) { totalCount }") + "}"
    ),
    "a name as long as the body": lambda: query("{ " + "a" * TEXT + " }"),
    "long unknown names": lambda: query("{" + repeated(lambda n: "q" * 9_000 + str(n), 100) + "}"),
    "a text as long as the body": lambda: query('{ user(email: "' + "a" * TEXT + '") { id } }'),
    "the same fields again": lambda: query("{" + "shop { name } " * 1_200 + "}"),
    "fragments that overlap": lambda: query(
        "{"
        + repeated(lambda n: f"...F{n}", 400)
        + "}"
        + repeated(lambda n: f"fragment F{n} on Query {{ shop {{ name }} }}", 400)
    ),
    "fragments that spread each other": lambda: query(
        "{ ...F0 }"
        + repeated(
            lambda n: f"fragment F{n} on Query {{ {repeated(lambda m: f'...F{m}', 45)} }}", 45
        )
    ),
    "operations that share fragments": lambda: query(
        repeated(lambda n: f"query Q{n} {{ ...F0 }}", 300)
        + "fragment F0 on Query {"
        + aliased("user(email: $a) { id }", 220)
        + "}"
    ),
    "many operations": lambda: {
        **query(repeated(lambda n: f"query Q{n} {{ shop {{ name }} }}", 600)),
        "operationName": "Q1",
    },
    "deep inline fragments": lambda: query(
        "{" + ("... {" * 30 + "__typename" + "}" * 30) * 30 + "}"
    ),
    "long lists of values": lambda: query(
        "{ products(first: 1, filter: {ids: [" + '"a" ' * 4_800 + "]}) { totalCount } }"
    ),
    "everything that fits": lambda: query(
        "{" + aliased("products(first: 14) { edges { cursor node { id name slug } } }") + "}"
    ),
    "large pages": lambda: query(
        "{"
        + aliased("products(first: 100) { edges { node { id name price { amount } } } }", 45)
        + "}"
    ),
    "an unknown operation's name": lambda: {
        **query("query Q { shop { name } }"),
        "operationName": "x" * TEXT,
    },
    "introspection": lambda: query(get_introspection_query()),
    "descriptions of all fields under many names": lambda: query(
        "{ __schema { types { fields { " + aliased("description", 90) + " } } } }"
    ),
    "countries and languages under many names": lambda: query(
        "{" + aliased("shop { countries { code country } languages { code language } }", 90) + "}"
    ),
    "introspection of the largest type": lambda: query(
        "{" + aliased('__type(name: "Mutation") { fields { name args { name } } }', 26) + "}"
    ),
}

BATCHES: dict[str, Body] = {
    "valid documents": lambda: batch(lambda _: "{" + "shop { name } " * 95 + "}"),
    "documents at the limit each": lambda: batch(lambda _: "{" + "a " * 4_900 + "}"),
    "documents that repeat fields": lambda: batch(lambda _: "{" + "shop { name } " * 120 + "}"),
    "documents that end too early": lambda: batch(lambda _: "{" + "a " * 4_900),
    "errors behind blanks": lambda: batch(
        lambda _: "{" + "\n" * 40_000 + repeated(lambda n: f"x{n}", 480) + "}"
    ),
    "fields at the root": lambda: batch(
        lambda _: "{" + aliased("products(first: 1) { totalCount }", 20) + "}"
    ),
    "wrong variables": lambda: [
        query(LINES, lines=[{"quantity": f"q{n}", "productId": n} for n in range(600)])
    ]
    * 10,
}  # fmt: skip


_RULES = "addressValidationRules(countryCode: CN) { countryName }"

_SORTED = "sortBy: {field: NAME, direction: ASC}"
_IDS = "filter: {ids: $ids}"


def product_lists(count: int, arguments: str, selection: str = "totalCount") -> str:
    return "{" + aliased(f"products({arguments}) {{ {selection} }}", count) + "}"


def by_ids(count: int) -> dict[str, Any]:
    ids = [encoded(f"Product:{number}") for number in range(1_000)]
    return query(f"query($ids: [ID!]) {product_lists(count, f'first: 1, {_IDS}')}", ids=ids)


FILTERS: dict[str, Body] = {
    "lists of a thousand IDs": lambda: by_ids(5),
    "more lists of a thousand IDs": lambda: by_ids(10),
    "lists of a thousand slugs": lambda: query(
        f"query($s: [String!]) {product_lists(5, 'first: 1, filter: {slugs: $s}')}",
        s=[f"ash-bowl-{number}" for number in range(1_000)],
    ),
    "lists of IDs in the document": lambda: query(
        product_lists(10, "first: 1, filter: {ids: [" + '"UHJvZHVjdDox" ' * 450 + "]}")
    ),
    "searches that find nothing": lambda: query(
        f"query($s: String) {product_lists(5, f'first: 1, {_SORTED}, search: $s')}",
        s="\u00e9" * 900,
    ),
    "searches that find everything": lambda: query(product_lists(5, 'first: 100, search: "a"')),
    "a hundred searches": lambda: query(
        f"query($f: ProductFilterInput) {product_lists(100, 'first: 1, filter: $f')}",
        f={"search": "a"},
    ),
    "price ranges": lambda: query(product_lists(18, "first: 1, filter: {price: {gte: 900000}}")),
    "sorted pages from the end": lambda: query(
        product_lists(30, f"last: 100, {_SORTED}", "totalCount edges { node { id } }")
    ),
}

ACCOUNTS: dict[str, Body] = {
    "rules of the country with the most places": lambda: batch(
        lambda _: "{" + aliased(_RULES, 100) + "}", 3
    ),
    "as many of these rules as are answered": lambda: query("{" + aliased(_RULES, 12) + "}"),
    "names made of many words": lambda: query(
        REGISTER,
        input={
            "email": "a@example.com",
            "password": "abcdefgh" * 128,
            "firstName": " ".join(f"abcdefg{n}" * 100 for n in range(900)),
        },
    ),
    "an email made of many words": lambda: query(
        SET_PASSWORD,
        email=" ".join(("abcdefgx" * 128)[:990] + str(n) for n in range(800)),
        password="abcdefgh" * 128,
        token="x",
    ),
    "passwords that can be read in many ways": lambda: query(
        "mutation($p: String!) {"
        + aliased('accountRegister(input: {email: "x", password: $p}) { errors { code } }', 10)
        + "}",
        p="($0{|9@!1+<(!74+[506od" * 46,
    ),
    "an email as long as the body": lambda: query(
        "mutation($e: String) {"
        + aliased('tokenCreate(email: $e, password: "x") { token }', 10)
        + "}",
        e="a" * TEXT,
    ),
    "a name of the greatest length": lambda: query(
        REGISTER,
        input={
            "email": "a@example.com",
            "password": "ab" * 200,
            "firstName": "ba" * 128,
            "lastName": "abba" * 64,
        },
    ),
    "passwords of signs that grow when they are folded": lambda: query(
        "mutation($p: String!) {"
        + aliased('setPassword(email: "a@example.com", password: $p, token: "x") { token }', 10)
        + "}",
        p="a" + "\u2474" * 1022 + "a",
    ),
    "members of a logout": lambda: query(
        "mutation($i: JSONString!) {"
        + aliased("externalLogout(input: $i) { errors { field } }", 10)
        + "}",
        i=orjson.dumps({f"k{n}": "v" for n in range(50_000)}).decode(),
    ),
    "a long member of a logout": lambda: query(
        "mutation($i: JSONString!) {"
        + aliased("externalLogout(input: $i) { errors { field } }", 10)
        + "}",
        i=orjson.dumps({"returnTo": "https:" * (TEXT // 6)}).decode(),
    ),
    "tokens": lambda: query(
        "mutation($t: String!) {" + aliased("tokenVerify(token: $t) { isValid }", 10) + "}",
        t=".".join([encoded('{"alg": "RS256", "kid": "k"}'), "a" * 600_000, "a"]),
    ),
}  # fmt: skip


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value
