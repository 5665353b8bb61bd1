"""Lists whose state is their address: filters, sorting and pages stand in the query."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import request, url_for


@dataclass(frozen=True, slots=True)
class Turns:
    """The addresses of the neighbouring pages, empty where there is none."""

    newer: str = ""
    older: str = ""
    newer_label: str = "Newer"
    older_label: str = "Older"


def told(*names: str) -> dict[str, str]:
    """What the address says under ``names``, without what it leaves empty."""
    return {name: value for name in names if (value := request.args.get(name, "").strip())}


def here_with(**changes: str | None) -> str:
    """The address of this page with other values in its query; ``None`` takes one away."""
    values = request.args.to_dict()
    for name, value in changes.items():
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    return url_for(request.endpoint or "", **{**(request.view_args or {}), **values})


def turns(
    *,
    before: str | None,
    after: str | None,
    newer_label: str = "Newer",
    older_label: str = "Older",
) -> Turns:
    """Links by cursors: ``before`` the first row shown, ``after`` the last; ``None`` at an end."""
    return Turns(
        here_with(before=before, after=None) if before else "",
        here_with(after=after, before=None) if after else "",
        newer_label,
        older_label,
    )


def tags(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """What narrows the list, in words, each with the address without it."""
    chosen = told(*names)
    return [
        (f"{names[name]}: {value}", here_with(**{name: None, "after": None, "before": None}))
        for name, value in chosen.items()
    ]
