"""A long past: a million customers, a thousand staff, their sessions, failures and changes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import insert, select

from app import models
from app.domain.accounts.search import words_of
from app.domain.authorization.actor import SessionOrigin
from app.models.record import Record
from app.ports import Ports
from benchmarks import lists

CUSTOMERS = lists.PEOPLE
STAFF = 1_000
SESSIONS = 100_000
ENTRIES = 100_000
BLOCKED = 10_000

CUSTOMERS_AFTER = 10_000
"""The customers' keys follow this one."""

ISSUER = "https://id.crowd.invalid"

_FIRST_STAFF = 5_000_000
_CHUNK = 10_000
_LIFETIME = timedelta(days=30)
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36"
_ACTIONS = (
    ("staff.update", "User"),
    ("group.update", "Group"),
    ("app_token.create", "App"),
    ("product.update", "Product"),
    ("shop.update", "Shop"),
    ("keys.rotate", "SigningKey"),
)

Make = Callable[[int], dict[str, object]]


def add_large_dataset(ports: Ports, url: str) -> None:
    """Add all of them to a shop that is there already, and has groups."""
    lists.fill(url, after=CUSTOMERS_AFTER)
    now = ports.clock.now()
    with ports.database.reading() as session:
        groups = list(session.scalars(select(models.Group.id)))
    add_rows(ports, models.User, STAFF, lambda number: _staff(number, now))
    for which in range(3):
        add_rows(ports, models.UserWord, STAFF, partial(_word, which))
    add_rows(ports, models.GroupMember, STAFF, lambda number: _member(number, groups))
    add_rows(ports, models.ExternalIdentity, STAFF // 2, lambda number: _identity(number, now))
    add_rows(ports, models.Session, SESSIONS, lambda number: _session(number, now))
    add_rows(ports, models.AuditEntry, ENTRIES, lambda number: _entry(number, now))
    add_rows(ports, models.ThrottleAddress, BLOCKED, lambda number: _address(number, now))
    add_rows(ports, models.ThrottleUser, BLOCKED, lambda number: _failure(number, now))


def add_rows(ports: Ports, table: type[Record], count: int, make: Make) -> None:
    """Add what ``make`` gives for each number below ``count``."""
    for start in range(0, count, _CHUNK):
        with ports.database.transaction() as session:
            rows = [make(number) for number in range(start, min(start + _CHUNK, count))]
            session.execute(insert(table), rows)


def _staff(number: int, now: datetime) -> dict[str, object]:
    joined = now - timedelta(minutes=STAFF - number)
    return {
        "id": _FIRST_STAFF + number,
        "email": f"clerk{number}@crowd.example",
        "first_name": f"Clerk{number}",
        "last_name": f"Last{number % 997}",
        "is_staff": True,
        "password_hash": "$argon2id$none" if number % 3 else None,
        "date_joined": joined,
        "updated_at": joined,
        "last_login": now if number % 5 else None,
    }


def _word(which: int, number: int) -> dict[str, object]:
    words = sorted(
        words_of(f"clerk{number}@crowd.example", f"Clerk{number}", f"Last{number % 997}")
    )
    return {"user_id": _FIRST_STAFF + number, "word": words[which], "is_staff": True}


def _member(number: int, groups: list[int]) -> dict[str, object]:
    return {"user_id": _FIRST_STAFF + number, "group_id": groups[number % len(groups)]}


def _identity(number: int, now: datetime) -> dict[str, object]:
    return {
        "user_id": _FIRST_STAFF + number * 2,
        "issuer": ISSUER,
        "subject": f"subject-{number}",
        "is_verified": True,
        "created_at": now,
    }


def _session(number: int, now: datetime) -> dict[str, object]:
    """One in twenty is staff's; those of customers are spread over all of them."""
    of_staff = number % 20 == 0
    user = _FIRST_STAFF + number // 20 % STAFF if of_staff else CUSTOMERS_AFTER + 1 + number * 9
    return {
        "token": f"crowd{number:020d}",
        "user_id": user,
        "origin": (SessionOrigin.PASSWORD if number % 3 else SessionOrigin.OIDC).value,
        "created_at": now - timedelta(hours=number % 500),
        "expires_at": now + _LIFETIME,
        "last_used_at": now - timedelta(minutes=number % 5000),
        "address": f"203.0.{number // 250 % 250}.{number % 250}",
        "user_agent": _BROWSER,
    }


def _entry(number: int, now: datetime) -> dict[str, object]:
    action, subject = _ACTIONS[number % len(_ACTIONS)]
    by_staff = number % 4 != 0
    return {
        "at": now - timedelta(minutes=ENTRIES - number),
        "actor_kind": "user" if by_staff else "operator",
        "actor_user_id": _FIRST_STAFF + number % STAFF if by_staff else None,
        "actor_name": f"clerk{number % STAFF}@crowd.example" if by_staff else "",
        "address": "203.0.113.7" if by_staff else "",
        "action": action,
        "subject_type": subject,
        "subject_id": str(number % 1000),
        "subject_name": f"Subject {number % 1000}",
        "before": {"name": f"Before {number}"},
        "after": {"name": f"After {number}"},
    }


def _address(number: int, now: datetime) -> dict[str, object]:
    return {
        "address": _blocked(number),
        "blocked_until": now.timestamp() + 600 + number % 3000,
        "known_failures": 9,
        "failures": 12,
        "updated_at": now.timestamp(),
    }


def _failure(number: int, now: datetime) -> dict[str, object]:
    return {
        "address": _blocked(number),
        "user_id": CUSTOMERS_AFTER + 1 + number,
        "failures": 9,
        "updated_at": now.timestamp(),
    }


def _blocked(number: int) -> str:
    return f"198.18.{number // 250}.{number % 250}"
