"""Where the login throttle keeps its counters: in Redis if there is one, else in the database."""

from app.adapters.throttle_redis import connect_redis_throttle
from app.adapters.throttle_sql import SqlThrottle
from app.ports.database import Database
from app.ports.throttle import Throttle


def connect_throttle(database: Database, redis_url: str) -> Throttle:
    """The throttle in the Redis at ``redis_url``, or without one in ``database``.

    Connects when first asked for something.
    """
    return connect_redis_throttle(redis_url) if redis_url else SqlThrottle(database)
