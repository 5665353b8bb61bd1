"""An activity recorder that tests can inspect and that never writes to a database."""

from collections import Counter
from collections.abc import Collection

from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TrafficKind


class FakeActivity:
    """Collects every recorded use."""

    def __init__(self) -> None:
        self.requests: Counter[TrafficKind] = Counter()
        self.rejections = 0
        self.sessions: list[int] = []
        self.app_tokens: list[tuple[int, str | None]] = []
        self.forwarding: Counter[str] = Counter()
        self.app_requests: Counter[tuple[int, str]] = Counter()
        self.permissions: set[tuple[int, Permission]] = set()

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

    def count_app_request(
        self, app_id: int, code: str, seconds: float, permissions: Collection[Permission] = ()
    ) -> None:
        self.app_requests[app_id, code] += 1
        self.permissions.update((app_id, permission) for permission in permissions)

    def record_permission_use(self, app_id: int, permission: Permission) -> None:
        self.permissions.add((app_id, permission))

    def flush(self) -> None:
        """Do nothing: there is no store."""
