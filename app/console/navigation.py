"""The places of the navigation: what the side column, the palette and breadcrumbs are made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the navigation; ``words`` are other names that people search for."""

    label: str
    endpoint: str
    icon: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """Pages under one heading."""

    label: str
    places: tuple[Place, ...]


GROUPS = (
    PlaceGroup(
        "",
        (
            Place("Home", "console.home.index", "house", "overview dashboard start"),
            Place(
                "Access",
                "console.access.index",
                "door-open",
                "password login mode storefront traffic switches close open",
            ),
        ),
    ),
    PlaceGroup(
        "Integrations",
        (
            Place("Apps", "console.apps.index", "grid", "tokens install manifest extensions"),
            Place("Webhooks", "console.webhooks.index", "broadcast", "events subscription"),
            Place("Deliveries", "console.deliveries.index", "send", "attempts redeliver replay"),
            Place("Dry run", "console.dry_run.index", "play-circle", "payload test query"),
        ),
    ),
    PlaceGroup(
        "People",
        (
            Place(
                "Staff and groups",
                "console.staff.index",
                "person-badge",
                "people permissions invite members matrix",
            ),
            Place("Customers", "console.customers.index", "people", "accounts buyers reset link"),
        ),
    ),
    PlaceGroup(
        "Security",
        (
            Place(
                "Single sign-on",
                "console.single_sign_on.index",
                "shield-lock",
                "sso oidc openid provider issuer",
            ),
            Place("Keys", "console.keys.index", "key", "signing rotate jwks"),
            Place(
                "Throttle",
                "console.throttle.index",
                "slash-circle",
                "blocked addresses unblock wait login",
            ),
            Place("Token inspector", "console.inspector.index", "braces", "jwt decode verify"),
            Place("Audit", "console.audit.index", "journal-text", "changes history log export"),
        ),
    ),
)


def all_places() -> tuple[Place, ...]:
    """Every place, in the order of the navigation."""
    return tuple(place for group in GROUPS for place in group.places)
