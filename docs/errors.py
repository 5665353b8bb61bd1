"""The page of error codes: those of the schema and of whole requests."""

from collections.abc import Iterable, Iterator, Mapping

from graphql import GraphQLEnumType

from app.graphql.schema import schema
from docs.error_meanings import CODES, COMMON, QUERIES, REQUESTS, Meaning
from docs.parts import table

_HEAD = ("code", "when", "what to do")
_PAGE = """\
# Errors

Look up an error code: when it occurs and what to do. Test for codes, not for messages: messages
are for people and can change. Printed from the code; `make docs` regenerates it.

## Errors of a mutation

Every mutation has a field `errors` in its payload, a list that is empty if it succeeded. `field`
names the argument or input field, `message` says what is wrong, `code` is one of the codes below.
The HTTP status is 200.

<!-- prints: "field":"password","code":"REQUIRED" -->
```sh
curl -s http://localhost:8000/graphql/ -H 'Content-Type: application/json' -d '{
  "query": "mutation ($email: String) { tokenCreate(email: $email) { errors { field code } } }",
  "variables": {"email": "customer@example.com"}}'
```

```json
{"data": {"tokenCreate": {"errors": [{"field": "password", "code": "REQUIRED"}]}}}
```

"""
_REQUESTS = """\
## Errors of a request

What concerns a whole request, or a field that can't be returned, is in `errors` at the top level.
The code is `extensions.exception.code`; codes in capitals are in `extensions.code`. The other
fields of the request still have their values.

<!-- prints: "requiredPermissions":["MANAGE_STAFF"] -->
```sh
curl -s http://localhost:8000/graphql/ -H 'Content-Type: application/json' \\
  -d '{"query": "{ shop { name } staffUsers(first: 1) { totalCount } }"}'
```

"""
_STATUSES = """
## HTTP status codes

| status | when |
| --- | --- |
| 200 | The request was executed. Look at `errors` nevertheless. |
| 400 | The body can't be read, or the query doesn't fit the schema or a limit. |
| 401 | The storefront is closed. Also for a rejected token, see below. |
| 404 | The path is wrong. The API's path ends with a slash: `/graphql/`. |
| 405 | The method isn't allowed, such as a mutation with GET. |
| 408 | The body didn't arrive in time. |
| 413 | The body or a file is too large. |
| 414 | The URL of a GET request is too long: use POST. |
| 415 | `Content-Type` isn't `application/json`, `application/graphql` or `multipart/form-data`. |
| 429 | A rate limit was reached outside any field. `Retry-After` has the seconds. |
| 500 | An unexpected error. Report `requestId`. |
| 503 | The database is unavailable, or the server is overloaded. `Retry-After` has the seconds. |

With `Accept: application/graphql-response+json` a rejected token is answered with 401, too;
without it with 200 and an error for each field.
"""


def error_enums() -> Mapping[str, GraphQLEnumType]:
    """Return every enum of error codes by its name."""
    kinds = schema.graphql_schema.type_map.items()
    return {
        name: kind
        for name, kind in sorted(kinds)
        if name.endswith("ErrorCode") and isinstance(kind, GraphQLEnumType)
    }


def meaning_of(enum: str, code: str) -> Meaning:
    """Return what a code means; raises ``LookupError`` if no one has written it down."""
    tables = [CODES[enum], COMMON, *([QUERIES] if enum.startswith("Webhook") else [])]
    return next(meanings[code] for meanings in tables if code in meanings)


def printed_errors() -> str:
    """Every code, by the enum that it is in."""
    parts = [_PAGE, "### In every enum\n\n", _table(COMMON.items())]
    for name, enum in error_enums().items():
        own = [code for code in sorted(enum.values) if code not in COMMON]
        if own:
            parts.append(f"\n### {name}\n\n{enum.description}\n\n")
            parts.append(_table((code, meaning_of(name, code)) for code in own))
    requests = [_REQUESTS, _table(REQUESTS.items()), _STATUSES]
    return "".join([*parts, "\n", *requests])


def _table(meanings: Iterable[tuple[str, Meaning]]) -> str:
    return table(_HEAD, _rows(meanings))


def _rows(meanings: Iterable[tuple[str, Meaning]]) -> Iterator[tuple[str, ...]]:
    for code, (when, what) in meanings:
        yield (code if code.startswith("(") else f"`{code}`", when, what)
