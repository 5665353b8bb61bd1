"""The icons that code chooses; templates name their own."""

NAMED = frozenset(
    {
        "arrow-repeat",
        "box-arrow-right",
        "braces",
        "broadcast",
        "check-circle-fill",
        "door-open",
        "envelope",
        "exclamation-triangle-fill",
        "grid",
        "house",
        "info-circle-fill",
        "journal-text",
        "key",
        "keyboard",
        "link-45deg",
        "lock",
        "people",
        "person",
        "person-badge",
        "play-circle",
        "plus-lg",
        "search",
        "send",
        "shield-lock",
        "slash-circle",
        "terminal",
        "x-circle-fill",
    }
)
