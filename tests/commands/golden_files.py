"""What commands show, compared with what was agreed on; ``golden`` holds that, a folder a group.

To agree anew: remove the files that are out of date, run the tests, read what was written.
"""

import re
from pathlib import Path

import pytest
from click.testing import Result

GOLDEN = Path(__file__).parent / "golden"
FORMS = ("", "--short", "--json")
_ALIKE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00)?"), "TIME"),
    (re.compile(r"\b\d{4}_[a-z_]+\b"), "REVISION"),
    (re.compile(r"(?<![\w-])[\w-]{43}(?![\w-])"), "KEY"),
)
"""What is different each time, or with each migration."""


def outcome(result: Result) -> str:
    """What a command showed, its messages (``!``) and its exit code (``=``).

    Without what is different each time.
    """
    messages = "".join(f"! {line}\n" for line in result.stderr.splitlines())
    return timeless(f"{result.stdout}{messages}= {int(result.exit_code)}\n")


def timeless(text: str) -> str:
    for pattern, name in _ALIKE:
        text = pattern.sub(name, text)
    return text


def agreed(file: Path, message: str) -> str:
    """What was agreed on; what nobody has looked at yet is written down and fails the test."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(message)
        pytest.fail(f"{file.name} is new: read it, and keep it if it is right", pytrace=False)
    return file.read_text()
