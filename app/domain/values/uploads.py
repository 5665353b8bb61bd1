"""An uploaded file."""

from dataclasses import dataclass, field

from app.domain.values.errors import Problem

NO_FILE = Problem("REQUIRED", "Choose a file.", "image")


@dataclass(frozen=True, slots=True)
class Upload:
    """``filename`` (its last part) and ``content_type`` are claims of the sender's."""

    filename: str
    content_type: str
    data: bytes = field(repr=False)
