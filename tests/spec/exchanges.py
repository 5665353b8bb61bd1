"""The recorded exchanges, read from ``recordings/exchanges.jsonl``."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "recordings" / "exchanges.jsonl"
_PLACEHOLDER = re.compile(r"<([A-Z][A-Za-z0-9_: -]*)>")

PAGE = "(an HTML page)"
"""The recordings' placeholder for a page."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what was answered; ``tokens`` tells what was in the tokens of the answer.

    Placeholders such as ``<ACCESS:staff>`` stand for credentials (``fill``).
    """

    group: str
    name: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: object
    status: int
    answer: object
    tokens: Mapping[str, Mapping[str, Mapping[str, object]]]

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


@cache
def recorded() -> Mapping[str, Exchange]:
    """Return every exchange by ``group/name``, in the order of the file."""
    with _FILE.open() as lines:
        exchanges = [_exchange(json.loads(line)) for line in lines]
    by_id = {exchange.id: exchange for exchange in exchanges}
    assert len(by_id) == len(exchanges), "two exchanges have one name"
    return by_id


def fill(value: object, meaning: Callable[[str], str]) -> object:
    """Return ``value`` with every placeholder replaced, at any depth."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: meaning(found[1]), value)
    if isinstance(value, list):
        return [fill(item, meaning) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, meaning) for key, item in value.items()}
    return value


def _exchange(line: dict[str, object]) -> Exchange:
    request = line["request"]
    assert isinstance(request, dict)
    tokens = line.get("tokens", {})
    status = line["status"]
    assert isinstance(tokens, dict)
    assert isinstance(status, int)
    return Exchange(
        group=str(line["group"]),
        name=str(line["name"]),
        method=request["method"],
        path=request["path"],
        headers=request["headers"],
        body=request["body"],
        status=status,
        answer=line["answer"],
        tokens=tokens,
    )
