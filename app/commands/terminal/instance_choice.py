"""Addresses of installations: this one, and the one that ``--instance`` or an argument names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
from typing_extensions import override

from app.domain.urls.web_urls import is_unencrypted, parse_api_url


@dataclass(slots=True)
class InstanceChoice:
    """What the options say; an empty ``url`` is this installation."""

    url: str = ""
    token_file: str = ""


def choice_of(context: click.Context) -> InstanceChoice:
    """Return the choice of the running command, also while the shell completes it."""
    choice: InstanceChoice = context.meta.setdefault(__name__, InstanceChoice())
    return choice


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
