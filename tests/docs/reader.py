"""A reader who types the commands of a page and fills in what it leaves open with ``…``."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from tests.docs.blocks import Block
from tests.servers.sandbox import PATIENCE

SHOP = "localhost:8000"
"""Where pages say that the shop is; the reader asks the server of the test instead."""

_APP_TOKEN = ("appToken", "authToken")
_TO_FILL = re.compile(r"^(\w+)=…$", re.MULTILINE)
_SET = re.compile(r"^(\w+)=['\"]?([^'\"\s…]+)['\"]?$", re.MULTILINE)
_JSON_BEGINS = re.compile(r"[{\[]")


@dataclass(slots=True)
class Reader:
    """A shell session on one page."""

    shell: "Shell"
    shop: str
    """Host and port of the running server."""

    sign_ins: dict[str, str]
    """Secrets of the demo people by email, and the demo app's token by its name."""

    known: dict[str, str] = field(default_factory=dict)
    printed: list[Any] = field(default_factory=list)
    """The JSON that earlier blocks printed, the newest last."""

    def type_in(self, block: Block) -> None:
        """Run a block; it fails if a command fails or an error that isn't announced is printed."""
        self.known |= dict(_SET.findall(block.text))
        filled = _TO_FILL.sub(
            lambda found: f"{found[1]}={quote(self._value(found[1]))}", block.text
        )
        output = self.shell.run(filled.replace(SHOP, self.shop))
        texts = list(json_texts(output))
        for expected in block.prints:
            assert expected in output, f"{block.place} doesn't print {expected!r}:\n{output}"
        if not block.prints:
            assert not any(map(_has_errors, texts)), f"{block.place}:\n{output}"
        self.printed += texts

    def _value(self, name: str) -> str:
        """Return what a reader would enter for ``NAME=…``; CONTRIBUTING has the rules."""
        words = name.lower().split("_")
        if words[-1] == "password":
            person = self.known.get("_".join([*words[:-1], "email"]).upper())
            return self.sign_ins[person or f"{words[0]}@example.com"]
        for key in _APP_TOKEN if name == "APP_TOKEN" else _keys(words):
            found = [value for text in self.printed for value in _values(text, key)]
            if found:
                return found[-1]
        if name == "APP_TOKEN":
            return self.sign_ins["Demo warehouse"]
        raise LookupError(f"no earlier block printed a value for {name}")


def _keys(words: list[str]) -> Iterator[str]:
    """Yield the keys that a value can be printed under: ``refreshToken``, ``token``."""
    for first in range(len(words)):
        yield words[first] + "".join(word.title() for word in words[first + 1 :])


def _values(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        found = value.get(key)
        if isinstance(found, str):
            yield found
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner, key)


def _has_errors(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_errors, value))
    return isinstance(value, dict) and (
        bool(value.get("errors") or value.get("accountErrors"))
        or any(map(_has_errors, value.values()))
    )


def json_texts(output: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in ``output``, whatever stands between them."""
    decoder, place = json.JSONDecoder(), 0
    while begin := _JSON_BEGINS.search(output, place):
        try:
            value, place = decoder.raw_decode(output, begin.start())
        except json.JSONDecodeError:
            place = begin.end()
        else:
            yield value


@dataclass(slots=True)
class Shell:
    """One ``sh -eu`` in ``folder``, in which blocks are run one after the other."""

    folder: Path
    process: subprocess.Popen[str]
    count: int = 0

    def run(self, text: str) -> str:
        """Run ``text`` and return what it prints; it fails if a command does."""
        self.count += 1
        file = self.folder / f".block-{self.count}"
        file.write_text(text)
        assert self.process.stdin
        assert self.process.stdout
        typed = quote(str(file))
        self.process.stdin.write(f". {typed} </dev/null >{typed}.out 2>{typed}.err; echo\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        done = ready and self.process.stdout.readline()
        output, errors = (
            file.with_name(f"{file.name}.{end}").read_text() for end in ("out", "err")
        )
        problem = "failed" if ready else "hangs"
        assert done, f"this block {problem}:\n{text}\nIt printed:\n{output}{errors}"
        return output


@contextmanager
def shell(folder: Path, environment: dict[str, str]) -> Iterator[Shell]:
    """Start a session; at its end, what runs in its background has to end too."""
    with subprocess.Popen(
        [shutil.which("sh") or "/bin/sh", "-eu"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield Shell(folder, process)
        finally:
            _end_session(process)


def _end_session(process: subprocess.Popen[str]) -> None:
    """End the shell and its background jobs, which are in its group."""
    os.killpg(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(ProcessLookupError):  # none is left
        while True:
            process.poll()
            os.killpg(process.pid, 0)
            assert time.monotonic() < deadline, "a background job of the page does not end"
            time.sleep(0.02)
