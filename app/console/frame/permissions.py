"""Permissions as chips: which can be granted here, and why others can't."""

from collections.abc import Iterable
from dataclasses import dataclass

from flask_babel import LazyString
from wtforms import SelectMultipleField
from wtforms.fields.choices import SelectChoice
from wtforms.widgets import CheckboxInput, ListWidget

from app.domain.apps.apps import grantable_problem
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    AREAS,
    Permission,
    in_order,
    known_permissions,
)
from app.web.translation import enumeration, lazy_text, text

NOT_HELD, NO_APP = "not_held", "no_app"
"""Why a permission can't be granted: the person doesn't have it, or no app can have it."""

_NAMED = 3
_LABEL = lazy_text("Permissions")


@dataclass(frozen=True, slots=True)
class Chip:
    """A permission that can be ticked, or (``why_not``) can't."""

    permission: Permission
    is_chosen: bool
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class ChipArea:
    label: str
    count: str
    chips: tuple[Chip, ...]


class PermissionsField(SelectMultipleField):  # type: ignore[misc]
    """Ticked permissions; unknown names are left out."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()

    def __init__(self, label: LazyString = _LABEL, **kwargs: object) -> None:
        choices = [SelectChoice(one.value, one.label) for one in in_order(ALL_PERMISSIONS)]
        super().__init__(label, choices=choices, **kwargs)

    @property
    def chosen(self) -> frozenset[Permission]:
        return known_permissions(self.data or [])


def chips(
    actor: Actor, chosen: Iterable[Permission], *, for_app: bool = False
) -> tuple[Chip, ...]:
    """Return every permission in order; ``why_not`` is set where ``actor`` can't grant it."""
    held = frozenset(chosen)
    return tuple(
        Chip(one, one in held, _why_not(actor, one, for_app=for_app))
        for one in in_order(ALL_PERMISSIONS)
    )


def by_area(chips: Iterable[Chip]) -> tuple[ChipArea, ...]:
    shown = {chip.permission: chip for chip in chips}
    areas = {
        label: tuple(shown[one] for one in permissions if one in shown)
        for label, permissions in AREAS.items()
    }
    return tuple(_area(label, found) for label, found in areas.items() if found)


def _area(label: str, chips: tuple[Chip, ...]) -> ChipArea:
    chosen = sum(chip.is_chosen for chip in chips)
    return ChipArea(text(label), text("{chosen} of {all}", chosen=chosen, all=len(chips)), chips)


def dashed_note(chips: Iterable[Chip]) -> str:
    """Return why some of ``chips`` can't be granted; empty if all can."""
    why_not = [(text(chip.permission.label), chip.why_not) for chip in chips]
    lacking = [label for label, why in why_not if why == NOT_HELD]
    never = [label for label, why in why_not if why == NO_APP]
    sentences = []
    if len(lacking) > _NAMED:
        sentences.append(text("You can't grant permissions that you don't have."))
    elif lacking:
        sentence = text(
            "You can't grant {permissions} because you don't have it.",
            "You can't grant {permissions} because you don't have them.",
            count=len(lacking),
            permissions=enumeration(lacking),
        )
        sentences.append(sentence)
    if never:
        sentences.append(text("Apps can't have {permissions}.", permissions=enumeration(never)))
    return " ".join(sentences)


def _why_not(actor: Actor, permission: Permission, *, for_app: bool) -> str:
    if for_app and grantable_problem((permission,)) is not None:
        return NO_APP
    return "" if actor.holds(permission) else NOT_HELD
