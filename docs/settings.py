"""The page of all settings, from ``.env.example``, which is their only description."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.composition.settings import load_settings
from docs.parts import table

SOURCE = Path(__file__).parents[1] / ".env.example"
_SUBJECT = re.compile(r"# --- (.+?) -+")
_ENTRY = re.compile(r"#(?P<name>[A-Z][A-Z0-9_]*)=(?P<default>.*)")
_URL = re.compile(r"(?<![\w`(])[a-z]+://[^\s,;)]*[\w/]")
_NAME = re.compile(r"(?<![\w`])([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?:=\S*\w)?)(?![\w`])")
_LINKS = {
    "docs/guides/forward-authentication.md": (
        "[Forward authentication](../guides/forward-authentication.md)"
    ),
    "docs/guides/federation.md": "[Federated graph](../guides/federation.md)",
    "docs/reference/limits.md": "[Rate limits](limits.md)",
    "docs/operations/backup.md": "[Back up](../operations/backup.md#change-secret_key)",
    "docs/operations/sizing.md": "[Sizing](../operations/sizing.md#a-read-replica)",
    "docs/operations/logs.md": "[Logs](../operations/logs.md)",
}
_PAGE = """\
# Settings

Look up every setting of an installation: its name, its default and what it does. Settings are
environment variables, or lines of a file `.env` next to `wsgi.py`; `.env.example` is a file to
start from. The environment takes precedence. A setting that can't be used stops the start, with a
message that names everything that is wrong. `flask doctor` names the files that were read and
checks the installation.

Printed from `.env.example`; `make docs` regenerates it.

"""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Settings that are explained together, with their text."""

    subject: str
    text: str
    settings: tuple[tuple[str, str], ...]


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield the paragraphs of ``.env.example`` that explain settings."""
    subject = ""
    for part in text.split("\n\n"):
        lines = part.strip().splitlines()
        for line in lines:
            found = _SUBJECT.fullmatch(line)
            subject = found[1] if found else subject
        entries = [found for line in lines if (found := _ENTRY.fullmatch(line))]
        words = [line.removeprefix("#").strip() for line in lines if line.startswith("# ")]
        if entries:
            settings = tuple((found["name"], found["default"]) for found in entries)
            yield Paragraph(subject, " ".join(words), settings)


def printed_settings() -> str:
    """Every setting, grouped by subject."""
    found = list(paragraphs(SOURCE.read_text()))
    subjects = dict.fromkeys(paragraph.subject for paragraph in found)
    return _PAGE + "\n".join(
        f"## {subject[0].upper()}{subject[1:]}\n\n"
        + table(
            ("setting", "default", "meaning"),
            (_row(one) for one in found if one.subject == subject),
        )
        for subject in subjects
    )


def _row(paragraph: Paragraph) -> tuple[str, str, str]:
    names = "<br>".join(f"`{name}`" for name, _ in paragraph.settings)
    defaults, examples = [], []
    for name, value in paragraph.settings:
        is_default = _is_default(name, value)
        defaults.append(f"`{value}`" if value and is_default else "(empty)")
        if not is_default:
            examples.append(f"`{name}={value}`")
    example = f" Example: {', '.join(examples)}" if examples else ""
    return names, "<br>".join(defaults), f"{_formatted(paragraph.text)}{example}"


def _is_default(name: str, value: str) -> bool:
    default = getattr(load_settings({}), name.lower())
    # A text that is set by default is written for readers: a path is relative to the project.
    return load_settings({name: value}) == load_settings({}) or (
        isinstance(default, str) and default != ""
    )


def _formatted(text: str) -> str:
    """Put names of settings and URLs into code, outside of what is code already."""
    parts = text.replace("|", "\\|").split("`")
    parts[::2] = [_NAME.sub(r"`\1`", _URL.sub(r"`\g<0>`", part)) for part in parts[::2]]
    formatted = "`".join(parts)
    for path, link in _LINKS.items():
        formatted = formatted.replace(path, link)
    return formatted
