"""An activity recorder that tests can inspect and that never writes to a database."""

from collections import Counter

from app.domain.shop.settings import TrafficKind


class FakeActivity:
    """Collects every recorded use."""

    def __init__(self) -> None:
        self.requests: Counter[TrafficKind] = Counter()
        self.rejections = 0
        self.sessions: list[int] = []
        self.app_tokens: list[tuple[int, str | None]] = []
        self.forwarding: Counter[str] = Counter()

    def count_request(self, kind: TrafficKind) -> None:
        self.requests[kind] += 1

    def count_rejection(self) -> None:
        self.rejections += 1

    def record_session_use(self, session_id: int) -> None:
        self.sessions.append(session_id)

    def record_app_token_use(self, token_id: int, address: str | None) -> None:
        self.app_tokens.append((token_id, address))

    def record_forwarding(self, peer: str) -> None:
        self.forwarding[peer] += 1

    def flush(self) -> None:
        """Do nothing: there is no store."""
