"""The icons that code chooses; templates name their own."""

_STATES = {
    "ok": "check-circle-fill",
    "warn": "exclamation-triangle-fill",
    "bad": "x-circle-fill",
}

NAMED = frozenset(
    {
        "arrow-repeat",
        "bag",
        "box-arrow-right",
        "braces",
        "broadcast",
        "check-circle-fill",
        "circle-half",
        "clock-history",
        "dash-circle",
        "display",
        "door-open",
        "envelope",
        "envelope-paper",
        "exclamation-triangle-fill",
        "gear",
        "grid",
        "house",
        "info-circle-fill",
        "journal-text",
        "key",
        "keyboard",
        "lightning-charge",
        "link-45deg",
        "lock",
        "moon-stars",
        "people",
        "person",
        "person-badge",
        "play-circle",
        "plus-lg",
        "search",
        "send",
        "shield-lock",
        "slash-circle",
        "sun",
        "terminal",
        "x-circle-fill",
    }
)


def state_icon(state: str) -> str:
    """Return the icon of ok, warn or bad; other states are information."""
    return _STATES.get(state, "info-circle-fill")
