"""The options by which a long list is shown a page at a time."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from app.domain.values.pages import MAX_PAGE_SIZE

Function = TypeVar("Function", bound=Callable[..., Any])


def page_options(function: Function) -> Function:
    """``--limit`` and ``--after``, as the arguments ``limit`` and ``after``."""
    limit = click.option(
        "--limit",
        type=click.IntRange(1, MAX_PAGE_SIZE),
        default=MAX_PAGE_SIZE,
        show_default=True,
        help="Maximum number of results.",
    )
    after = click.option(
        "--after",
        default="",
        help="Continue after this cursor, printed at the end of the previous page.",
    )
    return limit(after(function))
