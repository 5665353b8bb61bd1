"""An uploaded file."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Upload:
    """``filename`` (its last part) and ``content_type`` are claims of the sender's."""

    filename: str
    content_type: str
    data: bytes = field(repr=False)
