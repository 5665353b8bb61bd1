"""The system's clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Time as the machine tells it."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def timestamp(self) -> float:
        return time.time()
