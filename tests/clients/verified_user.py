"""Who sent a request, by the shop's public keys and by a live check."""

from latchkey_verifier import Headers, Verifier, bearer


def user_of(verifier: Verifier, headers: Headers) -> str:
    """Return the user's ID, as in ``me { id }``; the verifier raises ``InvalidToken``."""
    return verifier.verify(bearer(headers)).user_id


def can_manage_orders(verifier: Verifier, headers: Headers) -> bool:
    """Return whether the caller, a user or an app, can manage orders right now."""
    return "MANAGE_ORDERS" in verifier.check(bearer(headers)).permissions


# One for each process: Verifier("https://shop.example.com/graphql/")
