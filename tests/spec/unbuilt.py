"""Types of the required schema that aren't built yet; the list only shrinks."""

UNBUILT: dict[str, str] = {}


def unbuilt() -> frozenset[str]:
    """Return every name of the list."""
    return frozenset(name for names in UNBUILT.values() for name in names.split())
