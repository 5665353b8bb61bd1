"""The address of another instance's API, as an argument or an option."""

from __future__ import annotations

from typing import Any

import click
from typing_extensions import override

from app.domain.urls.web_urls import is_unencrypted, parse_api_url


class ApiAddress(click.ParamType[str]):
    """The address of an API, completed by its path where only the host was typed."""

    name = "url"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            url = parse_api_url(value)
        except ValueError as error:
            # These parts can hold a password or a token, which must not be logged.
            display = "It" if any(character in value for character in "@?#") else repr(value[:100])
            self.fail(f"{display} {error}", param, ctx)
        if is_unencrypted(url):
            click.echo(f"Warning: {url} is not encrypted; others can read your token.", err=True)
        return url
