"""What of the floor is not built yet, by what it comes with; the list only shrinks."""

UNBUILT = {
    "avatars": """
        Mutation.userAvatarDelete Mutation.userAvatarUpdate Upload UserAvatarDelete
        UserAvatarUpdate
    """,
}


def unbuilt() -> frozenset[str]:
    """Every name of the list."""
    return frozenset(name for names in UNBUILT.values() for name in names.split())
