"""The page of rate limits, from their single declaration."""

from collections.abc import Iterator, Mapping

from app.domain.sign_in.rate_limits import (
    API_LIMITS,
    CALLER_LIMITS,
    OFF,
    OTHER_LIMITS,
    PAGE_LIMITS,
    TRUSTED_FACTOR,
    RateLimit,
)

_PAGE = f"""\
# Rate limits

Look up which requests are limited, what a refused one is answered, and how to change a limit.
Each limit counts one client IP address (IPv6: the /64 network); callers whose IP address can't be
determined count together as one client. Normal storefront traffic stays below every limit. Printed
from `app/domain/sign_in/rate_limits.py`; `make docs` regenerates it.

- Change a limit by its name with `RATE_LIMITS`, for example
  `RATE_LIMITS=accountRegister=50/minute;500/hour,checkoutCreate={OFF}`. Rates are per second,
  minute, hour or day; `{OFF}` removes the limit.
- Shops that render on a server send many customers' requests from one IP address. List their
  networks in `RATE_LIMIT_TRUSTED_CLIENTS`: each limit is {TRUSTED_FACTOR} times as high for them.
  The login throttle still applies.
- All processes share the counts if `REDIS_URL` is set. While Redis is unavailable, each process
  counts by itself.

## At the same time

A server process changes several things at once, each in a transaction. Changes of the same
account, cart or shop settings queue for each other: one is made, and five can wait. Changes by
the same app or staff member: three are made, and eight can wait. A further change, and one that
has waited for two seconds, gets the error below with `retryAfter` 1. Sign-ins don't queue with
others.

## Over the limit

A page or another HTTP endpoint answers 429 with `Retry-After`; so does the API while it can't
check an imported app token (`importedToken`). A GraphQL field gets an error at
its path, HTTP 200, and the other fields of the request are executed:

```json
{{"message": "Too many requests. Try again in 12 seconds.", "path": ["accountRegister"],
 "extensions": {{"code": "TOO_MANY_REQUESTS", "retryAfter": 12}}}}
```

Mutations about accounts and external sign-in also return their payload with the same code in
`errors` and `accountErrors`, so a client that reads only those still sees the refusal; other
fields are `null`. For `tokenCreate`, `tokenRefresh` and `setPassword`, existing clients rely on an
answer without errors at the top level: the payload alone has the error, and its message has the
seconds.

"""


def printed_limits() -> str:
    """Every limit with its default and what it protects."""
    sections = (
        ("Mutations", "Apps and staff are not counted.", API_LIMITS),
        (
            "Mutations of one caller",
            "All mutations of one person or app together, from any IP address.",
            CALLER_LIMITS,
        ),
        (
            "Pages and forms",
            "By endpoint. Where there is a form, sending it is counted.",
            PAGE_LIMITS,
        ),
        ("Other limits", "", OTHER_LIMITS),
    )
    return _PAGE + "\n".join(_section(*section) for section in sections)


def _section(title: str, note: str, limits: Mapping[str, RateLimit]) -> str:
    head = f"## {title}\n\n{note}\n\n" if note else f"## {title}\n\n"
    return f"{head}| name | default | what it costs |\n|---|---|---|\n" + "".join(_lines(limits))


def _lines(limits: Mapping[str, RateLimit]) -> Iterator[str]:
    for name, limit in limits.items():
        rates = ", ".join(rate.text for rate in limit.rates)
        yield f"| `{name}` | {rates} | {limit.purpose} |\n"
