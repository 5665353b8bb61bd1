"""The address of another instance's API, as an argument or an option."""

from __future__ import annotations

from typing import Any

import click
from typing_extensions import override

from app.domain.api_addresses import is_overheard, read_api_address


class ApiAddress(click.ParamType[str]):
    """The address of an API, completed by its path where only the host was typed."""

    name = "url"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            url = read_api_address(value)
        except ValueError as error:
            self.fail(f"{value[:100]!r} {error}", param, ctx)
        if is_overheard(url):
            click.echo(f"Warning: {url} is not encrypted; others can read your token.", err=True)
        return url
