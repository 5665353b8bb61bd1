"""The note and the opening time of a closed storefront."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from app.domain.shop.settings import ShopSettings, ShopUpdate
from app.domain.values.errors import Problem
from app.domain.values.unset import ABSENT


def with_closing(before: ShopSettings, update: ShopUpdate, after: ShopSettings) -> ShopSettings:
    """Return ``after`` with the note and the opening time that belong to its storefront.

    Both belong to one closing: another switch of the storefront drops those it doesn't name.
    """
    if after.allow_storefront_traffic:
        return replace(after, storefront_note="", storefront_opens_at=None)
    if not before.allow_storefront_traffic:
        return after
    return replace(
        after,
        storefront_note="" if update.storefront_note is ABSENT else after.storefront_note,
        storefront_opens_at=(
            None if update.storefront_opens_at is ABSENT else after.storefront_opens_at
        ),
    )


def closing_problems(update: ShopUpdate, after: ShopSettings, now: datetime) -> Iterator[Problem]:
    """Yield what is wrong with the note and the opening time that ``update`` names."""
    has_note = update.storefront_note is not ABSENT and after.storefront_note
    if after.allow_storefront_traffic and has_note:
        yield Problem("INVALID", "The storefront is open.", "storefrontNote")
    if update.storefront_opens_at is ABSENT or after.storefront_opens_at is None:
        return
    if after.allow_storefront_traffic:
        yield Problem("INVALID", "The storefront is open.", "storefrontOpensAt")
    elif after.storefront_opens_at <= now:
        yield Problem("INVALID", "Enter a time in the future.", "storefrontOpensAt")
