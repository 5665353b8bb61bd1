"""App tokens of another installation: known by a password hash until their first use here.

A bearer is compared with the hashes of the tokens that have the same last four characters. The
first success stores our SHA-256 instead of the hash; from then on one statement finds the token.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.apps.apps import has_foreign_form, last_four
from app.domain.sign_in.rate_limits import IMPORTED_TOKEN
from app.domain.values.errors import TooManyRequests
from app.ports import NamedRow, Ports
from app.ports.passwords import PasswordsBusy
from app.ports.process_cache import FailedComparisons
from app.services.authorization.rate_limits import limit_rate
from app.services.authorization.register import building_block
from app.services.authorization.token_rights import WORKS, ForeignTokenLookup, find_foreign_token

MAX_COMPARISONS = 2
"""Hashes that one request compares; each takes as much CPU as hundreds of requests."""

FAILED_SECONDS = 60.0
"""For how long a process knows which tokens a bearer isn't."""

QUEUE_SECONDS = 5.0
"""How long a request waits for its turn to compare."""

_BUSY_SECONDS = 2
_NEXT_SECONDS = 1


@building_block
def identify_foreign_token(
    ports: Ports, token: str, digest: bytes, address: str | None
) -> ForeignTokenLookup | None:
    """Find the app of a token that isn't of Latchkey's form; ``None`` if no app can have it.

    ``digest`` is the token's SHA-256, ``address`` the client's. One statement for a token that was
    used here before. Raises ``TooManyRequests`` if an imported token can't be compared right now.
    """
    if not has_foreign_form(token):
        return None
    known = find_foreign_token(ports, digest.hex(), last_four(token))
    if known.is_stored or not known.has_candidates:
        return known
    if _uncompared_tokens(ports, token, digest):
        with _comparison_lane(ports):
            match = _compare(ports, token, digest, address)
            if match is not None:
                _convert(ports, match, digest)
    # Another request can have been quicker. One that was a candidate is no provider's meanwhile.
    found = find_foreign_token(ports, digest.hex(), last_four(token))
    return replace(found, has_candidates=True)


@building_block
def match_imported_token(
    ports: Ports, token: str, digest: bytes, address: str | None
) -> NamedRow | None:
    """Return ``id`` and ``imported_hash`` of the imported token that ``token`` is, or ``None``.

    Changes nothing. Raises ``TooManyRequests`` while too many others are compared, beyond the
    client's limit, and while there are more candidates than one request compares.
    """
    if not _uncompared_tokens(ports, token, digest):
        return None
    with _comparison_lane(ports):
        return _compare(ports, token, digest, address)


@contextmanager
def _comparison_lane(ports: Ports) -> Iterator[None]:
    """Let few requests compare tokens at the same time, so that threads are left for others."""
    lane = ports.cache.imported_tokens.lane
    if not lane.enter(QUEUE_SECONDS):
        raise TooManyRequests(_BUSY_SECONDS)
    try:
        yield
    finally:
        lane.leave()


def _compare(ports: Ports, token: str, digest: bytes, address: str | None) -> NamedRow | None:
    # Read again: those who waited for their turn find what the first of them found.
    candidates = _uncompared_tokens(ports, token, digest)
    for candidate in candidates[:MAX_COMPARISONS]:
        limit_rate(ports, IMPORTED_TOKEN, address)
        try:
            is_right = ports.passwords.verify_token(candidate.imported_hash, token)
        except PasswordsBusy as busy:
            raise TooManyRequests(_BUSY_SECONDS) from busy
        if is_right:
            return candidate
        _remember(ports, digest, candidate.id)
    if len(candidates) > MAX_COMPARISONS:
        raise TooManyRequests(_NEXT_SECONDS)
    return None


def _uncompared_tokens(ports: Ports, token: str, digest: bytes) -> list[NamedRow]:
    """Return the candidates that ``token`` hasn't been compared with."""
    query = (
        select(models.AppToken.id, models.AppToken.imported_hash)
        .join(models.App, models.App.id == models.AppToken.app_id)
        .where(
            models.AppToken.last_four == last_four(token),
            models.AppToken.imported_hash.is_not(None),
            or_(
                models.AppToken.expires_at.is_(None),
                models.AppToken.expires_at > ports.clock.now(),
            ),
            WORKS,
        )
        .order_by(models.AppToken.id)
    )
    failed = _failed(ports, digest)
    with ports.database.reading() as session:
        return [row for row in session.execute(query) if row.id not in failed]


def _failed(ports: Ports, digest: bytes) -> frozenset[int]:
    failed = ports.cache.imported_tokens.failed.get(digest)
    if failed is None or failed.until <= ports.clock.timestamp():
        return frozenset()
    return failed.token_ids


def _remember(ports: Ports, digest: bytes, token_id: int) -> None:
    failed = FailedComparisons(
        _failed(ports, digest) | {token_id}, ports.clock.timestamp() + FAILED_SECONDS
    )
    ports.cache.imported_tokens.failed.put(digest, failed)


def _convert(ports: Ports, match: NamedRow, digest: bytes) -> None:
    """Replace the imported hash by a SHA-256, unless it changed since the comparison."""
    conversion = (
        update(models.AppToken)
        .where(
            models.AppToken.id == match.id, models.AppToken.imported_hash == match.imported_hash
        )
        .values(digest=digest.hex(), imported_hash=None)
    )
    try:
        with ports.database.transaction() as session:
            session.execute(conversion)
    except IntegrityError:
        # The same token was imported twice; the other row has its digest.
        return
