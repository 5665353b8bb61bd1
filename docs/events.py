"""The page of events: each with its permission, its default query and a sample payload."""

import json
from collections.abc import Iterator
from functools import cache

from graphql import parse, print_ast

from app.domain.apps.apps import grantable_problem
from app.domain.authorization.actor import OPERATOR
from app.domain.events import EVENTS, Event, LinkRequested, default_query
from app.ports import Ports
from app.services.deliveries.dry_runs import dry_run_webhook
from docs.sample_shop import sample_shop

_PAGE = """\
# Webhook events

Look up what an event is called, which permission an app needs to receive it, and what its payload
looks like. A webhook [subscribes](webhooks.md#subscribe) with a query that selects the fields it
wants, or by event names alone; then the default query shown here makes the payload.

Printed by `make docs` from `app/domain/events.py`. The samples are dry runs of the default queries
in a small shop. `flask webhook events` lists the events of an installation,
`flask webhook dry-run --query @query.graphql` prints a payload from its data.

`ANY_EVENTS` subscribes to all of them, including those of later versions: the app receives those
whose permission it holds.
"""
_AREAS = {
    "ACCOUNT": "Accounts",
    "ADDRESS": "Addresses",
    "APP": "Apps",
    "CHANNEL": "Channels",
    "SHOP": "Shop",
    "ORDER": "Orders",
    "CUSTOMER": "Customers",
    "PRODUCT": "Products",
    "CHECKOUT": "Carts",
    "PERMISSION_GROUP": "Permission groups",
    "STAFF": "Staff",
}
"""The headings, by what the names of their events begin with."""

_LINK = """\
`token` is the link's secret. It is sent to webhooks that can
[receive it](webhooks.md#subscribe); dry runs and the console don't show it. An app can
[send the email with the link](../guides/app-mail.md).
"""
_PEOPLE_ONLY = """\
Apps can't be granted `MANAGE_APPS`, so only an app that got it from an earlier version receives
this event.
"""


@cache
def printed_events() -> str:
    """Every event with a payload that the product's own dry run made."""
    with sample_shop() as ports:
        return _PAGE + "".join(_areas(ports))


def _areas(ports: Ports) -> Iterator[str]:
    area = ""
    for event in EVENTS.values():
        if area != (area := _area_of(event)):
            yield f"\n## {area}\n"
        yield _section(ports, event)


def _area_of(event: type[Event]) -> str:
    return next(title for start, title in _AREAS.items() if event.type.startswith(f"{start}_"))


def _section(ports: Ports, event: type[Event]) -> str:
    query = default_query(event)
    sample = dry_run_webhook(ports, OPERATOR, query=query, event=event.type)
    payload = json.dumps(json.loads(sample.payload), indent=2, ensure_ascii=False)
    note = f"\n{_LINK}" if issubclass(event, LinkRequested) else ""
    if grantable_problem([event.permission]) is not None:
        note = f"\n{_PEOPLE_ONLY}"
    return f"""
### {event.type.value}

{event.description} An app needs `{event.permission.value}` to receive it. In headers:
`{event.type.value.lower()}`.
{note}
```graphql
{print_ast(parse(query))}
```

```json
{payload}
```
"""
