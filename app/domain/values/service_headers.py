"""The headers that tell a receiver which installation sent a request, under each vendor's names.

Contract, part 3: the platform's names are sent beside ours, so that existing apps find theirs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PLATFORM = "saleor"
_OLDER_NAMES = frozenset({"Event", "Domain", "Signature"})
"""What the platform also sends under its older names, which begin with ``X-``."""


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Whose names the headers have: ``vendor``'s, and the platform's if ``platform``."""

    vendor: str
    platform: bool

    @property
    def sample_header(self) -> str:
        """The header of deliveries triggered by hand, which the platform does not have."""
        return f"{self.vendor.capitalize()}-Sample"

    def name_headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return ``values`` (``Event``, ``Domain`` and so on) under each vendor's names.

        At most 13 headers for the five values of a delivery.
        """
        named = _prefixed(self.vendor.capitalize(), values)
        if self.platform:
            older = {name: value for name, value in values.items() if name in _OLDER_NAMES}
            named |= _prefixed(PLATFORM.capitalize(), values)
            named |= _prefixed(f"X-{PLATFORM.capitalize()}", older)
        return named


def _prefixed(prefix: str, values: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}-{name}": value for name, value in values.items()}
