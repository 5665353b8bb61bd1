"""The parts of the webhooks reference that are printed from the code."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from app.domain.deliveries.deliveries import (
    DISABLE_AFTER,
    MAX_HEADERS_SIZE,
    MAX_RESPONSE_SIZE,
    MAX_RETRY_AFTER,
    RETENTION,
    SCHEDULE,
    TIMEOUT,
    DeliveryStatus,
    make_message_id,
    next_step_after,
)
from app.domain.deliveries.signatures import Envelope, headers_of, hex_signature
from app.domain.urls.web_urls import MAX_URL_LENGTH
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.values.times import JITTER
from app.domain.webhooks import MAX_HEADER_LENGTH, MAX_HEADERS, MAX_QUERY_LENGTH
from app.ports.configuration import Configuration
from app.services.deliveries.dispatch import MAX_LEASES
from app.services.webhooks.stored_webhooks import OLD_SECRET_SIGNS
from docs.parts import duration, size, table, with_printed_parts
from docs.sample_shop import API_URL, NOW, SHOP

PAGE = Path(__file__).parent / "reference" / "webhooks.md"

_SECRET = "whsec_bGF0Y2hrZXkgd2ViaG9vayBzYW1wbGUga2V5ISE="  # noqa: S105 - a sample
_BODY = b'{"product": {"id": "UHJvZHVjdDox", "name": "Ash bowl"}}'
_JWS = "eyJhbGciOi…..MBx4iM4t…"
_MEANINGS: Mapping[str, str] = {
    "Content-Type": "The body is JSON in UTF-8.",
    "Event": "The event in lower case.",
    "Domain": "Host of the API URL, with its port if it has one.",
    "Api-Url": "The API that sent it: the same text as `iss` in its tokens.",
    "Schema-Version": "Version of the API.",
    "Signature": "Without a secret a detached JWS, with one the HMAC in hex.",
    "webhook-id": "ID of the delivery: the same at every attempt.",
    "webhook-timestamp": "When this attempt was made, in Unix seconds.",
    "webhook-signature": "Only with a secret: signatures by Standard Webhooks, one per secret.",
    "Sample": "Only on deliveries that were triggered by hand.",
}
_STATUSES = range(200, 600)
"""The statuses that an endpoint can answer with."""


def printed_webhooks() -> str:
    """The page with its printed parts."""
    parts = {
        "headers": _headers_table(),
        "schedule": _schedule_table(),
        "answers": _answers_table(),
        "limits": _limits_table(),
    }
    return with_printed_parts(PAGE, parts)


def sample_headers(secrets: tuple[str, ...] = (), *, is_sample: bool = False) -> dict[str, str]:
    """Return a delivery's headers with the default settings, made by the product's own code."""
    envelope = Envelope(
        names=Configuration().header_names,
        event="PRODUCT_CREATED",
        api_url=API_URL,
        domain=SHOP.removeprefix("https://"),
        schema_version=SCHEMA_VERSION,
        message_id=make_message_id(NOW, "q8Zr2LmXw0aB5dKe"),
        signature=hex_signature(secrets[0], _BODY) if secrets else _JWS,
        is_sample=is_sample,
    )
    timestamp = int(NOW.timestamp())
    return headers_of(envelope, _BODY, timestamp=timestamp, secrets=secrets, custom={})


def _headers_table() -> str:
    plain, with_secret = sample_headers(is_sample=True), sample_headers((_SECRET,))
    # Only what the secret signs differs: the other signatures look as without one.
    return table(("header", "example", "meaning"), _header_rows(with_secret | plain))


def _header_rows(headers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    by_meaning: dict[str, list[str]] = {}
    for name in headers:
        meaning = next(text for end, text in _MEANINGS.items() if name.endswith(end))
        by_meaning.setdefault(meaning, []).append(name)
    for meaning, names in by_meaning.items():
        shown = "<br>".join(f"`{name}`" for name in sorted(names, key=_place))
        yield shown, f"`{headers[names[0]]}`", meaning


def _place(name: str) -> tuple[bool, bool, str]:
    """The platform's names come first: they are what existing apps read."""
    return not name.startswith("Saleor-"), not name.startswith("X-"), name


def _schedule_table() -> str:
    after = 0
    rows = []
    for number, wait in enumerate(SCHEDULE, start=1):
        after += wait
        rows.append((str(number), duration(wait) if wait else "at once", duration(after)))
    return table(("attempt", "wait before it", "after the event"), rows)


def _answers_table() -> str:
    by_result: dict[str, list[str]] = {}
    for result, statuses in groupby(_STATUSES, _result_of):
        first, *others = statuses
        by_result.setdefault(result, []).append(
            f"{first} to {others[-1]}" if others else str(first)
        )
    by_result[_result_of(None)].append("no answer")
    rows = ((", ".join(answers), result) for result, answers in by_result.items())
    return table(("answer", "the delivery is"), rows)


def _result_of(answered: int | None) -> str:
    step = next_step_after(answered=answered, attempts=1, retry_after=None, chance=0)
    if step.gone:
        return "failed, and the webhook is disabled"
    is_delivered = step.status is DeliveryStatus.SUCCESS
    return "delivered" if is_delivered else "failed, and tried again"


def _limits_table() -> str:
    rows = (
        ("Time for the whole answer", duration(TIMEOUT)),
        ("Attempts", str(len(SCHEDULE))),
        ("Random addition to each wait", f"up to {JITTER:.0%}"),
        ("Longest `Retry-After` that counts", duration(MAX_RETRY_AFTER)),
        ("Answer kept with an attempt", size(MAX_RESPONSE_SIZE)),
        ("Headers of the answer kept with an attempt", size(MAX_HEADERS_SIZE)),
        ("Deliveries and their attempts are kept for", duration(RETENTION)),
        ("Disabled after failing without one success for", duration(DISABLE_AFTER)),
        ("A replaced secret still signs for", duration(OLD_SECRET_SIGNS)),
        ("Batches to one endpoint at the same time", str(MAX_LEASES)),
        ("Custom headers", str(MAX_HEADERS)),
        ("Name and value of a custom header", f"{MAX_HEADER_LENGTH} characters"),
        ("Endpoint URL", f"{MAX_URL_LENGTH} characters"),
        ("Subscription query", f"{MAX_QUERY_LENGTH} characters"),
    )
    return table(("limit", "value"), rows)
