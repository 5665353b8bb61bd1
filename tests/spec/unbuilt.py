"""What of the floor is not built yet, by what it comes with; the list only shrinks."""

UNBUILT: dict[str, str] = {}


def unbuilt() -> frozenset[str]:
    """Every name of the list."""
    return frozenset(name for names in UNBUILT.values() for name in names.split())
