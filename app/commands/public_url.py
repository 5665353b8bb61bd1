"""The base URL of this installation, as far as the command line can determine it."""

from app.ports import Ports

_IN_DEVELOPMENT = "http://localhost:8000"


def base_url(ports: Ports, served_at: str = "") -> str:
    """PUBLIC_URL, or else ``served_at``, or else the default; without a slash at its end."""
    return ports.configuration.public_url or served_at.rstrip("/") or _IN_DEVELOPMENT
