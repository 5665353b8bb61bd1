"""Requests by the kind of caller, in spans of ten minutes."""

from datetime import UTC, datetime

from app.domain.authorization.actor import Actor, ActorKind, anonymous
from app.domain.shop.settings import TrafficKind, bucket_of, traffic_kind
from app.domain.values.errors import TokenFault
from tests.fixtures.cases import cases


@cases(
    ("actor", "kind"),
    [
        (anonymous(), TrafficKind.ANONYMOUS),
        (anonymous(fault=TokenFault.EXPIRED), TrafficKind.INVALID),
        (Actor(ActorKind.USER, user_id=1), TrafficKind.CUSTOMER),
        (Actor(ActorKind.USER, user_id=1, is_staff=True), TrafficKind.STAFF),
        (Actor(ActorKind.USER, user_id=1, app_id=2), TrafficKind.CUSTOMER),
        (Actor(ActorKind.APP, app_id=1), TrafficKind.APP),
    ],
)
def test_every_caller_has_one_traffic_kind(actor: Actor, kind: TrafficKind) -> None:
    assert traffic_kind(actor) is kind


@cases(("minute", "second", "begin"), [(0, 0, 0), (9, 59, 0), (10, 0, 10), (59, 59, 50)])
def test_request_is_counted_in_the_span_of_its_time(minute: int, second: int, begin: int) -> None:
    moment = datetime(2026, 3, 1, 12, minute, second, 999_999, tzinfo=UTC)
    assert bucket_of(moment) == datetime(2026, 3, 1, 12, begin, tzinfo=UTC)
