"""Requests by the kind of caller they come from: what closing the storefront would turn away."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.authorization.actor import Actor

BUCKET = timedelta(minutes=10)
"""Requests are counted by spans of this length, from the full hour on."""

RETENTION = timedelta(days=8)
"""How long counts are kept."""


class TrafficKind(StrEnum):
    """The kinds of callers; ``INVALID`` sent an invalid credential."""

    ANONYMOUS = "anonymous"
    INVALID = "invalid"
    CUSTOMER = "customer"
    STAFF = "staff"
    APP = "app"


@dataclass(frozen=True, slots=True)
class TrafficHour:
    """The requests of one hour by the kind of caller."""

    began: datetime
    by_kind: Mapping[TrafficKind, int]


def traffic_kind(actor: Actor) -> TrafficKind:
    if actor.is_app:
        return TrafficKind.APP
    if actor.is_user:
        return TrafficKind.STAFF if actor.is_staff else TrafficKind.CUSTOMER
    return TrafficKind.ANONYMOUS if actor.fault is None else TrafficKind.INVALID


def bucket_of(moment: datetime) -> datetime:
    """The beginning of the span that ``moment`` is counted in."""
    past = timedelta(minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return moment - past % BUCKET
