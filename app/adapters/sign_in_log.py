"""Refused sign-in attempts, collected in memory and written by a thread of each process."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, insert, select
from sqlalchemy.orm import Session

from app import models
from app.adapters.activity import INTERVAL, WriteBuffer
from app.domain.sign_in.devices import device_of
from app.domain.sign_in.sign_in_log import (
    EMAIL_PURPOSE,
    MAX_DETAIL_LENGTH,
    AccountType,
    SignInReason,
    SignInRefusal,
    mask_email,
)
from app.domain.values.text_rules import MAX_NAME_LENGTH, is_storable
from app.ports.database import Database, NamedRow
from app.ports.keys import Encryption
from app.ports.system import Clock

MAX_REFUSALS = 500
"""Different refusals that are kept between two writes; more are counted without a person."""

MAX_PER_ADDRESS = 20
"""Different refusals of one IP address among them."""

_MAX_ENTERED_LENGTH = 255
"""Characters that are kept of what was entered as an email: one more than an account's has."""

Key = TypeVar("Key", int, str)


@dataclass(slots=True)
class _Attempts:
    """How often and when the same attempt was refused."""

    first_at: datetime
    last_at: datetime
    user_agent: str
    number: int = 0


@dataclass(slots=True)
class _Refusals:
    """What was refused since the last write.

    Beyond ``MAX_PER_ADDRESS`` of one IP address, refusals are counted without their person; beyond
    ``MAX_REFUSALS`` in all, without their address too.
    """

    counted: dict[SignInRefusal, _Attempts] = field(default_factory=dict)
    addresses: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.counted)

    def add(self, refusal: SignInRefusal, attempts: _Attempts) -> None:
        if refusal not in self.counted:
            if self.addresses[refusal.address] >= MAX_PER_ADDRESS:
                refusal = _without_person(refusal)
            if len(self.counted) >= MAX_REFUSALS:
                refusal = replace(_without_person(refusal), address="")
        known = self.counted.get(refusal)
        if known is None:
            self.counted[refusal] = replace(attempts)
            self.addresses[refusal.address] += 1
            return
        known.number += attempts.number
        known.first_at = min(known.first_at, attempts.first_at)
        if attempts.last_at >= known.last_at:
            known.last_at, known.user_agent = attempts.last_at, attempts.user_agent


@dataclass(frozen=True, slots=True)
class _Accounts:
    """The accounts and app tokens that refusals are about."""

    by_id: Mapping[int, NamedRow]
    by_email: Mapping[str, NamedRow]
    tokens: Mapping[str, NamedRow]


class SqlSignInLog:
    """Writes the refusals that its buffer has counted."""

    def __init__(
        self, database: Database, clock: Clock, encryption: Encryption, interval: float = INTERVAL
    ) -> None:
        self._database = database
        self._clock = clock
        self._encryption = encryption
        self._buffer = WriteBuffer(
            "sign-in log", make=_Refusals, write=self._write, merge=_merged, interval=interval
        )

    def count_refusal(self, refusal: SignInRefusal, user_agent: str) -> None:
        now = self._clock.now()
        kept = replace(
            refusal, email=refusal.email[:_MAX_ENTERED_LENGTH], detail=_storable(refusal.detail)
        )
        attempts = _Attempts(now, now, user_agent, 1)
        with self._buffer as refusals:
            refusals.add(kept, attempts)

    @property
    def waiting(self) -> int:
        """How many entries wait to be written."""
        return self._buffer.count(lambda refusals: len(refusals.counted))

    def flush(self) -> None:
        self._buffer.flush()

    def close(self) -> None:
        """Write what is left, and end the thread."""
        self._buffer.close()

    def _write(self, refusals: _Refusals) -> None:
        counted = refusals.counted
        with self._database.reading() as session:
            accounts = _find_accounts(session, counted)
        now = self._clock.now()
        rows = [
            self._row(refusal, attempts, accounts, now) for refusal, attempts in counted.items()
        ]
        with self._database.transaction() as session:
            session.execute(insert(models.SignInEvent), rows)

    def _row(
        self, refusal: SignInRefusal, attempts: _Attempts, accounts: _Accounts, now: datetime
    ) -> dict[str, object]:
        token = accounts.tokens.get(refusal.token_digest)
        user = accounts.by_id.get(refusal.user_id or 0) or accounts.by_email.get(refusal.email)
        row = {
            "at": attempts.last_at,
            "first_at": attempts.first_at,
            "attempts": attempts.number,
            "method": refusal.method.value,
            "reason": refusal.reason.value,
            "account_type": AccountType.UNKNOWN.value,
            "user_id": refusal.user_id,
            "app_id": None,
            "name": "",
            "email_digest": "",
            "provider": refusal.provider[:MAX_NAME_LENGTH],
            "address": refusal.address,
            "device": device_of(attempts.user_agent),
            "in_console": refusal.in_console,
            "detail": refusal.detail,
        }
        if user is not None:
            return row | _user_fields(user)
        if refusal.token_digest:
            return row | _app_fields(refusal, token, now)
        if refusal.email:
            digest = self._encryption.fingerprint(EMAIL_PURPOSE, refusal.email)
            return row | {"email_digest": digest, "name": mask_email(refusal.email)}
        return row


def _merged(older: _Refusals, newer: _Refusals) -> _Refusals:
    for refusal, attempts in newer.counted.items():
        older.add(refusal, attempts)
    return older


def _without_person(refusal: SignInRefusal) -> SignInRefusal:
    return replace(refusal, email="", user_id=None, token_digest="", token_end="", detail="")


def _storable(detail: str) -> str:
    kept = detail if is_storable(detail) else ""
    if len(kept) <= MAX_DETAIL_LENGTH:
        return kept
    return f"{kept[: MAX_DETAIL_LENGTH - 1]}\N{HORIZONTAL ELLIPSIS}"


def _user_fields(user: NamedRow) -> dict[str, object]:
    kind = AccountType.STAFF if user.is_staff else AccountType.CUSTOMER
    return {"user_id": user.id, "account_type": kind.value, "name": user.email}


def _app_fields(
    refusal: SignInRefusal, token: NamedRow | None, now: datetime
) -> dict[str, object]:
    """Return the app of a token; a revoked or foreign one is shown by its last characters."""
    if token is None:
        return {"name": f"\N{HORIZONTAL ELLIPSIS}{refusal.token_end}"}
    reason = SignInReason.INACTIVE
    if token.expires_at is not None and token.expires_at <= now:
        reason = SignInReason.TOKEN_EXPIRED
    return {
        "app_id": token.app_id,
        "account_type": AccountType.APP.value,
        "name": token.name,
        "reason": reason.value,
    }


def _find_accounts(session: Session, refusals: Collection[SignInRefusal]) -> _Accounts:
    """Return who the refusals are about; three statements at most."""
    user = select(models.User.id, models.User.email, models.User.is_staff)
    token = select(
        models.AppToken.digest, models.AppToken.expires_at, models.AppToken.app_id, models.App.name
    ).join(models.App, models.App.id == models.AppToken.app_id)
    by_id = _rows(session, user, models.User.id.in_, (refusal.user_id for refusal in refusals))
    emails = (refusal.email for refusal in refusals if is_storable(refusal.email))
    by_email = _rows(session, user, models.User.email.in_, emails)
    digests = (refusal.token_digest for refusal in refusals)
    tokens = _rows(session, token, models.AppToken.digest.in_, digests)
    return _Accounts(
        {row.id: row for row in by_id},
        {row.email: row for row in by_email},
        {row.digest: row for row in tokens},
    )


def _rows(
    session: Session,
    query: Select[*tuple[Any, ...]],
    is_in: Callable[[Collection[Key]], ColumnElement[bool]],
    keys: Iterable[Key | None],
) -> list[NamedRow]:
    distinct_keys = sorted({key for key in keys if key})
    return list(session.execute(query.where(is_in(distinct_keys)))) if distinct_keys else []
