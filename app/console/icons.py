"""The icons that code chooses; templates name their own."""

NAMED = frozenset(
    {
        "arrow-repeat",
        "box-arrow-right",
        "braces",
        "broadcast",
        "check-circle-fill",
        "door-open",
        "exclamation-triangle-fill",
        "grid",
        "house",
        "info-circle-fill",
        "journal-text",
        "key",
        "lock",
        "people",
        "person",
        "person-badge",
        "play-circle",
        "search",
        "send",
        "shield-lock",
        "slash-circle",
        "terminal",
        "x-circle-fill",
    }
)
