"""Permissions as chips: which may be given here, and why others may not."""

from collections.abc import Iterable
from dataclasses import dataclass

from wtforms import SelectMultipleField
from wtforms.fields.choices import SelectChoice
from wtforms.widgets import CheckboxInput, ListWidget

from app.domain.apps.apps import grantable_problem
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order, known


@dataclass(frozen=True, slots=True)
class Chip:
    """A permission that can be ticked, or (``why_not``) cannot."""

    permission: Permission
    is_chosen: bool
    why_not: str = ""


class PermissionsField(SelectMultipleField):  # type: ignore[misc]
    """Ticked permissions; what is none is left out."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()

    def __init__(self, label: str = "Permissions", **kwargs: object) -> None:
        choices = [SelectChoice(one.value, one.label) for one in in_order(ALL_PERMISSIONS)]
        super().__init__(label, choices=choices, **kwargs)

    @property
    def chosen(self) -> frozenset[Permission]:
        return known(self.data or [])


def chips(
    actor: Actor, chosen: Iterable[Permission], *, for_app: bool = False
) -> tuple[Chip, ...]:
    """Every permission, in order; dashed are those that ``actor`` cannot give, or no app hold."""
    held = frozenset(chosen)
    return tuple(
        Chip(one, one in held, _why_not(actor, one, for_app=for_app))
        for one in in_order(ALL_PERMISSIONS)
    )


def _why_not(actor: Actor, permission: Permission, *, for_app: bool) -> str:
    if for_app and grantable_problem((permission,)) is not None:
        return "no app may hold it"
    return "" if actor.holds(permission) else "you do not hold it yourself"
