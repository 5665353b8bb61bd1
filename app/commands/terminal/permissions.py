"""Permissions as words on the command line."""

from difflib import get_close_matches

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from app.domain.authorization.permissions import Permission

_NAMES = tuple(permission.value for permission in Permission)


class PermissionType(click.ParamType[Permission]):
    """The name of a permission, in any case: ``manage-orders`` is ``MANAGE_ORDERS``."""

    name = "name"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Permission:
        text = str(value).upper().replace("-", "_")
        if text in _NAMES:
            return Permission(text)
        suggestions = get_close_matches(text, _NAMES)
        hint = (
            f"Did you mean {' or '.join(suggestions)}?"
            if suggestions
            else f"Available permissions: {', '.join(_NAMES)}."
        )
        raise click.BadParameter(f"Unknown permission {value!r}. {hint}", ctx, param)

    @override
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        prefix = incomplete.upper().replace("-", "_")
        return [CompletionItem(name) for name in _NAMES if name.startswith(prefix)]


permission_option = click.option(
    "--permission",
    "permissions",
    type=PermissionType(),
    multiple=True,
    help="A permission to grant, such as MANAGE_ORDERS. Repeatable.",
)

no_permission_option = click.option(
    "--no-permission",
    "withdrawn",
    type=PermissionType(),
    multiple=True,
    help="A direct permission to remove. Those of groups stay. Repeatable.",
)
